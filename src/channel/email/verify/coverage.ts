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
/**
 * Fields that determine how the signed bytes of the body become text, with the values that change nothing and
 * therefore do not need to be signed.
 */
const BODY_FIELDS: readonly (readonly [string, RegExp])[] = [
  [
    'Content-Type',
    /^text\/plain(?:\s{0,9};\s{0,9}(?:charset="?(?:us-ascii|utf-8|iso-8859-1|windows-1252)"?|(?:format|delsp)="?\w+"?))*;?$/i,
  ],
  ['Content-Transfer-Encoding', /^(?:7bit|8bit|binary)$/i],
  ['Content-Disposition', /^inline$/i],
]

/**
 * Returns why a signature that covers these fields would let others change what the reader sees, or null. It
 * must cover From, Subject, and Reply-To if present; Content-Type, unless it is plain text in an
 * ASCII-compatible charset; Content-Transfer-Encoding, unless it is the identity; and Content-Disposition,
 * unless it is `inline`. Each field must be unique. MIME-Version may be uncovered, since it affects nothing.
 */
export function coverageFault(headers: readonly RawHeader[], covered: ReadonlySet<string>): string | null {
  const duplicate = SINGULAR.find((name) => valuesOf(headers, name).length > 1)
  if (duplicate !== undefined) return `there is more than one ${duplicate} header (RFC 6376 8.15)`
  const isUncovered = (name: string) =>
    !covered.has(name.toLowerCase()) && valuesOf(headers, name.toLowerCase()).length > 0
  const uncoveredAuthor = AUTHOR_FIELDS.find(isUncovered)
  if (uncoveredAuthor !== undefined)
    return `it does not cover ${uncoveredAuthor}, which anyone could have added or changed (RFC 6376 5.4)`
  const uncoveredBody = BODY_FIELDS.find(
    ([name, neutral]) =>
      isUncovered(name) && !valuesOf(headers, name.toLowerCase()).every((it) => neutral.test(it)),
  )
  return uncoveredBody === undefined
    ? null
    : `it does not cover ${uncoveredBody[0]}, which determines how the signed body is interpreted (RFC 6376 5.4)`
}
