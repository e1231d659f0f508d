import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'

/** A header field of the raw message, unfolded but not decoded. */
export interface RawHeader {
  name: string
  value: string
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
// The same limit as postal-mime's. Exchange and mailing lists stay under 400 lines.
const MAX_SCANNED = 2 * 1024 * 1024
const MAX_FIELDS = 20_000
// Maximum length of a name that is examined; real ones stay under 60 characters.
const MAX_NAME = 1_000
const USUAL =
  /^(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|content-type|sender|reply-to)[ \t]*:/i

/**
 * Returns the position of the body: after the first empty line. If there is none, the body begins at the
 * first line that cannot be a header line. A message that begins with such a line and has no common field has
 * no header at all, so that text sent without a header is not lost.
 */
export function headerLength(raw: Uint8Array): number {
  const startsWithoutHeader = !isHeaderLine(raw, 0, lineEnd(raw, 0))
  let bodyStart = raw.length
  let hasUsualField = false
  for (let start = 0; start < raw.length; ) {
    const end = lineEnd(raw, start)
    if (isEmptyLine(raw, start, end)) return startsWithoutHeader && !hasUsualField && start > 0 ? 0 : end
    if (bodyStart === raw.length && !isHeaderLine(raw, start, end)) bodyStart = start
    if (startsWithoutHeader && !hasUsualField && start < MAX_SCANNED)
      hasUsualField = USUAL.test(textOf(raw, start, end))
    start = end
  }
  return bodyStart
}

/** Whether no empty line separates the body from the header. */
export function lacksSeparator(raw: Uint8Array): boolean {
  const end = headerLength(raw)
  return end < raw.length && (end === 0 || !isEmptyLine(raw, raw.lastIndexOf(LF, end - 2) + 1, end))
}

/** The position after the line feed that ends the line, or the end of the message. */
const lineEnd = (raw: Uint8Array, start: number): number => {
  const feed = raw.indexOf(LF, start)
  return feed < 0 ? raw.length : feed + 1
}

/** Whether the line consists of carriage returns and a line feed only. */
const isEmptyLine = (raw: Uint8Array, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) if (raw[i] !== LF && raw[i] !== CR) return false
  return raw[end - 1] === LF
}

/**
 * Whether the line is a field (RFC 5322 2.2: a name of printable ASCII, a colon), a continuation line, or the
 * `From ` line of an mbox.
 */
function isHeaderLine(raw: Uint8Array, start: number, end: number): boolean {
  let at = raw[start] === 0xef && raw[start + 1] === 0xbb && raw[start + 2] === 0xbf ? start + 3 : start
  if (isBlank(raw[at])) return true
  const name = at
  const limit = Math.min(end, start + MAX_NAME)
  while (at < limit && raw[at]! > 0x20 && raw[at]! < 0x7f && raw[at] !== COLON) at++
  const nameEnd = at
  while (at < limit && isBlank(raw[at])) at++
  if (at < limit && raw[at] === COLON) return nameEnd > name
  return raw[nameEnd] === 0x20 && /^>?From$/.test(textOf(raw, name, nameEnd))
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

const textOf = (raw: Uint8Array, start: number, end: number): string =>
  Buffer.from(raw.buffer, raw.byteOffset + start, Math.min(end - start, MAX_NAME)).toString('latin1')

/**
 * Returns the header fields in order, read as tolerantly as by the most tolerant mail client: `From :` is a
 * From field, but text that no client takes for one is not. Examines the first 2 MiB.
 */
export const scanHeaders = (raw: Uint8Array): RawHeader[] =>
  scanFields(raw).map(({ name, value }) => ({ name: name.toLowerCase(), value }))

/** Returns the header fields like `scanHeaders`, with names as they are written. */
export function scanFields(raw: Uint8Array): RawHeader[] {
  const block = decodeHeader(raw.subarray(0, Math.min(headerLength(raw), MAX_SCANNED)))
  const fields: string[][] = []
  for (const line of block.split('\n').map(withoutReturns)) {
    if (/^[ \t]/.test(line) && fields.length > 0) fields.at(-1)!.push(line)
    else if (line !== '' && fields.length < MAX_FIELDS) fields.push([line])
  }
  return fields.map((lines) => lines.join('')).flatMap(toField)
}

// Maximum size of the fields that describe the body: a boundary, a charset, a file name in a few encoded
// words.
const MAX_CONTENT_FIELDS = 64 * 1024

/**
 * Returns the `Content-…` fields of the header and the empty line that ends it. Throws if the header exceeds
 * 2 MiB.
 */
export function contentFields(raw: Uint8Array): Buffer {
  const length = headerLength(raw)
  if (length > MAX_SCANNED) throw new Error(`the header is longer than ${MAX_SCANNED / 1024 / 1024} MiB`)
  const block = Buffer.from(raw.subarray(0, length)).toString('latin1')
  const kept: string[] = []
  let isContentField = false
  for (const line of block.split('\n').map(withoutReturns)) {
    if (!/^[ \t]/.test(line)) isContentField = /^content-/i.test(line)
    if (isContentField) kept.push(`${line}\r\n`)
  }
  return Buffer.from(`${kept.join('').slice(0, MAX_CONTENT_FIELDS)}\r\n`, 'latin1')
}

/** The line without trailing carriage returns. A regular expression would take quadratic time. */
function withoutReturns(line: string): string {
  let end = line.length
  while (end > 0 && line.charCodeAt(end - 1) === CR) end--
  return end === line.length ? line : line.slice(0, end)
}

/** All values of the fields with this name (in lower case). */
export const valuesOf = (headers: readonly RawHeader[], name: string): string[] =>
  headers.filter((header) => header.name === name).map((header) => header.value)

function toField(line: string): RawHeader[] {
  const colon = line.indexOf(':')
  if (colon < 1) return []
  return [{ name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() }]
}

/**
 * Decodes header bytes: UTF-8 (RFC 6532), or else windows-1252, which raw 8-bit headers almost always are.
 */
export const decodeHeader = (bytes: Uint8Array): string =>
  isUtf8(bytes) ? new TextDecoder('utf-8').decode(bytes) : decodeWestern(bytes)

/**
 * Decodes windows-1252 with iconv-lite: the TextDecoder of Node.js 20 decodes its curly quotes and dashes as
 * control characters.
 */
export const decodeWestern = (bytes: Uint8Array): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 'windows-1252')
