import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'

/** A header field as found in the raw message: name in lower case, value unfolded, not decoded. */
export interface RawHeader {
  name: string
  value: string
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
// As much as postal-mime reads. Exchange and mailing lists stay under 400 lines.
const MAX_SCANNED = 2 * 1024 * 1024
const MAX_FIELDS = 20_000
// The longest name that is still looked at; real ones stay under 60 characters.
const MAX_NAME = 1_000
const USUAL =
  /^(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|content-type|sender|reply-to)[ \t]*:/i

/**
 * Where the body begins: after the first empty line. A message without one begins its body at the first line
 * that can be no header line, and one that begins with such a line and has no usual field has no header at
 * all: words that somebody sent without a thought of headers are not lost.
 */
export function headerLength(raw: Uint8Array): number {
  const bare = !isHeaderLine(raw, 0, lineEnd(raw, 0))
  let odd = raw.length
  let known = false
  for (let start = 0; start < raw.length; ) {
    const end = lineEnd(raw, start)
    if (isEmptyLine(raw, start, end)) return bare && !known && start > 0 ? 0 : end
    if (odd === raw.length && !isHeaderLine(raw, start, end)) odd = start
    if (bare && !known && start < MAX_SCANNED) known = USUAL.test(textOf(raw, start, end))
    start = end
  }
  return odd
}

/** Whether the message has a body that no empty line separates from its header. */
export function lacksSeparator(raw: Uint8Array): boolean {
  const end = headerLength(raw)
  return end < raw.length && (end === 0 || !isEmptyLine(raw, raw.lastIndexOf(LF, end - 2) + 1, end))
}

/** Behind the line feed that ends the line, or behind the message. */
const lineEnd = (raw: Uint8Array, start: number): number => {
  const feed = raw.indexOf(LF, start)
  return feed < 0 ? raw.length : feed + 1
}

/** Nothing but carriage returns and the line feed. */
const isEmptyLine = (raw: Uint8Array, start: number, end: number): boolean => {
  for (let i = start; i < end; i++) if (raw[i] !== LF && raw[i] !== CR) return false
  return raw[end - 1] === LF
}

/**
 * A field (RFC 5322 2.2: a name of printable ASCII, a colon), the continuation of one, or the `From ` line of
 * an mbox.
 */
function isHeaderLine(raw: Uint8Array, start: number, end: number): boolean {
  let at = raw[start] === 0xef && raw[start + 1] === 0xbb && raw[start + 2] === 0xbf ? start + 3 : start
  if (isBlank(raw[at])) return true
  const name = at
  const most = Math.min(end, start + MAX_NAME)
  while (at < most && raw[at]! > 0x20 && raw[at]! < 0x7f && raw[at] !== COLON) at++
  const behind = at
  while (at < most && isBlank(raw[at])) at++
  if (at < most && raw[at] === COLON) return behind > name
  return raw[behind] === 0x20 && /^>?From$/.test(textOf(raw, name, behind))
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

const textOf = (raw: Uint8Array, start: number, end: number): string =>
  Buffer.from(raw.buffer, raw.byteOffset + start, Math.min(end - start, MAX_NAME)).toString('latin1')

/**
 * The header fields in the order of the message, read as tolerantly as the most tolerant reader would: what
 * no reader could take for a `From` is not one here either, but `From :` is. Looks at the first 2 MiB.
 */
export function scanHeaders(raw: Uint8Array): RawHeader[] {
  const block = decodeHeader(raw.subarray(0, Math.min(headerLength(raw), MAX_SCANNED)))
  const fields: string[][] = []
  for (const line of block.split('\n').map(withoutReturns)) {
    if (/^[ \t]/.test(line) && fields.length > 0) fields.at(-1)!.push(line)
    else if (line !== '' && fields.length < MAX_FIELDS) fields.push([line])
  }
  return fields.map((lines) => lines.join('')).flatMap(toField)
}

// The fields that say how to read the body: a boundary, a charset, a file's name in a few encoded words.
const MAX_CONTENT_FIELDS = 64 * 1024

/**
 * The header of the message without all fields but those named `Content-…`, with the empty line that ends it.
 * Throws at more than 2 MiB.
 */
export function contentFields(raw: Uint8Array): Buffer {
  const length = headerLength(raw)
  if (length > MAX_SCANNED) throw new Error(`a header longer than ${MAX_SCANNED / 1024 / 1024} MiB`)
  const block = Buffer.from(raw.subarray(0, length)).toString('latin1')
  const kept: string[] = []
  let keeps = false
  for (const line of block.split('\n').map(withoutReturns)) {
    if (!/^[ \t]/.test(line)) keeps = /^content-/i.test(line)
    if (keeps) kept.push(`${line}\r\n`)
  }
  return Buffer.from(`${kept.join('').slice(0, MAX_CONTENT_FIELDS)}\r\n`, 'latin1')
}

/** The line without the carriage returns at its end; a pattern for them is quadratic. */
function withoutReturns(line: string): string {
  let end = line.length
  while (end > 0 && line.charCodeAt(end - 1) === CR) end--
  return end === line.length ? line : line.slice(0, end)
}

/** The values of every field of this (lower-case) name. */
export const valuesOf = (headers: readonly RawHeader[], name: string): string[] =>
  headers.filter((header) => header.name === name).map((header) => header.value)

function toField(line: string): RawHeader[] {
  const colon = line.indexOf(':')
  if (colon < 1) return []
  return [{ name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() }]
}

/** Header bytes as text: UTF-8 (RFC 6532), else what raw 8-bit headers almost always are, windows-1252. */
export const decodeHeader = (bytes: Uint8Array): string =>
  isUtf8(bytes) ? new TextDecoder('utf-8').decode(bytes) : decodeWestern(bytes)

/**
 * windows-1252 by iconv-lite: the TextDecoder of Node 20 reads its curly quotes and dashes as control
 * characters.
 */
export const decodeWestern = (bytes: Uint8Array): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 'windows-1252')
