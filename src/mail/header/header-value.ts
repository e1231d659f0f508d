import { isAscii, isUtf8 } from 'node:buffer'
import { decodeText, decodeWestern, isWestern } from '../decode/charset.ts'

/** A header field as it is in the message. */
export interface HeaderField {
  /** As it is written; '' for a line that is not a field. */
  name: string
  /** Its lines without their ends. All but the first begin with a space or a tab. */
  lines: Buffer[]
}

/** How far into the body the charset of its first text is looked for, in bytes. */
const MAX_SEARCHED = 16 * 1024
const CHARSET = /\bcharset[ \t]{0,9}=[ \t]{0,9}["']?([\w.:+-]{1,40})/i

/**
 * Returns a function that decodes the values of these fields: raw 8-bit and ISO-2022-JP text is converted, encoded words
 * in other charsets than UTF-8 are re-encoded, and those that divide a character are joined. The field is decoded as most
 * signatures see it: unfolded, with single spaces (RFC 6376 3.4.2). Anyone could change where it is folded.
 */
export function valueDecoder(fields: readonly HeaderField[], body: Uint8Array) {
  let declared: string | undefined
  const charset = () => (declared ??= charsetOf(fields, body))
  return ({ name, lines }: HeaderField): string => {
    const line = lines.length === 1 ? lines[0]! : Buffer.concat(lines)
    const value = name === '' ? line : line.subarray(line.indexOf(COLON) + 1)
    const written = value.toString('latin1')
    const spaced = CONTENT.test(name) ? written : written.replace(/[ \t]+/g, ' ')
    const isPlain = isAscii(value) && !value.includes(ESCAPE)
    const text = isPlain
      ? spaced
      : decodeBytes(Buffer.from(spaced, 'latin1'), charset, name.toLowerCase() === 'subject')
    return (TO_CONVERT.test(text) ? withReadableWords(text) : text).trim()
  }
}

const COLON = 0x3a
/** Fields whose parameters must be the same as in the body, space by space. */
const CONTENT = /^content-/i

/** The charset that Content-Type declares, or that the first part of a multipart does which declares one. */
function charsetOf(fields: readonly HeaderField[], body: Uint8Array): string {
  const field = fields.find(({ name }) => name.toLowerCase() === 'content-type')
  const type = Buffer.concat(field?.lines ?? []).toString('latin1')
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, MAX_SEARCHED))
  const isMultipart = /^[^:]*:[ \t]*multipart\//i.test(type)
  return (CHARSET.exec(type) ?? (isMultipart ? CHARSET.exec(start.toString('latin1')) : null))?.[1] ?? ''
}

/** An encoded word in another charset than UTF-8, or two words in a row. */
const TO_CONVERT = /=\?(?!utf-8\?)[^?\s]{1,60}\?[bq]\?|\?=\s+=\?/i
const ESCAPE = 0x1b

/** Charsets in which ASCII characters never are a part of others, so that addresses stay what they are. */
const SINGLE_BYTE = /^(?:koi8|(?:windows|cp)-?(?:125\d|874)|iso-?8859-?\d|x-mac|(?:cp|ibm)-?8\d\d|tis)/i

/**
 * Decodes a field. 8-bit text in it is most likely in the charset of the body, though no standard says so.
 */
function decodeBytes(line: Buffer, charset: () => string, isSubject: boolean): string {
  if (line.includes(ESCAPE)) return new TextDecoder('iso-2022-jp').decode(line)
  if (isUtf8(line)) return line.toString('utf8')
  const isUsable = isSubject || (SINGLE_BYTE.test(charset()) && !isWestern(charset()))
  return isUsable ? decodeText(line, charset()) : decodeWestern(line)
}

const ENCODED_WORD = /=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bq])\?([^?\r\n]*)\?=/gi

/** Adjacent encoded words in one charset. */
interface Run {
  charset: string
  start: number
  end: number
  words: Buffer[]
}

/** Re-encodes runs of encoded words as one word in UTF-8, except single words that are in UTF-8 already. */
function withReadableWords(header: string): string {
  const pieces: string[] = []
  let at = 0
  for (const { charset, start, end, words } of runsIn(header)) {
    if (words.length === 1 && charset === 'utf-8') continue
    const text = decodeWords(words, charset)
    pieces.push(header.slice(at, start), `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`)
    at = end
  }
  return pieces.join('') + header.slice(at)
}

function runsIn(header: string): Run[] {
  const runs: Run[] = []
  for (const { 0: word, 1: label = '', 2: encoding = '', 3: text = '', index } of header.matchAll(
    ENCODED_WORD,
  )) {
    const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : fromQ(text)
    const charset = label.toLowerCase()
    const last = runs.at(-1)
    const isAdjacent = last?.charset === charset && header.slice(last.end, index).trim() === ''
    if (last && isAdjacent) {
      last.words.push(bytes)
      last.end = index + word.length
    } else runs.push({ charset, start: index, end: index + word.length, words: [bytes] })
  }
  return runs
}

/** A character may be divided over two words, though RFC 2047 5 forbids it. */
function decodeWords(words: readonly Buffer[], charset: string): string {
  const joined = decodeText(Buffer.concat(words), charset)
  return joined.includes('\ufffd') ? words.map((word) => decodeText(word, charset)).join('') : joined
}

const fromQ = (text: string) =>
  Buffer.from(
    text
      .replace(/_/g, ' ')
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
