import { createHmac, timingSafeEqual } from 'node:crypto'

/** Twilio's signature of a webhook: HMAC-SHA1, in base64, of the URL and the form's fields sorted by name. */
export const sign = (authToken: string, url: string, form: URLSearchParams): string => {
  const fields = [...new Set(form.keys())]
    .sort()
    .map((name) => name + [...new Set(form.getAll(name))].sort().join(name))
  return createHmac('sha1', authToken)
    .update(url + fields.join(''))
    .digest('base64')
}

const PORTS: Record<string, string> = { 'https:': '443', 'http:': '80' }

/**
 * Twilio names the port in what it signs, or leaves it out, inconsistently: its own libraries take either.
 * The rest is to the letter as it was called.
 */
const spellings = (url: string): string[] => {
  const { protocol, port } = new URL(url)
  const [host = ''] = /^[a-z]+:\/\/(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*)/i.exec(url) ?? []
  const rest = url.slice(host.length).replace(/^:\d*/, '')
  return [url, host + rest, `${host}:${port || PORTS[protocol]}${rest}`]
}

/**
 * Whether Twilio, who shares the token with us, signed this form for this URL (or for `url` with a fragment
 * of its settings).
 */
export const isSigned = (
  authToken: string,
  url: string,
  form: URLSearchParams,
  signature: string,
  fragment = '',
): boolean => {
  const given = Buffer.from(signature)
  const expected = spellings(url).flatMap((each) => [each, each + fragment])
  // All of them, so that the time tells nothing.
  const matches = expected
    .map((each) => Buffer.from(sign(authToken, each, form)))
    .map((e) => e.length === given.length && timingSafeEqual(e, given))
  return matches.includes(true)
}
