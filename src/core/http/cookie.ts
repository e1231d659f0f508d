import type { IncomingMessage } from 'node:http'
import { publicPlace } from './public-place.ts'

/**
 * `session`: the session's token. `browser`: what this browser asked for by email. `oauth`: identifies the browser
 * that began an authorization request. `company`: the sign-in at a company's provider that it has begun.
 */
export type CookieName = 'session' | 'browser' | 'oauth' | 'company'

/** An authorization request begins with a link on another site, and ends with one, which `Strict` cookies do not come along with. */
const COOKIES: Record<CookieName, { base: string; sameSite: 'Strict' | 'Lax' }> = {
  session: { base: 'ams', sameSite: 'Strict' },
  browser: { base: 'ams-browser', sameSite: 'Strict' },
  oauth: { base: 'ams-oauth', sameSite: 'Lax' },
  company: { base: 'ams-company', sameSite: 'Lax' },
}

/** Browsers accept `__Host-` only for this host, with Secure and the path / (RFC 6265bis, 4.1.3.2). */
const secureName = (name: CookieName, port: string) => `__Host-${COOKIES[name].base}-${port}`
const plainName = (name: CookieName, port: string) => `${COOKIES[name].base}-${port}`

/** Safari refuses Secure cookies on http://localhost (webcompat/web-bugs#142566); other browsers accept them. */
const isSafari = (request: IncomingMessage): boolean => {
  const agent = request.headers['user-agent'] ?? ''
  return /\bSafari\//.test(agent) && !/Chrom(?:e|ium)\//.test(agent)
}

/**
 * Returns the cookie's name in this browser. The plain one counts only where no other is accepted: a page on
 * another port of this host can set it.
 */
const nameFor = (publicUrl: string, request: IncomingMessage, name: CookieName) => {
  const { port, plainLoopback } = publicPlace(publicUrl)
  const plain = plainLoopback && isSafari(request)
  return { plain, cookie: plain ? plainName(name, port) : secureName(name, port) }
}

/**
 * Returns the value of one of the service's cookies. Null also when there are several of the same name: a page
 * on another port of this host may have added one.
 */
export const readCookie = (publicUrl: string, request: IncomingMessage, name: CookieName): string | null => {
  const { cookie } = nameFor(publicUrl, request, name)
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const [found, ...others] = pairs.filter((pair) => pair.startsWith(`${cookie}=`))
  return (others.length === 0 && found?.slice(cookie.length + 1)) || null
}

/** Returns the Set-Cookie header of one of the service's cookies; `value` null deletes it. */
export const writeCookie = (
  publicUrl: string,
  request: IncomingMessage,
  name: CookieName,
  { value, seconds }: { value: string | null; seconds: number },
): string => {
  const { plain, cookie } = nameFor(publicUrl, request, name)
  const age = `Max-Age=${value === null ? 0 : seconds}`
  const site = `SameSite=${COOKIES[name].sameSite}`
  return `${cookie}=${value ?? ''}; Path=/; ${age}; HttpOnly; ${site}${plain ? '' : '; Secure'}`
}
