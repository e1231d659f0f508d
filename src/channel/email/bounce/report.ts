import type { BouncedRecipient, BounceReport, InboundAttachment } from '../../inbound.ts'
import { oneLine } from '../../sanitize-text.ts'
import { normalizeLoosely } from '../address.ts'
import { valuesOf } from '../parse/headers.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { isPermanentStatus, UNKNOWN_RECIPIENT } from './permanent-status.ts'

/** What a bounce or complaint reports: the recipients that were not reached, or that complained. */
export interface Report extends Pick<BounceReport, 'kind' | 'recipients' | 'detail'> {
  /** For a complaint: the reverse path of the mail it is about, if the report contains it. */
  reversePath?: string
}

type Fields = ReadonlyMap<string, string>

const MAX_WORDS = 500
const MAX_RECIPIENTS = 1_000
const MAX_TEXT = 20_000
/** Maximum size of the machine-readable part in bytes. 1,000 recipients take half of it. */
const MAX_MACHINE_READABLE = 1024 * 1024

/**
 * Reads a delivery status notification (RFC 3464, or a non-conforming bounce) or an abuse report (RFC 5965).
 * Returns null for anything else: a delay or success notification, an out-of-office reply, ordinary mail.
 */
export function readReport(mail: ParsedMail): Report | null {
  const parts = (type: RegExp) => mail.attachments.filter((part) => type.test(part.type)).map(groupsOf)
  const [feedback] = parts(/^message\/feedback-report$/)
  if (feedback) return complaint(feedback.flat())
  const status = parts(/^message\/(?:global-)?delivery-status$/).flat()
  const recipients = status.filter(
    (fields) => fields.has('final-recipient') || fields.has('original-recipient'),
  )
  return recipients.length > 0 ? bounce(recipients) : looseBounce(mail)
}

/** Groups of fields, separated by empty lines (RFC 3464 2.1). */
function groupsOf({ content }: InboundAttachment): Fields[] {
  const lines = new TextDecoder()
    .decode(content.subarray(0, MAX_MACHINE_READABLE))
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
  return lines.split(/\n{2,}/).map((group) => new Map(group.split('\n').flatMap(fieldOf)))
}

function fieldOf(line: string): [string, string][] {
  const colon = line.indexOf(':')
  return colon < 1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]]
}

/** `rfc822; <ann@example.com>` */
const addressOf = (value: string | undefined): string =>
  normalizeLoosely(
    (value ?? '')
      .replace(/^[\w-]+\s*;/, '')
      .trim()
      .replace(/^<|>$/g, ''),
  )

// ---------------------------------------------------------------------------------------------- complaints

/**
 * Report types that are not complaints of a recipient: not-spam, authentication failures (RFC 6591) and
 * DMARC.
 */
const NOT_A_COMPLAINT = /^(?:not-spam|auth-failure|dmarc)$/i

function complaint(groups: Fields[]): Report | null {
  const type = groups.map((fields) => fields.get('feedback-type')).find((value) => value !== undefined)
  if (type === undefined || NOT_A_COMPLAINT.test(type)) return null
  const detail = oneLine(`reported as ${type}`, MAX_WORDS)
  const named = ['original-rcpt-to', 'removal-recipient'].flatMap((name) =>
    groups.map((fields) => addressOf(fields.get(name))),
  )
  const addresses = [...new Set(named.filter((address) => address !== ''))]
  const reversePath = groups
    .map((fields) => addressOf(fields.get('original-mail-from')))
    .find((address) => address !== '')
  return {
    kind: 'complaint',
    detail,
    ...(reversePath ? { reversePath } : {}),
    recipients: addresses.map((address) => ({ address, detail, permanent: true })),
  }
}

// ------------------------------------------------------------------------------------------------- bounces

function bounce(groups: Fields[]): Report | null {
  const failed = groups.filter(hasFailed).slice(0, MAX_RECIPIENTS)
  if (failed.length === 0) return null
  const recipients = failed.flatMap((fields): BouncedRecipient[] => {
    const result = { detail: wordsOf(fields), permanent: isPermanentStatus(statusOf(fields)) }
    // Behind an alias, the final recipient is an address that we do not know; the original recipient is the
    // one we wrote to.
    const addresses = [addressOf(fields.get('original-recipient')), addressOf(fields.get('final-recipient'))]
    return [...new Set(addresses.filter((address) => address !== ''))].map((address) => ({
      address,
      ...result,
    }))
  })
  return { kind: 'bounce', recipients, detail: wordsOf(failed[0]!) }
}

/**
 * The actions delayed, delivered, relayed and expanded are not failures. Without an action the status
 * decides: 5 is permanent (RFC 3463).
 */
const hasFailed = (fields: Fields): boolean => {
  const action = fields.get('action')?.toLowerCase()
  return action === undefined ? /^5/.test(statusOf(fields)) : /^failed\b|^failure\b/.test(action)
}

const STATUS = /\b[245]\.\d{1,3}\.\d{1,3}\b/

const statusOf = (fields: Fields): string =>
  STATUS.exec(fields.get('status') ?? '')?.[0] ?? STATUS.exec(fields.get('diagnostic-code') ?? '')?.[0] ?? ''

/** The remote server's diagnostic text, or else the status code. */
const wordsOf = (fields: Fields): string => {
  const diagnostic = (fields.get('diagnostic-code') ?? '').replace(/^[\w-]+\s*;\s*/, '').trim()
  return oneLine(diagnostic || fields.get('status') || 'not delivered', MAX_WORDS)
}

// --------------------------------------------------------------------------- bounces that violate RFC 3464

const FROM_MACHINE = /^(?:mailer-?daemon|mail-?daemon|postmaster|mdaemon|bounces?|double-bounce)@/
const SUBJECT =
  /undeliver|returned (?:mail|to sender)|delivery (?:status|failure|has failed|problem)|failure notice|mail (?:delivery|system error)|not delivered|nicht zugestellt|unzustellbar|non remis|no se pudo entregar/i
const STILL_TRYING =
  /will (?:keep|continue) (?:to )?try|still (?:being )?(?:retr|try)|(?:do not|don't) need to (?:resend|do anything)|no action is required|warning message only|has been delayed|delivery (?:is |was )?delayed/i
const FOR_GOOD = /\b5\.\d{1,3}\.\d{1,3}\b|\b55\d\b[ -]/
const GIVEN_UP =
  /permanent (?:fatal )?error|given up|could not be delivered|wasn't able to deliver|delivery (?:has )?failed|undeliverable/i
/** Lines after which a bounce quotes the original message. */
const QUOTED =
  /^--[^\n]*?(?:copy of the message|original message|below this line|message header|returned message|unsent message)/im
const ADDRESS =
  /(?<![^\s<>()[\]"',;:@])[^\s<>()[\]"',;:@]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu

/**
 * Reads bounces of qmail, Exim, old Exchange versions and many appliances: text for humans, sometimes with an
 * `X-Failed-Recipients` header.
 */
function looseBounce(mail: ParsedMail): Report | null {
  const listed = valuesOf(mail.headers, 'x-failed-recipients').flatMap((value) => value.split(','))
  const text = mail.text.slice(0, MAX_TEXT).split(QUOTED)[0] ?? ''
  const looksLikeOne =
    listed.length > 0 || FROM_MACHINE.test(mail.from.address) || SUBJECT.test(mail.subject ?? '')
  if (!looksLikeOne || STILL_TRYING.test(text)) return null
  const isUnknown = UNKNOWN_RECIPIENT.test(text)
  if (listed.length === 0 && !FOR_GOOD.test(text) && !isUnknown && !GIVEN_UP.test(text)) return null
  const detail = reasonLine(text) || oneLine(mail.subject ?? '', MAX_WORDS) || 'not delivered'
  const permanent = isUnknown || isPermanentStatus(/\b5\.\d{1,3}\.\d{1,3}\b/.exec(text)?.[0] ?? '')
  const found = listed.length > 0 ? listed : (text.match(ADDRESS) ?? [])
  const addresses = [...new Set(found.slice(0, MAX_RECIPIENTS).map(addressOf))].filter(
    (address) => address !== '',
  )
  return { kind: 'bounce', detail, recipients: addresses.map((address) => ({ address, detail, permanent })) }
}

/** The line that gives the reason, or '' if none does. */
const reasonLine = (text: string): string => {
  const lines = text.split('\n')
  const line = [FOR_GOOD, UNKNOWN_RECIPIENT]
    .map((pattern) => lines.find((one) => pattern.test(one)))
    .find((one) => one !== undefined)
  return oneLine(line ?? '', MAX_WORDS)
}
