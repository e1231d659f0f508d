import { type RawHeader, valuesOf } from '../parse/headers.ts'

/**
 * Fields of which a second one would show the reader something else than what was signed (RFC 6376 8.15):
 * signers cover the last one, readers show the first.
 */
const SINGULAR = [
  ...['from', 'subject', 'date', 'message-id', 'reply-to', 'to', 'cc', 'sender', 'in-reply-to', 'references'],
  ...['mime-version', 'content-type', 'content-transfer-encoding', 'content-disposition'],
]
/**
 * Words of the author, and where answers to them go. A field that was not there when the message was signed
 * is not covered either.
 */
const AUTHORS = ['From', 'Subject', 'Reply-To']
/**
 * The body is signed as bytes: which text it is, these say. Unsigned, only what leaves the bytes as they are
 * is believed.
 */
const READING: readonly (readonly [string, RegExp])[] = [
  [
    'Content-Type',
    /^text\/plain(?:\s{0,9};\s{0,9}(?:charset="?(?:us-ascii|utf-8|iso-8859-1|windows-1252)"?|(?:format|delsp)="?\w+"?))*;?$/i,
  ],
  ['Content-Transfer-Encoding', /^(?:7bit|8bit|binary)$/i],
  ['Content-Disposition', /^inline$/i],
]

/**
 * Why a signature over these fields leaves it to others what the reader sees, or null. It covers From,
 * Subject and Reply-To where there is one; Content-Type, unless it is plain text in a charset that leaves
 * ASCII as it is; Content-Transfer-Encoding, unless it encodes nothing; Content-Disposition, unless it is
 * `inline`; and there is one of each. MIME-Version may be left out, since nothing is read by it.
 */
export function coverageFault(headers: readonly RawHeader[], covered: ReadonlySet<string>): string | null {
  const twice = SINGULAR.find((name) => valuesOf(headers, name).length > 1)
  if (twice !== undefined) return `there is more than one ${twice} header (RFC 6376 8.15)`
  const open = (name: string) =>
    !covered.has(name.toLowerCase()) && valuesOf(headers, name.toLowerCase()).length > 0
  const author = AUTHORS.find(open)
  if (author !== undefined)
    return `it does not cover ${author}, which anyone could have added or changed (RFC 6376 5.4)`
  const reading = READING.find(
    ([name, harmless]) =>
      open(name) && !valuesOf(headers, name.toLowerCase()).every((it) => harmless.test(it)),
  )
  return reading === undefined
    ? null
    : `it does not cover ${reading[0]}, which determines how the signed body is interpreted (RFC 6376 5.4)`
}
