import { isAscii, isUtf8 } from 'node:buffer'
import chardet from 'chardet'
import iconv from 'iconv-lite'

// Charsets that real mail uses but TextDecoder does not support.
const ICONV_ONLY = /^(?:x-)?(?:unicode-1-1-)?(utf-?7|(?:cp|ibm|oem)-?(?:437|737|775|85[0-8]|86[0-6]|869))$/i
// Labels that mail also uses for larger, compatible charsets, which TextDecoder would decode strictly.
const KOREAN = /^(?:ks_?c_?5601(?:-?1987)?|euc-?kr|korean)$/i
const CHINESE = /^(?:(?:cs)?gb_?2312(?:-?80)?|x?-?gbk|chinese|euc-?cn)$/i
const ISO_2022_KR = /^(?:cs)?iso-?2022-?kr$/i
const HZ = /^hz(?:-gb-?2312)?$/i
// Labels often found on mislabelled UTF-8. Text that really uses one of these charsets is practically never
// valid multi-byte UTF-8.
const WESTERN =
  /^(?:|us-ascii|ascii|ansi_x3\.4-1968|iso-?8859-?1|latin-?1|windows-?1252|cp-?1252|unknown-8bit|x-unknown|8bit|binary|default|none)$/i

// Labels of charsets that have no bytes above 127, with what 8-bit text under such a label is.
const SEVEN_BIT: readonly [RegExp, readonly string[]][] = [
  [/^(?:cs)?iso-?2022-?jp/i, ['utf-8', 'euc-jp', 'shift_jis']],
  [/^(?:cs)?iso-?2022-?kr/i, ['utf-8', 'euc-kr']],
  [/^(?:hz|iso-?2022-?cn)/i, ['utf-8', 'gb18030']],
  [/^(?:unicode-1-1-)?utf-?7$/i, ['utf-8']],
]
const WIDE = /utf-?(?:16|32)|ucs-?[24]|unicode/i
// Multi-byte charsets whose text can be valid UTF-8 by chance if it is short.
const EAST_ASIAN =
  /^(?:cs)?(?:x-?)?(?:gb|euc|big-?5|s(?:hift)?[-_]?jis|ks_?c|korean|chinese|cp9(?:32|36|49|50)|windows-?(?:31j|9))/i

/**
 * Decodes bytes. The label is trusted unless the bytes contradict it: valid multi-byte UTF-8 or a UTF-16 byte
 * order mark under another label, 8-bit text under a 7-bit label, or invalid UTF-8 under a UTF-8 label (then
 * the charset is detected, with windows-1252 as the fallback). For unknown labels the charset is detected in
 * the same way. Never throws.
 */
export function decodeText(bytes: Uint8Array, label: string | undefined): string {
  const charset = (label ?? '').trim().replace(/^["']|["']$/g, '')
  const refuted = isAscii(bytes) || WIDE.test(charset) ? null : decodeRefuted(bytes, charset)
  if (refuted !== null) return refuted
  const exotic = decodeExotic(bytes, charset)
  if (exotic !== null) return exotic
  const utf16 = utf16Of(bytes, charset)
  // A one-byte line feed appended after the last line is half a character.
  if (utf16 !== null)
    return new TextDecoder(utf16).decode(bytes.subarray(0, bytes.length - (bytes.length % 2)))
  if (
    WESTERN.test(charset) &&
    JAPANESE.some((shift) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(shift))
  )
    return new TextDecoder('iso-2022-jp').decode(bytes)
  if (isAscii(bytes) && !/2022|utf-?(?:16|32)|ucs-?[24]|unicode/i.test(charset))
    return Buffer.from(bytes).toString('latin1')
  if (WESTERN.test(charset)) return guess(bytes)
  if (/^utf-?8/i.test(charset)) return guess(bytes)
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return iconv.encodingExists(charset) ? iconv.decode(Buffer.from(bytes), charset) : guess(bytes)
  }
}

/**
 * Decodes text without a label: UTF-8, or else windows-1252, which raw 8-bit text almost always is.
 */
export const decodeUnlabelled = (bytes: Uint8Array): string =>
  isUtf8(bytes) ? new TextDecoder('utf-8').decode(bytes) : decodeWestern(bytes)

/**
 * Decodes windows-1252 with iconv-lite: the TextDecoder of Node.js 20 decodes its curly quotes and dashes as
 * control characters.
 */
export const decodeWestern = (bytes: Uint8Array): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 'windows-1252')

/** Whether a label is often found on mislabelled UTF-8. */
export const isWestern = (charset: string): boolean => WESTERN.test(charset)

/** Decodes 8-bit text whose label cannot be right, or returns null. */
function decodeRefuted(bytes: Uint8Array, charset: string): string | null {
  const likely = SEVEN_BIT.find(([label]) => label.test(charset))?.[1]
  if (likely !== undefined && !bytes.includes(ESCAPE)) return decodeStrictly(bytes, likely) ?? guess(bytes)
  if (!isUtf8(bytes)) return null
  const text = new TextDecoder('utf-8').decode(bytes)
  return EAST_ASIAN.test(charset) && !isSurelyUtf8(text) ? null : text
}

const ESCAPE = 0x1b
/** How ISO-2022-JP (RFC 1468) shifts to its characters of two bytes: no other text contains these. */
const JAPANESE = ['\x1b$B', '\x1b$@']

/** Decodes with the first of the charsets in which the bytes are valid; null if they are in none. */
function decodeStrictly(bytes: Uint8Array, charsets: readonly string[]): string | null {
  for (const charset of charsets) {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(bytes)
    } catch {}
  }
  return null
}

/**
 * Whether a text that could also be in an East Asian charset is in UTF-8: it contains characters of three
 * bytes, or only accented letters next to others, as in `café`.
 */
const isSurelyUtf8 = (text: string): boolean =>
  /[\u0800-\uffff]/.test(text) || !/(?<![a-z])[\u0080-\u07ff](?![a-z])/i.test(text)

/**
 * Detects the byte order of UTF-16: by the byte order mark, or, if the label leaves it open, by the positions
 * of zero bytes. Null if the bytes are not UTF-16.
 */
function utf16Of(bytes: Uint8Array, charset: string): 'utf-16le' | 'utf-16be' | null {
  const order = /^utf-?16([lb])e$/i.exec(charset)?.[1]?.toLowerCase()
  if (order !== undefined) return order === 'l' ? 'utf-16le' : 'utf-16be'
  const labelled = /^(?:utf-?16|ucs-?2|iso-10646-ucs-2|unicode)$/i.test(charset)
  if (!labelled && !WESTERN.test(charset) && !/^utf-?8/i.test(charset)) return null
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)
  if (mark === 0xfffe || mark === 0xfeff) return mark === 0xfffe ? 'utf-16le' : 'utf-16be'
  if (!labelled) return null
  const zeros = [0, 0]
  for (let i = 0; i < Math.min(bytes.length, 2_000); i++) if (bytes[i] === 0) zeros[i % 2]!++
  return zeros[0]! > zeros[1]! ? 'utf-16be' : 'utf-16le'
}

function guess(bytes: Uint8Array): string {
  if (isUtf8(bytes) || mostlyUtf8(bytes)) return new TextDecoder('utf-8').decode(bytes)
  const likely = mostlyAdjacent(bytes) ? chardet.detect(bytes.subarray(0, SAMPLE)) : null
  return likely !== null && iconv.encodingExists(likely)
    ? iconv.decode(Buffer.from(bytes), likely)
    : decodeWestern(bytes)
}

const SAMPLE = 16 * 1024

/**
 * Whether most non-ASCII bytes are adjacent to another one, as in Chinese or Russian. Accented letters in
 * western text stand alone.
 */
function mostlyAdjacent(bytes: Uint8Array): boolean {
  let high = 0
  let paired = 0
  for (let i = 0; i < Math.min(bytes.length, SAMPLE); i++) {
    if (bytes[i]! < 0x80) continue
    high++
    if ((bytes[i - 1] ?? 0) >= 0x80 || (bytes[i + 1] ?? 0) >= 0x80) paired++
  }
  return high >= 10 && paired > high * 0.8
}

/**
 * Whether there are only a few invalid sequences among valid ones, as in UTF-8 text that was cut within a
 * character.
 */
function mostlyUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(bytes)
  let [broken, good] = [0, 0]
  // A regular expression would create an object for each of up to 12 million characters.
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0xfffd) broken++
    else if (unit >= 0x80 && unit < 0xfffd) good++
  }
  return good > broken * 10
}

function decodeExotic(bytes: Uint8Array, charset: string): string | null {
  if (ICONV_ONLY.test(charset))
    return decodeIconv(bytes, charset.replace(/^x-|unicode-1-1-/gi, '').replace(/^(?:ibm|oem)-?/i, 'cp'))
  if (KOREAN.test(charset)) return iconv.decode(Buffer.from(bytes), 'cp949')
  if (CHINESE.test(charset)) return iconv.decode(Buffer.from(bytes), 'gb18030')
  if (ISO_2022_KR.test(charset)) return decodeShifted(bytes, 'euc-kr')
  if (HZ.test(charset)) return decodeHz(bytes)
  return null
}

const decodeIconv = (bytes: Uint8Array, charset: string) =>
  iconv.decode(Buffer.from(bytes), /7$/.test(charset) && /^utf/i.test(charset) ? 'utf-7' : charset)

/**
 * Decodes ISO-2022-KR (RFC 1557): SO and SI switch to and from KS X 1001, which is EUC-KR without its high
 * bits.
 */
function decodeShifted(bytes: Uint8Array, charset: string): string {
  const out = new Uint8Array(bytes.length)
  let length = 0
  let shifted = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 0x0e) shifted = true
    else if (byte === 0x0f) shifted = false
    else if (byte === 0x1b && bytes[i + 1] === 0x24 && bytes[i + 2] === 0x29) i += 3
    else out[length++] = shifted && byte > 0x20 ? byte | 0x80 : byte
  }
  return new TextDecoder(charset).decode(out.subarray(0, length))
}

/**
 * Decodes HZ (RFC 1843): `~{` and `~}` switch to and from GB 2312 without its high bits, `~~` is a tilde, and
 * `~` before a line break is ignored.
 */
function decodeHz(bytes: Uint8Array): string {
  const out = new Uint8Array(bytes.length)
  let length = 0
  let shifted = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 0x0a) shifted = false
    if (byte !== 0x7e) {
      out[length++] = shifted && byte > 0x20 ? byte | 0x80 : byte
      continue
    }
    const next = bytes[++i]
    if (next === 0x7b) shifted = true
    else if (next === 0x7d) shifted = false
    else if (next === 0x7e) out[length++] = 0x7e
    else if (next !== 0x0a && next !== undefined) {
      out[length++] = byte
      out[length++] = next
    }
  }
  return new TextDecoder('gb18030').decode(out.subarray(0, length))
}
