import { type FoundCode, findCodes } from '../../core/codes/index.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import { type Purpose, purposeOf } from './answer.ts'
import { isForwardedLine, isHeaderBlock, isOriginalLine } from './quoted-header.ts'
import { ownText } from './reply-text.ts'

/**
 * Returns the codes and links in what the sender wrote: not in quoted history, of which `own` is free (see `ownText`), and not in
 * a forwarded message. The HTML beside a plain text may have those that the text leaves out; in answers, and in what people forward,
 * its quotations could not be told apart.
 */
export const codesOf = (
  { own, shown }: { own: string | null; shown: string },
  subject: string | null,
  purpose: Purpose,
): FoundCode[] =>
  findCodes({
    // That of an answer repeats what it answers.
    subject: purposeOf({ subject, inReplyTo: null, references: [] }) === 'other' ? subject : null,
    texts: (purpose === 'other' && shown !== '' ? [own, ownText(sanitizeText(shown), purpose)] : [own]).map(
      (text) => written(text ?? '', purpose),
    ),
  })

const written = (own: string, purpose: Purpose): string => {
  const lines = own.split('\n')
  const end = lines.findIndex(
    (line, at) =>
      isForwardedLine(line) || isOriginalLine(line) || (purpose !== 'other' && isHeaderBlock(lines, at)),
  )
  return (end < 0 ? lines : lines.slice(0, end)).filter((line) => !line.startsWith('>')).join('\n')
}
