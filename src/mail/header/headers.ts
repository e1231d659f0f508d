import { type HeaderField, valueDecoder } from './header-value.ts'

/** A header field, with its value unfolded and decoded from its charset, but with encoded words. */
export interface RawHeader {
  /** '' for a line that is not a field. */
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

/** What was found of a message: many ask for its fields and for the position of its body. */
interface Known {
  headerLength?: number
  fields?: readonly HeaderField[]
  headers?: readonly RawHeader[]
}

/** Where it is noted at the bytes of the message, which nobody changes (docs/decisions.md#sets-of-requests). */
const KNOWN = Symbol('known')

const knownOf = (raw: Uint8Array & { [KNOWN]?: Known }): Known => {
  raw[KNOWN] ??= {}
  return raw[KNOWN]
}

/**
 * Returns the position of the body: after the first empty line. If there is none, the body begins at the
 * first line that cannot be a header line. A message that begins with such a line and has no common field has
 * no header at all, so that text sent without a header is not lost.
 */
export const headerLength = (raw: Uint8Array): number => {
  const known = knownOf(raw)
  known.headerLength ??= bodyStartOf(raw)
  return known.headerLength
}

function bodyStartOf(raw: Uint8Array): number {
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
  let at = start === 0 ? markLength(raw) : start
  if (isBlank(raw[at])) return true
  const name = at
  const limit = Math.min(end, start + MAX_NAME)
  while (at < limit && raw[at]! > 0x20 && raw[at]! < 0x7f && raw[at] !== COLON) at++
  const nameEnd = at
  while (at < limit && isBlank(raw[at])) at++
  if (at < limit && raw[at] === COLON) return nameEnd > name
  return raw[nameEnd] === 0x20 && /^>?From$/.test(textOf(raw, name, nameEnd))
}

/**
 * Whether the line consists of spaces and line ends only. In the header of a part or of an enclosed message it counts as
 * empty: most signatures do not cover the spaces at the end of a line of the body (RFC 6376 3.4.4), so that
 * someone who adds one would turn the text below into a part of the header.
 */
export const isBlankLine = (line: Uint8Array): boolean =>
  line.every((byte) => isBlank(byte) || byte === LF || byte === CR)

/** The enclosed message with an empty line in place of the first line of spaces in its header. */
export function endedAtBlankLine(raw: Uint8Array): Uint8Array {
  for (let start = 0, end = 0; start < raw.length; start = end) {
    end = lineEnd(raw, start)
    if (isEmptyLine(raw, start, end)) return raw
    if (isBlankLine(raw.subarray(start, end)))
      return Buffer.concat([raw.subarray(0, start), Buffer.from('\r\n'), raw.subarray(end)])
  }
  return raw
}

/** The length of the byte order mark of UTF-8, which some programs write at the beginning. */
const markLength = (raw: Uint8Array): number =>
  raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? 3 : 0

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09

const textOf = (raw: Uint8Array, start: number, end: number): string =>
  Buffer.from(raw.buffer, raw.byteOffset + start, Math.min(end - start, MAX_NAME)).toString('latin1')

/** A name consists of printable ASCII characters (RFC 5322 3.6.8). */
const FTEXT = /^[!-9;-~]+$/

/** The bytes before the colon and any blanks (RFC 5322 4.5.8); '' if they are not a name. */
function nameOf(line: Buffer): string {
  let end = line.indexOf(COLON)
  while (end > 0 && isBlank(line[end - 1])) end--
  const name = line.toString('latin1', 0, Math.max(0, end))
  return FTEXT.test(name) ? name : ''
}

/**
 * Returns the header fields in order, split and named by their bytes. All that reads or verifies a message uses this
 * list, so that no two of them see different fields. Lines end with a line feed; those that begin with a space or a tab
 * continue the field above. A byte order mark and the `From ` line of an mbox at the beginning are left out. Examines the first 2 MiB.
 */
export const fieldsOf = (raw: Uint8Array): readonly HeaderField[] => {
  const known = knownOf(raw)
  known.fields ??= splitFields(raw)
  return known.fields
}

function splitFields(raw: Uint8Array): HeaderField[] {
  const block = Buffer.from(raw.buffer, raw.byteOffset, Math.min(headerLength(raw), MAX_SCANNED))
  const fields: HeaderField[] = []
  for (let start = markLength(block); start < block.length && fields.length < MAX_FIELDS; ) {
    const end = lineEnd(block, start)
    const line = block.subarray(start, textEnd(block, start, end))
    const above = isBlank(line[0]) ? fields.at(-1) : undefined
    if (above) above.lines.push(line)
    else if (line.length > 0) fields.push({ name: nameOf(line), lines: [line] })
    start = end
  }
  const [first] = fields
  return first?.name === '' && /^>?From /.test(textOf(first.lines[0]!, 0, 6)) ? fields.slice(1) : fields
}

/** The end of the line without its carriage returns and its line feed. */
function textEnd(raw: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && (raw[at - 1] === LF || raw[at - 1] === CR)) at--
  return at
}

/** Returns the header fields with names as they are written. */
export const scanFields = (raw: Uint8Array): RawHeader[] => decoded(fieldsOf(raw), raw)

function decoded(fields: readonly HeaderField[], raw: Uint8Array): RawHeader[] {
  const decode = valueDecoder(fields, raw.subarray(headerLength(raw)))
  return fields.map((field) => ({ name: field.name, value: decode(field) }))
}

/** Returns the header fields with names in lower case. */
export const scanHeaders = (raw: Uint8Array): readonly RawHeader[] => {
  const known = knownOf(raw)
  known.headers ??= scanFields(raw).map(({ name, value }) => ({ name: name.toLowerCase(), value }))
  return known.headers
}

// Maximum size of the fields that describe the body: a boundary, a charset, a file name in a few encoded
// words.
const MAX_CONTENT_FIELDS = 64 * 1024
const DESCRIBES_BODY = /^content-(?:type|transfer-encoding|disposition)$/i

/**
 * Returns the fields of the header that determine how the body is read, and the empty line that ends it. Throws if the
 * header exceeds 2 MiB.
 */
export function contentFields(raw: Uint8Array): Buffer {
  if (headerLength(raw) > MAX_SCANNED)
    throw new Error(`the header is longer than ${MAX_SCANNED / 1024 / 1024} MiB`)
  const fields = fieldsOf(raw).filter(({ name }) => DESCRIBES_BODY.test(name))
  const kept = decoded(fields, raw).map(
    ({ name, value }) => `${name}: ${value.replaceAll(/[\r\n]/g, ' ')}\r\n`,
  )
  return Buffer.from(`${kept.join('').slice(0, MAX_CONTENT_FIELDS)}\r\n`)
}

/** All values of the fields with this name (in lower case). */
export const valuesOf = (headers: readonly RawHeader[], name: string): string[] =>
  headers.filter((header) => header.name === name).map((header) => header.value)
