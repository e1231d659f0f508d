import type { IncomingMessage } from 'node:http'
import { HOP_BY_HOP } from '../core/http/hop-by-hop.ts'
import type { Route } from './route.ts'

/** What the front says itself, whatever the client says; `expect` has been answered. */
const OWN = ['authorization', 'content-length', 'cookie', 'expect', 'forwarded', 'x-real-ip', 'x-request-id']

/** Returns names and values in turn, without these and without what `Connection` names. */
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

/**
 * Returns the headers of a request for an installation. `client` is the address that it comes from; '' if that is not known: an
 * installation does not count such a request by address.
 */
export const requestHeaders = (
  request: IncomingMessage,
  { authorization, cookie, body }: Pick<Route, 'authorization' | 'cookie' | 'body'>,
  client: string,
): string[] => {
  const length = body === null ? request.headers['content-length'] : String(body.length)
  return [
    ...passed(request.rawHeaders, [...HOP_BY_HOP, ...OWN]),
    ...(authorization === undefined ? [] : ['Authorization', authorization]),
    ...(cookie === undefined ? [] : ['Cookie', cookie]),
    ...(length === undefined ? [] : ['Content-Length', length]),
    ...['X-Forwarded-For', client || 'unknown'],
  ]
}

/** Returns the headers of an answer by their names in lowercase, each with all its values: there may be several cookies. */
export const responseHeaders = (raw: readonly string[]): Map<string, string[]> => {
  const kept = passed(raw, HOP_BY_HOP)
  const headers = new Map<string, string[]>()
  for (let at = 0; at < kept.length; at += 2) {
    const name = kept[at]!.toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), kept[at + 1]!])
  }
  return headers
}
