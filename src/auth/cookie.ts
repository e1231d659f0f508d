import type { IncomingMessage } from 'node:http'
import { publicPlace } from './public-url.ts'

/** `session`: the session's token. `browser`: identifies the browser that asked for a link by email. */
export type CookieName = 'session' | 'browser'

const BASE: Record<CookieName, string> = { session: 'ams', browser: 'ams-browser' }

/** Browsers accept `__Host-` only for this host, with Secure and the path / (RFC 6265bis, 4.1.3.2). */
const secureName = (name: CookieName, port: string) => `__Host-${BASE[name]}-${port}`
const plainName = (name: CookieName, port: string) => `${BASE[name]}-${port}`

/** Safari refuses Secure cookies on http://localhost (webcompat/web-bugs#142566); other browsers accept them. */
const isSafari = (request: IncomingMessage): boolean => {
  const agent = request.headers['user-agent'] ?? ''
  return /\bSafari\//.test(agent) && !/Chrom(?:e|ium)\//.test(agent)
}

/**
 * Returns the value of one of the service's cookies. Null also when there are several of the same name: a page
 * on another port of this host may have added one.
 */
export const readCookie = (publicUrl: string, request: IncomingMessage, name: CookieName): string | null => {
  const header = request.headers.cookie
  if (header === undefined) return null
  const { port, plainLoopback } = publicPlace(publicUrl)
  const pairs = header.split(';').map((pair) => pair.trim())
  for (const wanted of [secureName(name, port), ...(plainLoopback ? [plainName(name, port)] : [])]) {
    const values = pairs.filter((pair) => pair.startsWith(`${wanted}=`))
    if (values.length > 1) return null
    if (values[0]) return values[0].slice(wanted.length + 1) || null
  }
  return null
}

/** Returns the Set-Cookie header of one of the service's cookies; `value` null deletes it. */
export const writeCookie = (
  publicUrl: string,
  request: IncomingMessage,
  name: CookieName,
  { value, seconds }: { value: string | null; seconds: number },
): string => {
  const { port, plainLoopback } = publicPlace(publicUrl)
  const plain = plainLoopback && isSafari(request)
  const cookie = plain ? plainName(name, port) : `${secureName(name, port)}`
  const age = `Max-Age=${value === null ? 0 : seconds}`
  return `${cookie}=${value ?? ''}; Path=/; ${age}; HttpOnly; SameSite=Strict${plain ? '' : '; Secure'}`
}
