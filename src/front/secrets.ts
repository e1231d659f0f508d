import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Key } from '../core/cell.ts'

/** Secrets in requests, which no installation gets that does not have them. */

/** The digest that installations store. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

export const tokenKey = (secret: string): Key => `token:${digestOf(secret)}`

/** Returns the bearer token of a request; what is none of these counts as one that nobody has. */
export const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  headers.authorization?.replace(/^bearer\s+/i, '').trim()

/** The cookies of sessions, with the port of PUBLIC_URL in their names: see auth/cookie.ts. */
const SESSION = /(?:^|;)\s*(?:__Host-)?ams-\d{1,5}=([^;]*)/g

export const sessionsOf = ({ headers }: IncomingMessage): string[] => [
  ...new Set([...(headers.cookie ?? '').matchAll(SESSION)].map(([, value]) => value!.trim())),
]

/** Returns a Cookie header with no sessions but these; undefined if nothing is left. */
export const withSessions = (cookie: string, kept: ReadonlySet<string>): string | undefined =>
  cookie
    .replace(SESSION, (whole: string, value: string) => (kept.has(value.trim()) ? whole : ''))
    .replace(/^[;\s]+/, '') || undefined

/** Tokens in links: to join, and to set up an address. */
const LINK = /^\/(?:join|setup)\/(a[is]t_[0-9A-Za-z]+)/

export const linkTokenOf = (path: string): string | undefined => LINK.exec(path)?.[1]
