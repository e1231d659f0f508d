import { type RawHeader, valuesOf } from '../parse/headers.ts'

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

/**
 * Returns why a signature that covers these fields would let others change what the reader sees, or null. It
 * must cover From, Subject, and Reply-To if present; Content-Type, unless it is plain text in an
 * ASCII-compatible charset that `format=flowed` does not change; Content-Transfer-Encoding, unless it is the identity; and
 * Content-Disposition,
 * unless it is `inline`. Each field must be unique, and nothing else may stand between them. MIME-Version may be
 * uncovered, since it affects nothing.
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
  const reflowed = isUncovered('Content-Type') && mayReflow(headers, body)
  const name = uncoveredBody?.[0] ?? (reflowed ? 'Content-Type' : null)
  return name === null
    ? null
    : `it does not cover ${name}, which determines how the signed body is interpreted (RFC 6376 5.4)`
}

/** Whether `format=flowed` could change how the body reads. */
const mayReflow = (headers: readonly RawHeader[], body: Uint8Array): boolean =>
  valuesOf(headers, 'content-type').some((type) => type.toLowerCase().includes('format')) &&
  (valuesOf(headers, 'content-transfer-encoding').some((encoding) => !IDENTITY.test(encoding)) ||
    REFLOWED.test(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')))
