import type { BouncedRecipient } from '../../core/channel/inbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { decodeText } from '../decode/charset.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { addressOf, type Fields, groupsIn, groupsOf } from './fields.ts'
import { provesNonexistent, reasonOf } from './nonexistent.ts'
import { isFromMachine } from './notice-signs.ts'
import { passagesOf, reasonLine, textOfBounce } from './passages.ts'
import type { Report } from './report.ts'
import { hasDetail, statusIn } from './status.ts'

const MAX_WORDS = 500
const MAX_RECIPIENTS = 1_000
/** Maximum length of a text that may contain the fields. */
const MAX_TEXT = 20_000

/** Returns the groups about recipients in the machine-readable part, which some servers send as plain text. */
export function recipientGroupsOf(mail: ParsedMail): Fields[] {
  const parts = mail.attachments.filter(({ type }) => /^message\/(?:x-?|global-)?delivery-status/.test(type))
  const groups = parts.flatMap(groupsIn)
  const found = groups.length > 0 || !isFromMachine(mail) ? groups : textsOf(mail).flatMap(groupsOf)
  return found.filter((fields) => fields.has('final-recipient') || fields.has('original-recipient'))
}

const textsOf = (mail: ParsedMail): string[] => [
  mail.text.slice(0, MAX_TEXT),
  ...mail.attachments
    .filter(({ type, content }) => !/^message|rfc822/.test(type) && content.length <= MAX_TEXT)
    .map(({ content }) => decodeText(content, undefined)),
]

/** Reads a delivery status notification (RFC 3464). Null if it reports no failure. */
export function readDeliveryStatus(groups: readonly Fields[], mail: ParsedMail): Report | null {
  const failed = groups.filter(hasFailed).slice(0, MAX_RECIPIENTS)
  if (failed.length === 0) return null
  const addresses = failed.map(addressesOf)
  const passages = passagesOf(textOfBounce(mail), new Set(addresses.flat()))
  const recipients = failed.flatMap((fields, index): BouncedRecipient[] => {
    const own = addresses[index]!
    const words = own.map((address) => passages.get(address) ?? '').join('\n')
    const result = { detail: detailOf(fields, words), permanent: isGone(fields, words) }
    return own.map((address) => ({ address, ...result }))
  })
  const detail = recipients[0]?.detail ?? detailOf(failed[0]!, '')
  return { kind: 'bounce', recipients, detail }
}

/**
 * Behind an alias, the final recipient is an address that we do not know; the original recipient is the one
 * we wrote to.
 */
const addressesOf = (fields: Fields): string[] => {
  const named = [addressOf(fields.get('original-recipient')), addressOf(fields.get('final-recipient'))]
  return [...new Set(named.filter((address) => address !== ''))]
}

/**
 * The actions delayed, delivered, relayed and expanded are not failures. Other words than those of RFC 3464
 * are used for failures: expired, rejected. Without an action the status decides: 5 is permanent (RFC 3463).
 */
const hasFailed = (fields: Fields): boolean => {
  const action = fields.get('action')?.toLowerCase() ?? ''
  if (/^(?:delay|deliver|relay|expand|deferred|transfer|success)/.test(action)) return false
  return (
    /^(?:fail|expire|reject|bounce|delete|undeliver|return|error)/.test(action) || /^5/.test(statusOf(fields))
  )
}

const statusOf = (fields: Fields): string => {
  const reported = statusIn(fields.get('status') ?? '')
  const own = statusIn(diagnosticOf(fields))
  return hasDetail(reported) || own === '' ? reported : own
}

const diagnosticOf = (fields: Fields): string =>
  (fields.get('diagnostic-code') ?? '').replace(/^[\w-]{1,40}[ \t]*;[ \t]*/, '').trim()

/**
 * The remote server's words decide. If they say nothing, or there are none, those of the part for humans do;
 * they were written for the same recipient.
 */
function isGone(fields: Fields, words: string): boolean {
  const diagnostic = diagnosticOf(fields)
  const status = fields.get('status') ?? ''
  const isSilent = reasonOf(diagnostic) === null && !hasDetail(statusIn(diagnostic))
  if (!isSilent || reasonOf(words) === null) return provesNonexistent(diagnostic, statusIn(status))
  return provesNonexistent(`${diagnostic}\n${words}`, statusIn(status))
}

/** The remote server's diagnostic text, or else what the part for humans says, or the status code. */
const detailOf = (fields: Fields, words: string): string =>
  oneLine(diagnosticOf(fields) || reasonLine(words) || fields.get('status') || 'not delivered', MAX_WORDS)
