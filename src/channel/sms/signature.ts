import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Computes Twilio's signature of a webhook: HMAC-SHA1, in base64, of the URL and the form's fields sorted by
 * name.
 */
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
 * Returns the URLs that Twilio may have signed. Twilio includes the port or leaves it out inconsistently, and
 * its own libraries accept either. The rest is exactly the requested URL.
 */
const spellings = (url: string): string[] => {
  const { protocol, port } = new URL(url)
  const [host = ''] = /^[a-z]+:\/\/(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*)/i.exec(url) ?? []
  const rest = url.slice(host.length).replace(/^:\d*/, '')
  return [url, host + rest, `${host}:${port || PORTS[protocol]}${rest}`]
}

interface SignedForm {
  url: string
  form: URLSearchParams
  signature: string
  fragment?: string
}

/**
 * Returns whether Twilio, which shares the token with us, signed this form for this URL, or for the URL with
 * the `fragment` of its settings.
 */
export const isSigned = (authToken: string, { url, form, signature, fragment = '' }: SignedForm): boolean => {
  const given = Buffer.from(signature)
  const expected = spellings(url).flatMap((each) => [each, each + fragment])
  // Compare all of them, so that the timing reveals nothing.
  const matches = expected
    .map((each) => Buffer.from(sign(authToken, each, form)))
    .map((e) => e.length === given.length && timingSafeEqual(e, given))
  return matches.includes(true)
}
