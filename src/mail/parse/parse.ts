import { decodeWords } from 'postal-mime'
import { normalizeLoosely, spellLoosely } from '../../core/address/email-address.ts'
import type { Check, Inbound } from '../../core/channel/inbound.ts'
import { oneLine, sanitizeText } from '../../core/text/sanitize-text.ts'
import { decodeUnlabelled } from '../decode/charset.ts'
import { type Budget, budgetOfMessage } from '../decode/time-budget.ts'
import { addressesIn } from '../header/address-list.ts'
import { sentAt } from '../header/date.ts'
import { headerLength, type RawHeader, scanHeaders, valuesOf } from '../header/headers.ts'
import { purposeOf } from './answer.ts'
import { codesOf } from './codes.ts'
import { bodyOf, type Content, joinTexts, nothing, readContent } from './content.ts'
import { withoutMarks } from './html/history.ts'
import { ownText } from './reply-text.ts'

/** The fields of `Inbound` that come from parsing, and the header fields. */
export interface ParsedMail
  extends Pick<
    Inbound,
    | 'from'
    | 'replyTo'
    | 'to'
    | 'cc'
    | 'subject'
    | 'text'
    | 'replyText'
    | 'attachments'
    | 'messageId'
    | 'inReplyTo'
    | 'references'
    | 'codes'
  > {
  headers: readonly RawHeader[]
  /** When it was sent, as it claims; null without a readable date. */
  sentAt: Date | null
  /** Why the MIME structure could not be read, in which case `text` is the raw body; null if it could. */
  damage: string | null
  /**
   * Say what people may not see of the text (what in the HTML may hide it, or words that only the plain text has), and
   * that it was made from the HTML although there is a plain text.
   */
  textChecks: Check[]
}

/**
 * A line has at most 998 bytes (RFC 5322 2.1.1), and an index of PostgreSQL takes at most 2,704 in one entry.
 */
const MAX_ID_BYTES = 998
const MAX_REFERENCES = 200
const MAX_RECIPIENTS = 1_000
const MAX_SUBJECT = 2_000
const MAX_RAW_TEXT = 256 * 1024

/**
 * Parses a message. Never throws: if the MIME structure cannot be read, the result is that of `salvage`, so
 * that malformed mail is not lost.
 */
export async function parseMail(raw: Uint8Array, budget: Budget = budgetOfMessage()): Promise<ParsedMail> {
  try {
    return assemble(raw, await readContent(raw, budget), null)
  } catch (error) {
    return salvage(raw, error instanceof Error ? error.message : String(error))
  }
}

/** Reads only the header fields and uses the raw body (up to 256 KiB) as text. */
export function salvage(raw: Uint8Array, damage: string): ParsedMail {
  const body = raw.subarray(headerLength(raw))
  const text = decodeUnlabelled(body.subarray(0, MAX_RAW_TEXT))
  const rest = body.length > MAX_RAW_TEXT ? '\n[… cut: the rest is in the message as received]' : ''
  return assemble(raw, { ...nothing(), ...bodyOf(text + rest) }, oneLine(damage, 200))
}

function assemble(raw: Uint8Array, content: Content, damage: string | null): ParsedMail {
  const text = joinTexts(content)
  const headers = scanHeaders(raw)
  const written = valuesOf(headers, 'subject')[0]
  const decoded = written === undefined ? null : decodeWords(written)
  const subject = decoded === null ? null : oneLine(decoded, MAX_SUBJECT)
  content.signs.source(decoded ?? '')
  const inReplyTo = ids(headers, 'in-reply-to')[0] ?? null
  const references = ids(headers, 'references').slice(-MAX_REFERENCES)
  const purpose = purposeOf({ subject, inReplyTo, references })
  const own = ownText(content.marked, purpose)
  const reply = own ?? withoutMarks(content.marked)
  const from = firstSender(headers)
  const shown = [subject, from.name, ...content.attachments.map(({ name }) => name), text]
  return {
    from,
    replyTo: replyAddress(headers),
    to: recipients(headers, 'to'),
    cc: recipients(headers, 'cc'),
    subject,
    text,
    // An attached message is what the sender wants to be read, no history.
    replyText: joinTexts({ ...content, body: sanitizeText(reply) }) || text,
    attachments: content.attachments,
    messageId: ids(headers, 'message-id')[0] ?? null,
    inReplyTo,
    references,
    codes: codesOf({ own, shown: content.shown }, subject, purpose),
    headers,
    sentAt: sentAt(headers),
    damage,
    textChecks: [...content.signs.checks(shown.join('\n')), ...stubCheck(content.stub)],
  }
}

const stubCheck = (stub: string): Check[] =>
  stub === ''
    ? []
    : [{ name: 'text', verdict: 'html', detail: oneLine(`the plain text says only: ${stub}`, 200) }]

/**
 * The first address in the first readable From header. Whether it is the only one is checked by the
 * verification.
 */
function firstSender(headers: readonly RawHeader[]): Inbound['from'] {
  for (const value of valuesOf(headers, 'from')) {
    const mailbox = addressesIn(value)[0]
    if (mailbox === undefined) continue
    const address = normalizeLoosely(mailbox.address ?? '')
    // An address without a domain (`<moderator>`) cannot be answered or proven; it only says who it was.
    const name = oneLine(mailbox.name || (address === '' ? (mailbox.address ?? '') : ''), 320)
    return { address, name: name === '' ? null : name }
  }
  return { address: '', name: null }
}

/** The address that replies go to: the first usable one in Reply-To, or else in From. */
function replyAddress(headers: readonly RawHeader[]): string | null {
  for (const value of [...valuesOf(headers, 'reply-to'), ...valuesOf(headers, 'from')]) {
    for (const { address = '' } of addressesIn(value).slice(0, MAX_RECIPIENTS)) {
      const spelled = spellLoosely(address)
      if (spelled !== null) return spelled
    }
  }
  return null
}

function recipients(headers: readonly RawHeader[], field: string): string[] {
  const mailboxes = valuesOf(headers, field).flatMap((value) => addressesIn(value))
  const addresses = mailboxes
    .slice(0, MAX_RECIPIENTS)
    .map(({ address = '', name }) => normalizeLoosely(address) || oneLine(address || name, 320))
  return [...new Set(addresses.filter((address) => address !== ''))]
}

/** Message ids without angle brackets; ids from senders that omit the brackets are recognized too. */
function ids(headers: readonly RawHeader[], field: string): string[] {
  const text = valuesOf(headers, field).join(' ')
  const bracketed = [...text.matchAll(/<([^<>]{1,2000})>/g)].map((match) =>
    (match[1] ?? '').replace(/\s+/g, ''),
  )
  const found =
    bracketed.length > 0
      ? bracketed
      : text.split(/[\s,;]+/).filter((word) => field === 'message-id' || word.includes('@'))
  return [
    ...new Set(
      found
        .map((id) => oneLine(id, MAX_ID_BYTES + 1))
        .filter((id) => id !== '' && Buffer.byteLength(id) <= MAX_ID_BYTES),
    ),
  ]
}
