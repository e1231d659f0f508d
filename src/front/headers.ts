import type { IncomingMessage } from 'node:http'
import { HOP_BY_HOP } from '../core/http/hop-by-hop.ts'

/** What the front sets itself, whatever the client sends; `expect` has been answered. */
const OWN = ['authorization', 'content-length', 'cookie', 'expect', 'forwarded', 'x-real-ip', 'x-request-id']

/** Returns alternating names and values, without these headers and those that `Connection` names. */
const passed = (raw: readonly string[], dropped: readonly string[]): string[] => {
  const names = new Set(dropped)
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]!.toLowerCase() === 'connection')
      for (const name of raw[at + 1]!.split(',')) names.add(name.trim().toLowerCase())
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (!names.has(name) && !name.startsWith('x-forwarded-')) kept.push(raw[at]!, raw[at + 1]!)
  }
  return kept
}

/** What decides which headers an installation gets. */
export interface SentHeaders {
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  readonly body: Buffer | null
  /** The lowercase name of one that it does not get. */
  readonly withheld?: string
  /** Names and values that the front adds. */
  readonly added?: readonly string[]
}

/**
 * Returns the headers of a request for an installation. `client` is the address that it comes from; '' if that is not known, so that
 * the installation applies no limit by address.
 */
export const requestHeaders = (
  request: IncomingMessage,
  { authorization, cookie, body, withheld, added = [] }: SentHeaders,
  client: string,
): string[] => {
  const length = body === null ? request.headers['content-length'] : String(body.length)
  return [
    ...passed(request.rawHeaders, [...HOP_BY_HOP, ...OWN, ...(withheld ? [withheld] : [])]),
    ...added,
    ...(authorization === undefined ? [] : ['Authorization', authorization]),
    ...(cookie === undefined ? [] : ['Cookie', cookie]),
    ...(length === undefined ? [] : ['Content-Length', length]),
    ...['X-Forwarded-For', client || 'unknown'],
  ]
}

/** The cookies of sessions, of this service and of others on this host: see core/http/cookie.ts. */
const SESSION = /(?:^|;)\s*(?:__Host-)?ams-\d{1,5}=([^;]*)/g

/** Returns a Cookie header with no session but this one; undefined if nothing is left. */
export const withSession = (cookie: string, kept: string | null): string | undefined =>
  cookie
    .replace(SESSION, (whole: string, value: string) => (value.trim() === kept ? whole : ''))
    .replace(/^[;\s]+/, '') || undefined

/** Returns the headers of an answer by their lowercase names, with all values of each: there may be several cookies. */
export const responseHeaders = (raw: readonly string[]): Map<string, string[]> => {
  const kept = passed(raw, HOP_BY_HOP)
  const headers = new Map<string, string[]>()
  for (let at = 0; at < kept.length; at += 2) {
    const name = kept[at]!.toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), kept[at + 1]!])
  }
  return headers
}
