/** An enhanced status code (RFC 3463), but not a part of an IP address or of a version number. */
const CODE = /(?<![\d.])[245]\.[0-7]\.\d{1,3}(?!\.?\d)/g

/** Codes that tell only the class of a failure: "other undefined status" (RFC 3463 3.1). */
const WITHOUT_DETAIL = /^\d\.0\.0$/

/** Returns the first status code in the text that tells more than its class, or else the first one, or ''. */
export function statusIn(text: string): string {
  const codes = text.match(CODE) ?? []
  return codes.find((code) => !WITHOUT_DETAIL.test(code)) ?? codes[0] ?? ''
}

/** Whether the code tells more than its class. */
export const hasDetail = (status: string): boolean => status !== '' && !WITHOUT_DETAIL.test(status)

/** The reply of a server (RFC 5321 4.2.1), at the start of the text or after the words that introduce one. */
const REPLY =
  /(?:^|\b(?:said|says|response|replied|reply|error|was|is|with|smtp)[:;]?) {0,3}["'(<[]?([245])\d\d(?=[\s-])/i

/** Returns the first digit of the server's reply code in the text, or ''. */
export const replyClass = (text: string): string => REPLY.exec(text)?.[1] ?? ''

const CODES_OF_LINES =
  /(?<![\d.])[245]\d\d[ -](?:#?[245]\.[0-7]\.\d{1,3}(?!\.?\d))?|#?(?<![\d.])[245]\.[0-7]\.\d{1,3}(?!\.?\d)/g
const ADDRESSES = /[\w.!#$%&'*+/=?^{|}~-]{1,64}@[\w.-]{1,255}/g
const LINKS = /\bhttps?:\/\/\S{1,2000}/gi
const HOSTS = /(?<![\w-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,10}\.[a-z]{2,24}\b/g

/**
 * Returns the words of a server's reply on one line: without the codes that begin each of its lines, and
 * without links, addresses and host names, which contain words that mean nothing (`spam.example.com`).
 */
export const bareWords = (text: string): string =>
  text
    .replace(CODES_OF_LINES, ' ')
    .replace(LINKS, ' ')
    .replace(ADDRESSES, '<>')
    .replace(HOSTS, ' ')
    .replace(/[’`´]/g, "'")
    .replace(/\s{1,1000}/g, ' ')
