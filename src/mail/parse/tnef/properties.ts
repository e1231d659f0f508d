import { decodeText } from '../../decode/charset.ts'
import { ByteReader } from './stream.ts'

// The MAPI properties that are used ([MS-OXPROPS]).
export const PR_BODY = 0x1000
export const PR_RTF_COMPRESSED = 0x1009
export const PR_BODY_HTML = 0x1013
export const PR_DISPLAY_NAME = 0x3001
export const PR_ATTACH_DATA = 0x3701
export const PR_ATTACH_FILENAME = 0x3704
export const PR_ATTACH_LONG_FILENAME = 0x3707
export const PR_ATTACH_MIME_TAG = 0x370e

const STRING8 = 0x001e
const UNICODE = 0x001f
const OBJECT = 0x000d
const BINARY = 0x0102
const MULTIPLE = 0x1000
const NAMED = 0x8000
const SIZES: Record<number, number> = {
  ...{ 1: 4, 2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 10: 4, 11: 4, 20: 8, 64: 8, 72: 16 },
}
const MAX_VALUES = 100_000

/** Maps each property to its first value: decoded text, or binary data as is. Numbers are skipped. */
export type Properties = ReadonlyMap<number, string | Buffer>

/**
 * Reads the properties of a message or an attachment ([MS-OXTNEF] 2.1.3.4). Throws at an unknown type, after
 * which the next property cannot be located.
 */
export function readProperties(bytes: Uint8Array, charset: string): Properties {
  const reader = new ByteReader(bytes)
  const found = new Map<number, string | Buffer>()
  for (let count = Math.min(reader.long(), MAX_VALUES); count > 0; count--) {
    const type = reader.short()
    const id = reader.short()
    if (id >= NAMED) skipName(reader)
    const value = readValues(reader, type, charset)
    if (value !== null) found.set(id, value)
  }
  return found
}

/** A property outside the standard range has a property set GUID followed by a number or a name. */
function skipName(reader: ByteReader): void {
  reader.take(16)
  if (reader.long() === 0) reader.long()
  else reader.takePadded(reader.long())
}

function readValues(reader: ByteReader, type: number, charset: string): string | Buffer | null {
  const one = type & ~MULTIPLE
  const size = SIZES[one]
  if (size !== undefined) {
    for (let count = type & MULTIPLE ? Math.min(reader.long(), MAX_VALUES) : 1; count > 0; count--)
      reader.take(size)
    return null
  }
  if (![STRING8, UNICODE, OBJECT, BINARY].includes(one)) throw new RangeError(`unknown property type ${type}`)
  let first: Buffer | null = null
  for (let count = Math.min(reader.long(), MAX_VALUES); count > 0; count--) {
    const value = reader.takePadded(reader.long())
    first ??= value
  }
  if (first === null || one === BINARY || one === OBJECT) return first
  return withoutNuls(decodeText(first, one === UNICODE ? 'utf-16le' : charset))
}

/** Removes the terminating NULs of a string. A regular expression would take quadratic time. */
export function withoutNuls(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0) end--
  return text.slice(0, end)
}
