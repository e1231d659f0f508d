import { createHash } from 'node:crypto'
import type { Key } from '../core/cell.ts'

/** Secrets in requests, which no installation gets that does not have them. */

/** The digest that installations store. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

export const tokenKey = (secret: string): Key => `token:${digestOf(secret)}`

/** The cookies of sessions, of this service and of others on this host: see core/http/cookie.ts. */
const SESSION = /(?:^|;)\s*(?:__Host-)?ams-\d{1,5}=([^;]*)/g

/** Returns a Cookie header with no session but this one; undefined if nothing is left. */
export const withSession = (cookie: string, kept: string | null): string | undefined =>
  cookie
    .replace(SESSION, (whole: string, value: string) => (value.trim() === kept ? whole : ''))
    .replace(/^[;\s]+/, '') || undefined

/** Tokens in links: to join, and to set up an address. */
const LINK = /^\/(?:join|setup)\/(a[is]t_[0-9A-Za-z]+)/

export const linkTokenOf = (path: string): string | undefined => LINK.exec(path)?.[1]
