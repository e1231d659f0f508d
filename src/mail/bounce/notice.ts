import { oneLine } from '../../core/text/sanitize-text.ts'
import { valuesOf } from '../header/headers.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { addressOf } from './fields.ts'
import { provesNonexistent, reasonOf } from './nonexistent.ts'
import { isBounce } from './notice-signs.ts'
import { addressesIn, passagesOf, reasonLine, textOfBounce } from './passages.ts'
import type { Report } from './report.ts'
import { statusIn } from './status.ts'

const MAX_WORDS = 500
/** Maximum number of recipients; each one's passage is examined. */
const MAX_RECIPIENTS = 100

/**
 * Reads bounces without a machine-readable part (qmail, Exim, old Exchange versions, many appliances): text
 * for humans, sometimes with an `X-Failed-Recipients` header. Null if the mail is not a bounce, or only a warning.
 */
export function readNotice(mail: ParsedMail): Report | null {
  const text = textOfBounce(mail)
  const words = text.replace(/\s+/g, ' ')
  const listed = valuesOf(mail.headers, 'x-failed-recipients').flatMap((value) => value.split(','))
  if (!isBounce(mail, words, listed.length > 0)) return null
  const addresses = recipientsOf(mail, text, listed)
  const passages = passagesOf(text, new Set(addresses))
  const detailOf = (passage: string) =>
    reasonLine(passage) || reasonLine(text) || oneLine(mail.subject ?? '', MAX_WORDS) || 'not delivered'
  const recipients = addresses.map((address) => {
    const passage = addresses.length === 1 ? text : passages.get(address)!
    const own = passages.get(address)!
    return { address, detail: detailOf(own), permanent: isGone(own, passage) }
  })
  return { kind: 'bounce', detail: recipients[0]?.detail ?? detailOf(text), recipients }
}

/** The recipient's own passage decides; if it gives no reason, the whole text about a single recipient does. */
const isGone = (own: string, whole: string): boolean =>
  provesNonexistent(statusIn(own) !== '' || reasonOf(own) !== null ? own : whole)

/** The addresses that the bounce lists or names, except its own sender and recipient and the postmaster. */
function recipientsOf(mail: ParsedMail, text: string, listed: readonly string[]): string[] {
  const named = listed.length > 0 ? listed.map(addressOf) : addressesIn(text)
  const found = [...new Set(named.filter((address) => address !== ''))]
  const isOther = (address: string) =>
    address === mail.from.address ||
    mail.to.includes(address) ||
    /^(?:postmaster|mailer-daemon|abuse|support|help(?:desk)?)@/.test(address)
  const recipients = found.filter((address) => !isOther(address))
  return (recipients.length > 0 || listed.length > 0 ? recipients : found).slice(0, MAX_RECIPIENTS)
}
