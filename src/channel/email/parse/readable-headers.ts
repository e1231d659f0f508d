import { isUtf8 } from 'node:buffer'
import { decodeText, isWestern } from './charset.ts'
import { decodeWestern, headerLength, lacksSeparator } from './headers.ts'

/**
 * Converts the header lines to a form that postal-mime can read: raw 8-bit and ISO-2022-JP lines become
 * UTF-8, encoded words in other charsets are re-encoded, those that divide a character are joined, and an
 * empty line before the body is added if missing. The body is unchanged. Returns the same buffer if there is
 * nothing to convert.
 */
export function readableHeaders(raw: Uint8Array): Uint8Array {
  return lacksSeparator(raw) ? separated(raw) : withReadableLines(raw)
}

function separated(raw: Uint8Array): Uint8Array {
  const end = headerLength(raw)
  return withReadableLines(Buffer.concat([raw.subarray(0, end), Buffer.from('\r\n'), raw.subarray(end)]))
}

/** An encoded word in another charset than UTF-8, or two words in a row. */
const TO_CONVERT = /=\?(?!utf-8\?)[^?\s]{1,60}\?[bq]\?|\?=\s{1,9}=\?/i

function withReadableLines(raw: Uint8Array): Uint8Array {
  const end = headerLength(raw)
  const block = Buffer.from(raw.buffer, raw.byteOffset, end)
  const source = block.toString('latin1')
  if (isUtf8(block) && !block.includes(ESCAPE) && !TO_CONVERT.test(source)) return raw
  const charset = isUtf8(block) ? '' : charsetNear(raw, end)
  let isSubject = false
  const lines = source.split('\n').map((line) => {
    if (!/^[ \t]/.test(line)) isSubject = /^subject[ \t]*:/i.test(line)
    return readableLine(Buffer.from(line, 'latin1'), charset, isSubject)
  })
  return Buffer.concat([Buffer.from(withReadableWords(lines.join('\n'))), raw.subarray(end)])
}

const ESCAPE = 0x1b
/** How far into the body the charset of its first text is looked for, in bytes. */
const MAX_SEARCHED = 16 * 1024

/** The charset that the message declares for its body, or for the first part that declares one. */
function charsetNear(raw: Uint8Array, headerEnd: number): string {
  const near = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, headerEnd + MAX_SEARCHED))
  return /\bcharset[ \t]{0,9}=[ \t]{0,9}["']?([\w.:+-]{1,40})/i.exec(near.toString('latin1'))?.[1] ?? ''
}

/** Charsets in which ASCII characters never are a part of others, so that addresses stay what they are. */
const SINGLE_BYTE = /^(?:koi8|(?:windows|cp)-?(?:125\d|874)|iso-?8859-?\d|x-mac|(?:cp|ibm)-?8\d\d|tis)/i

/** Converts a line. 8-bit text in it is most likely in the charset of the body, though no standard says so. */
function readableLine(line: Buffer, charset: string, isSubject: boolean): string {
  if (line.includes(ESCAPE)) return new TextDecoder('iso-2022-jp').decode(line)
  if (isUtf8(line)) return line.toString('utf8')
  const isUsable = isSubject || (SINGLE_BYTE.test(charset) && !isWestern(charset))
  return isUsable ? decodeText(line, charset) : decodeWestern(line)
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
