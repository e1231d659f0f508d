import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'

/** A header field as found in the raw message: name in lower case, value unfolded, not decoded. */
export interface RawHeader {
  name: string
  value: string
}

const LF = 0x0a
const CR = 0x0d
// Beyond these a header is an attack, not a letter. Exchange and mailing lists stay under 400 lines.
const MAX_SCANNED = 256 * 1024
const MAX_FIELDS = 5_000

/** Where the body begins: after the first empty line, or at the end when there is none. */
export function headerLength(raw: Uint8Array): number {
  let empty = true
  for (let i = 0; i < raw.length; i++) {
    const byte = raw[i]
    if (byte === LF) {
      if (empty) return i + 1
      empty = true
    } else if (byte !== CR) empty = false
  }
  return raw.length
}

/**
 * The header fields in the order of the message, read as tolerantly as the most tolerant reader would: what no reader could take for a
 * `From` is not one here either, but `From :` is. Looks at the first 256 KiB.
 */
export function scanHeaders(raw: Uint8Array): RawHeader[] {
  const block = decodeHeader(raw.subarray(0, Math.min(headerLength(raw), MAX_SCANNED)))
  const fields: string[][] = []
  for (const line of block.split(/\r*\n/)) {
    if (/^[ \t]/.test(line) && fields.length > 0) fields.at(-1)!.push(line)
    else if (line !== '' && fields.length < MAX_FIELDS) fields.push([line])
  }
  return fields.map((lines) => lines.join('')).flatMap(toField)
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
export const decodeHeader = (bytes: Uint8Array): string => (isUtf8(bytes) ? new TextDecoder('utf-8').decode(bytes) : decodeWestern(bytes))

/** windows-1252 by iconv-lite: the TextDecoder of Node 20 reads its curly quotes and dashes as control characters. */
export const decodeWestern = (bytes: Uint8Array): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 'windows-1252')
