import { isUtf8 } from 'node:buffer'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { scanHeaders, valuesOf } from '../header/headers.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { addressOf, type Fields, groupsIn, groupsOf } from './fields.ts'
import type { Report } from './report.ts'

const MAX_WORDS = 500
/** Maximum number of characters of a text that may contain the fields of a report. */
const MAX_TEXT = 20_000

/**
 * Report types that are not complaints of a recipient: not-spam, authentication failures (RFC 6591) and
 * DMARC.
 */
const NOT_A_COMPLAINT = /^(?:not-spam|auth-failure|dmarc|virus|miscategorized)$/i

/**
 * Subjects of complaints without a machine-readable part: Outlook.com's Junk Mail Reporting Program, and
 * feedback loops that were there before RFC 5965.
 */
const SUBJECT =
  /^complaint about (?:a )?message|\b(?:spam|abuse|junk|email feedback|feedback loop|fbl) (?:complaint|report)\b|^\[?(?:FBL|ARF|abuse)\b[^\n]{0,40}report/i

/** Fields with which providers name the recipient who complained in the header of the attached message. */
const COMPLAINANT = ['x-hmxmroriginalrecipient', 'x-original-rcpt-to', 'original-rcpt-to', 'x-rcpt-to']

const isMessage = ({ type }: InboundAttachment): boolean =>
  /^(?:message\/rfc822|text\/rfc822-headers)/.test(type)

/**
 * Reads an abuse report (RFC 5965, or a provider's own format). Null if it is not about a complaint, undefined
 * if the mail is no such report.
 */
export function readComplaint(mail: ParsedMail): Report | null | undefined {
  const groups = feedbackOf(mail)
  if (groups !== null) return complaint(groups, mail)
  const looksLikeOne = SUBJECT.test(mail.subject ?? '') && mail.inReplyTo === null
  return looksLikeOne && mail.attachments.some(isMessage) ? complaint([], mail) : undefined
}

/** The fields of the feedback part, which some providers send as a text. */
function feedbackOf(mail: ParsedMail): Fields[] | null {
  const part = mail.attachments.find(({ type }) => /^message\/(?:x-)?feedback-report/.test(type))
  if (part) return groupsIn(part)
  const texts = mail.attachments
    .filter(({ type, content }) => !isMessage({ type } as InboundAttachment) && isText(content))
    .map(({ content }) => Buffer.from(content.subarray(0, MAX_TEXT)).toString())
  const text = [mail.text.slice(0, MAX_TEXT), ...texts].find(
    (one) =>
      /^feedback-type[ \t]*:/im.test(one) &&
      /^(?:user-agent|version|source-ip|arrival-date)[ \t]*:/im.test(one),
  )
  return text === undefined ? null : groupsOf(text)
}

const isText = (content: Uint8Array): boolean => content.length <= MAX_TEXT && isUtf8(content)

function complaint(groups: Fields[], { attachments }: ParsedMail): Report | null {
  const first = (name: string) =>
    groups.map((fields) => fields.get(name)).find((value) => value !== undefined)
  const type = first('feedback-type') ?? (groups.length === 0 ? 'abuse' : undefined)
  if (type === undefined || NOT_A_COMPLAINT.test(type)) return null
  const detail = oneLine(`reported as ${type}`, MAX_WORDS)
  const header = attachments.filter(isMessage).flatMap(({ content }) => scanHeaders(content))
  const named = [
    ...['original-rcpt-to', 'removal-recipient'].flatMap((name) => groups.map((fields) => fields.get(name))),
    ...(groups.length === 0 ? COMPLAINANT.flatMap((name) => valuesOf(header, name)) : []),
  ].map(addressOf)
  const addresses = [...new Set(named.filter((address) => address !== ''))]
  const reversePath = [
    ...groups.map((fields) => fields.get('original-mail-from')),
    ...valuesOf(header, 'return-path'),
  ]
    .map(addressOf)
    .find((address) => address !== '')
  return {
    kind: 'complaint',
    detail,
    ...(reversePath ? { reversePath } : {}),
    recipients: addresses.map((address) => ({ address, detail, permanent: true })),
  }
}
