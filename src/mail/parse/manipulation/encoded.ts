import { isOfBase64 } from '../../../core/text/base64.ts'
import { rot13 } from '../../../core/text/rot13.ts'
import { instructionsIn } from './instructions.ts'

/** Text in base64 or hexadecimal, as a word of its own; in a link it is a token. */
const BASE64 = /(?<![\w+/=:.?&%-])[A-Za-z0-9+/_-]{24,4096}={0,2}(?![\w+/=])/g
const IN_LINES = /(?:^[A-Za-z0-9+/]{40,76}\r?\n){1,60}[A-Za-z0-9+/]{2,76}={0,2}$/gm
const HEX = /(?<![\w=:.?&%/-])(?:(?:0x|\\x)?[0-9a-f]{2}[ :,]?){20,2048}(?![\w])/gi
const PERCENT = /(?:%[0-9a-f]{2}){16,1024}/gi
const ESCAPES = /(?:\\u00[0-9a-f]{2}|\\x[0-9a-f]{2}|&#x?[0-9a-f]{2,4};){12,1024}/gi
const BINARY = /(?<![01])(?:[01]{8}[ ,]{0,2}){12,1024}(?![01])/g
const DECIMAL = /(?<!\d)(?:\d{2,3}[ ,]{1,2}){20,1024}/g
const LINKS = /\b(?:https?|mailto|cid|data):[^\s<>"]{1,4096}/gi

const MAX_TEXT = 200_000

const binaryOf = (text: string): Buffer =>
  Buffer.from((text.match(/[01]{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
const decimalOf = (text: string): Buffer =>
  Buffer.from((text.match(/\d+/g) ?? []).map(Number).filter((code) => code < 256))

/** The bytes that something in base64 is of, which may be in base64 themselves, or in UTF-16. */
const base64Of = (found: string): Buffer => {
  const bytes = Buffer.from(found.replace(/\s+/g, ''), 'base64')
  if (bytes.includes(0)) return Buffer.from(bytes.toString('utf16le'))
  const inner = bytes.toString('latin1')
  return /^[A-Za-z0-9+/_-]{24,}={0,2}$/.test(inner) ? Buffer.from(inner, 'base64') : bytes
}

/** Whether bytes are a text with words: letters and blanks, hardly anything else. */
const readable = (bytes: Buffer): string | null => {
  const text = bytes.toString()
  if (text.length < 12 || text.includes('\ufffd')) return null
  const plain = text.match(/[\p{L} ]/gu)?.length ?? 0
  const words = text.match(/\p{L}{2,}/gu)?.length ?? 0
  return plain >= text.length * 0.8 && words >= 3 && /\s/.test(text) ? text : null
}

/** Without blocks that are signed or encrypted: they contain nothing to read. */
const withoutArmour = (text: string): string =>
  text
    .split('-----BEGIN ')
    .map((part, index) => (index === 0 ? part : part.slice(Math.max(0, part.lastIndexOf('-----END ')))))
    .join(' ')

const hexOf = (text: string): Buffer => Buffer.from(text.replace(/0x|\\x|[^0-9a-f]/gi, ''), 'hex')
const escapesOf = (text: string): Buffer =>
  Buffer.from(
    text.replace(/\\(?:u00|x)([0-9a-f]{2})|&#x([0-9a-f]{2,4});|&#(\d{2,4});/gi, (_all, unit, hex, decimal) =>
      String.fromCharCode(decimal ? Number(decimal) : Number.parseInt(unit ?? hex, 16)),
    ),
  )

/** Whether a text has so many characters of a kind in a row. Looks at the last one of each place first: most are of other kinds. */
const hasRun = (text: string, length: number, isOf: (code: number) => boolean): boolean => {
  for (let end = length - 1; end < text.length; ) {
    let at = end
    while (at > end - length && isOf(text.charCodeAt(at))) at--
    if (at === end - length) return true
    end = at + length
  }
  return false
}

/** Digits, blanks and commas alone: numbers that may stand for characters. */
const isOfNumbers = (code: number): boolean => (code >= 48 && code <= 57) || code === 32 || code === 44

const ENCODED = /%[0-9a-f]{2}%|\\u00|\\x|&#|\b[0-9a-f]{2}[ :,][0-9a-f]{2}[ :,][0-9a-f]{2}[ :,]/i

/** Whether a text has a word that may be encoded. To look for one takes little time, and most texts have none. */
const mayEncode = (text: string): boolean =>
  hasRun(text, 24, isOfBase64) || hasRun(text, 40, isOfNumbers) || ENCODED.test(text)

/** Looked for first: the expression takes longer. */
const NAMES = ['ot13', 'OT13', 'ot-13', 'OT-13', 'aesar', 'ackward', 'ACKWARD', 'evers', 'EVERS', 'kwärts']
const NAMED = /\brot-?13\b|\bcaesar\b|\bbackwards?\b|\breversed?\b|\brückwärts\b/i

/** Orders in letters that are moved or in reverse, where a text says that it has some. */
const disordered = (text: string): string[] =>
  NAMES.some((name) => text.includes(name)) && NAMED.test(text)
    ? [rot13(text), [...text].reverse().join('')].filter((read) => instructionsIn(read).length > 0)
    : []

/** Returns what words of a text say that is encoded in it: a person would have to decode it to read it. */
export const encodedIn = (given: string): string[] => {
  const text = withoutArmour(given.slice(0, MAX_TEXT))
  const moved = disordered(text)
  if (moved.length > 0) return moved
  if (!mayEncode(text)) return []
  const bare = text.replace(LINKS, ' ')
  if (!mayEncode(bare)) return []
  const all = (pattern: RegExp, from: string, decode: (found: string) => Buffer) =>
    (from.match(pattern) ?? []).flatMap((found) => readable(decode(found)) ?? [])
  return [
    ...new Set([
      ...all(BASE64, bare, base64Of),
      ...all(IN_LINES, bare, base64Of),
      ...all(BINARY, bare, binaryOf),
      ...all(DECIMAL, bare, decimalOf),
      ...all(HEX, bare, hexOf),
      ...all(PERCENT, bare, (found) => Buffer.from(found.replaceAll('%', ''), 'hex')),
      ...all(ESCAPES, bare, escapesOf),
    ]),
  ]
}
