import { isAscii, isUtf8 } from 'node:buffer'
import { type RawHeader, valuesOf } from '../header/headers.ts'

/**
 * Fields that must be unique: a second one could make the reader see something other than what was signed
 * (RFC 6376 8.15), because signers cover the last one and mail clients show the first.
 */
const SINGULAR = [
  ...['from', 'subject', 'date', 'message-id', 'reply-to', 'to', 'cc', 'sender', 'in-reply-to', 'references'],
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'content-disposition'],
]
/**
 * The author's identity and words, and the address for replies. A field added after signing is not covered
 * either.
 */
const AUTHOR_FIELDS = ['From', 'Subject', 'Reply-To']
const IDENTITY = /^(?:7bit|8bit|binary)$/i
/**
 * Fields that determine how the signed bytes of the body become text, with the values that change nothing and
 * therefore do not need to be signed.
 */
const BODY_FIELDS: readonly (readonly [string, RegExp])[] = [
  [
    'Content-Type',
    /^text\/plain(?:\s{0,9};\s{0,9}(?:charset="?(?:us-ascii|utf-8|iso-8859-1|windows-1252)"?|(?:format|delsp)="?\w+"?))*;?$/i,
  ],
  ['Content-Transfer-Encoding', IDENTITY],
  ['Content-Disposition', /^inline$/i],
]

/**
 * Text that reads differently with `format=flowed` (RFC 3676): a line that ends with a space, or begins with a space
 * or a quote mark.
 */
const REFLOWED = /(?:^|\n)[ >]| \r?(?:\n|$)/

/** Quoted-printable has no other equals signs than these (RFC 2045 6.7), and lines of at most 76 characters. */
const NOT_QUOTED_PRINTABLE = /=(?![0-9a-f]{2}|[ \t]{0,99}\r?(?:\n|$))|[^\n]{100}/i
/** Longer text without spaces is base64. A word of four letters is rarely that of a text. */
const MAX_WORD = 16
const BASE64 = /^[a-z0-9+/=\r\n]+$/i
/** What reads differently as HTML or enriched text, as a multipart, as a calendar, or in a charset with escape sequences. */
const OF_ANOTHER_TYPE = /<[a-z!/?]|&[a-z#]|(?:^|\n)(?:--[ \t]{0,99}[^ \t\r\n]|BEGIN:)|[^\P{Cc}\t\r\n]/iu

/**
 * Returns why a signature that covers these fields would let others change what the reader sees, or null. It
 * must cover From, Subject, and Reply-To if present; Content-Type, unless it is plain text in an
 * ASCII-compatible charset that `format=flowed` does not change; Content-Transfer-Encoding, unless it is the identity; and
 * Content-Disposition,
 * unless it is `inline`. Others could also have replaced or removed a Content-Type or Content-Transfer-Encoding that is not
 * covered, so that the body must read the same with any. Each field must be unique, and nothing else may stand between
 * them. MIME-Version may be uncovered, since it affects nothing.
 */
export function coverageFault(
  headers: readonly RawHeader[],
  covered: ReadonlySet<string>,
  body: Uint8Array,
): string | null {
  if (headers.some(({ name }) => name === ''))
    return 'the header has a line that is not a field (RFC 5322 2.2), which readers interpret differently'
  const duplicate = SINGULAR.find((name) => valuesOf(headers, name).length > 1)
  if (duplicate !== undefined) return `there is more than one ${duplicate} header (RFC 6376 8.15)`
  const isUncovered = (name: string) =>
    !covered.has(name.toLowerCase()) && valuesOf(headers, name.toLowerCase()).length > 0
  const isNeutral = (name: string, neutral: RegExp) =>
    valuesOf(headers, name.toLowerCase()).every((value) => neutral.test(value))
  const uncoveredAuthor = AUTHOR_FIELDS.find(isUncovered)
  if (uncoveredAuthor !== undefined)
    return `it does not cover ${uncoveredAuthor}, which anyone could have added or changed (RFC 6376 5.4)`
  const uncoveredBody = BODY_FIELDS.find(([name, neutral]) => isUncovered(name) && !isNeutral(name, neutral))
  const name = uncoveredBody?.[0] ?? replaceableField(headers, covered, body)
  return name === null
    ? null
    : `it does not cover ${name}, which determines how the signed body is interpreted (RFC 6376 5.4)`
}

/** Returns the field without which the body may have been another text, and which anyone could have removed. */
function replaceableField(
  headers: readonly RawHeader[],
  covered: ReadonlySet<string>,
  body: Uint8Array,
): string | null {
  const [isTypeCovered, isEncodingCovered] = ['content-type', 'content-transfer-encoding'].map((name) =>
    covered.has(name),
  )
  const isMultipart = valuesOf(headers, 'content-type').some((type) => /^(?:multipart|message)\//i.test(type))
  if (isTypeCovered && (isEncodingCovered || isMultipart)) return null
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
  if (!isEncodingCovered && mayBeEncoded(text)) return 'Content-Transfer-Encoding'
  if (isTypeCovered) return null
  const isOther = OF_ANOTHER_TYPE.test(text) || !(isAscii(body) || isUtf8(body)) || mayReflow(headers, body)
  return isOther ? 'Content-Type' : null
}

const mayBeEncoded = (text: string): boolean => {
  const bare = text.trim()
  if (bare.includes('=') && !NOT_QUOTED_PRINTABLE.test(bare)) return true
  const digits = BASE64.test(bare) ? bare.replaceAll(/[\r\n]/g, '') : ''
  return (
    digits !== '' &&
    digits.length % 4 === 0 &&
    (digits.length > MAX_WORD || isUtf8(Buffer.from(digits, 'base64')))
  )
}

/** Whether `format=flowed` could change how the body reads. */
const mayReflow = (headers: readonly RawHeader[], body: Uint8Array): boolean =>
  valuesOf(headers, 'content-type').some((type) => type.toLowerCase().includes('format')) &&
  (valuesOf(headers, 'content-transfer-encoding').some((encoding) => !IDENTITY.test(encoding)) ||
    REFLOWED.test(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')))
