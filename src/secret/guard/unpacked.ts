import { isOfBase64 } from '../../core/text/base64.ts'

/** Shorter words in base64 have no value within another encoding. */
const MIN = 16
const BASE64 = /[A-Za-z0-9+/_-]{16,}/g

/** Whether a text has a word so long. To look for one takes less time than the expression. */
const hasLongWord = (text: string): boolean => {
  for (let at = MIN - 1; at < text.length; at += MIN) {
    if (!isOfBase64(text.charCodeAt(at))) continue
    let [start, end] = [at, at]
    while (start > 0 && isOfBase64(text.charCodeAt(start - 1))) start--
    while (isOfBase64(text.charCodeAt(end + 1))) end++
    if (end - start + 1 >= MIN) return true
    at = end
  }
  return false
}

/** A text in UTF-8 or UTF-16; null for bytes that are none. */
const textOf = (bytes: Buffer): string | null => {
  const text = bytes.includes(0) ? bytes.toString('utf16le') : bytes.toString()
  return /^[\t\r\n\x20-\x7e\u00a0-\ufffc]{8,}$/.test(text) ? text : null
}

/** Returns what a text has in base64 that is a text itself, such as a value that is encoded in another way, too. */
export const unpacked = (text: string): string[] =>
  hasLongWord(text)
    ? (text.match(BASE64) ?? []).flatMap((word) => textOf(Buffer.from(word, 'base64')) ?? [])
    : []
