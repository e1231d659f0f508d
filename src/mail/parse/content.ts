import { decodeWords } from 'postal-mime'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import { toAttachment } from '../decode/attachment.ts'
import { decodeText } from '../decode/charset.ts'
import { type Budget, budgetOfMessage } from '../decode/time-budget.ts'
import { endedAtBlankLine, headerLength, scanHeaders, valuesOf } from '../header/headers.ts'
import { describeCalendar } from './calendar.ts'
import { asForwarded, MAX_FORWARDED, MAX_FORWARDED_DEPTH } from './forwarded.ts'
import { Shown, unshownWords } from './html/compare.ts'
import { withoutMarks } from './html/history.ts'
import { htmlToMarked, htmlToWords } from './html/readable.ts'
import { hiddenInstructionsIn } from './manipulation/instructions.ts'
import { Signs } from './manipulation/signs.ts'
import { ENCRYPTED_PGP, isSmime, unwrapSmime } from './smime.ts'
import { MAX_ATTACHMENTS, readStructure, type Structure } from './structure.ts'
import { isStub } from './stub.ts'
import { isTnef, unpackTnef } from './tnef/unpack.ts'

export interface Content {
  /** Text written by the sender. */
  body: string
  /** The same with marks where HTML says that an earlier message is quoted. */
  marked: string
  /** Descriptions of calendar parts, and the forwarded messages. */
  invitations: string
  forwarded: string
  attachments: InboundAttachment[]
  /** What of it people do not see, or are led to believe. */
  signs: Signs
  /** The plain text in whose place the HTML was read; '' if there is none. */
  stub: string
  /** What the HTML beside a plain text shows; '' if there is none. */
  shown: string
}

/**
 * Reads the texts and attachments of a message. Throws if MIME is nested deeper than 1,500 levels or the
 * headers exceed 2 MiB.
 */
export const readContent = (raw: Uint8Array, budget: Budget = budgetOfMessage()): Promise<Content> =>
  readMessage(raw, budget, 0)

async function readMessage(raw: Uint8Array, budget: Budget, depth: number): Promise<Content> {
  const structure = await readStructure(raw)
  if (structure === null)
    return { ...nothing(), ...bodyOf(decodeText(raw.subarray(headerLength(raw)), undefined)) }
  const subject = () => decodeWords(valuesOf(scanHeaders(raw), 'subject')[0] ?? '')
  const own = unpacked(readParts(structure, budget, subject), budget)
  const { body, marked, attachments, signs, stub, shown } =
    own.body === '' ? await unwrapped(own, budget, depth) : own
  const isReport = attachments.some(({ type }) => REPORTS.test(type))
  return {
    body,
    marked,
    invitations: invitationsOf(attachments, body, budget),
    // The message attached to a report is the agent's own.
    forwarded: isReport ? '' : await forwardedOf(attachments, budget, depth),
    attachments,
    // The service that reports words it as it likes.
    signs: isReport ? new Signs() : signs,
    stub,
    shown,
  }
}

export const nothing = (): Content => ({
  body: '',
  marked: '',
  invitations: '',
  forwarded: '',
  attachments: [],
  signs: new Signs(),
  stub: '',
  shown: '',
})

/** The texts of a body made from the sender's text. */
export function bodyOf(text: string): Pick<Content, 'body' | 'marked'> {
  const marked = sanitizeText(text)
  const body = withoutMarks(marked)
  return { body: body === marked ? marked : sanitizeText(body), marked }
}

const REPORTS =
  /^message\/(?:delivery-status|feedback-report|disposition-notification|global-delivery-status)$/

type Parts = Pick<Content, 'body' | 'marked' | 'attachments' | 'signs' | 'stub' | 'shown'>

type Texts = Pick<Content, 'signs' | 'stub' | 'shown'> & { texts: string[] }

/** Reads each text from the form of it that people see, as far as the budget allows. */
function readTexts(sent: Structure['texts'], budget: Budget, subject: () => string): Texts {
  const signs = new Signs()
  const doubt = (what: string) => signs.doubts.add(what)
  let stub = ''
  const shownBeside: string[] = []
  const texts = sent.map(({ plain, html }) => {
    const text = plain.join('\n')
    signs.source(text)
    if (html.length === 0) return text
    const fromHtml = (witness?: Signs) =>
      html.map((each) => htmlToMarked(each, budget, doubt, witness)).join('\n')
    if (text.trim() === '') return signs.source(fromHtml(signs))
    const shown = new Shown(
      signs.source(html.map((each) => htmlToWords(each, budget, doubt, signs)).join('\n')),
    )
    shownBeside.push(shown.text)
    if (budget.spend(0.5, () => isStub(text, shown, subject))) {
      stub ||= text
      return fromHtml()
    }
    const unshown = budget.spend(0.5, () =>
      unshownWords(text, shown, (passage) => hiddenInstructionsIn(passage).length > 0),
    )
    if (unshown === null) doubt('text that is too long to be compared with the HTML')
    else if (unshown > 0) doubt(`${unshown} words of the plain text are not in the HTML that is shown`)
    return text
  })
  return { texts, signs, stub, shown: shownBeside.join('\n') }
}

/**
 * Whether no HTML of this kind takes long to read: style sheets alone make little of it slow, and setting a time limit takes
 * as long as reading it (docs/decisions.md#time-to-read-mail).
 */
const isQuickToRead = (html: readonly string[]): boolean =>
  html.reduce((length, each) => length + each.length, 0) <= QUICK_LENGTH &&
  !html.some((each) => /<style/i.test(each))
const QUICK_LENGTH = 16 * 1024

function readParts(
  { texts: sent, attachments: parts, charsets }: Structure,
  budget: Budget,
  subject: () => string,
): Parts {
  const read = () => readTexts(sent, budget, subject)
  const html = sent.flatMap((each) => each.html)
  const { texts, signs, stub, shown } = html.length > 0 ? budget.together(read, isQuickToRead(html)) : read()
  const attachments = parts.map((part, index) => toAttachment(part, charsets[index], index))
  // Some servers send bounces with nothing but the machine-readable part.
  const report = attachments
    .filter(({ type }) => type === 'message/delivery-status')
    .map(({ content }) => decodeText(content, undefined))
  const visible = texts.some((text) => text.trim() !== '') ? texts : report
  return {
    ...bodyOf(visible.filter((text) => text.trim() !== '').join('\n')),
    attachments,
    signs,
    stub,
    shown,
  }
}

/**
 * Adds what an opaque S/MIME signature encloses to a message without text of its own, or says that the message
 * is encrypted. The signature stays attached; it is not verified.
 */
async function unwrapped(own: Parts, budget: Budget, depth: number): Promise<Parts> {
  const { attachments } = own
  if (attachments.some(({ type }) => type === ENCRYPTED_PGP)) return { ...own, ...bodyOf(ENCRYPTED) }
  const envelope = attachments.find(isSmime)
  if (envelope === undefined || depth >= MAX_FORWARDED_DEPTH) return own
  const inner = unwrapSmime(envelope.content, budget)
  if (inner === 'encrypted') return { ...own, ...bodyOf(ENCRYPTED) }
  if (inner === null) return own
  const enclosed = await readMessage(inner, budget, depth + 1).catch(nothing)
  return {
    body: enclosed.body,
    marked: enclosed.marked,
    signs: enclosed.signs,
    stub: enclosed.stub,
    shown: enclosed.shown,
    attachments: [...enclosed.attachments, ...attachments].slice(0, MAX_ATTACHMENTS),
  }
}

const ENCRYPTED =
  '[This message is encrypted. It can only be read with the recipient’s key, which is not known here.]'

/** Replaces each `winmail.dat` with its contents. One without readable contents stays. */
function unpacked({ attachments, ...own }: Parts, budget: Budget): Parts {
  const opened = attachments.map((attachment) => ({
    attachment,
    inner: isTnef(attachment) ? unpackTnef(attachment.content, budget) : null,
  }))
  const texts = opened.flatMap(({ inner }) => inner?.text ?? [])
  return {
    ...own,
    ...(own.body === '' ? bodyOf(texts.join('\n')) : {}),
    attachments: opened
      .flatMap(({ attachment, inner }) => inner?.attachments ?? [attachment])
      .slice(0, MAX_ATTACHMENTS),
  }
}

function invitationsOf(attachments: readonly InboundAttachment[], body: string, budget: Budget): string {
  const calendars = attachments.filter(({ type }) => type === 'text/calendar' || type === 'application/ics')
  const sources = calendars.map(({ content }) => decodeText(content, 'utf-8'))
  const descriptions = new Set(
    sources.flatMap((source) => describeCalendar(source, body === '', budget) ?? []),
  )
  // If no calendar can be read and there is no other text, the source is shown.
  return sanitizeText(
    descriptions.size > 0 || body !== '' ? [...descriptions].join('\n\n') : sources.join('\n\n'),
  )
}

async function forwardedOf(
  attachments: readonly InboundAttachment[],
  budget: Budget,
  depth: number,
): Promise<string> {
  if (depth >= MAX_FORWARDED_DEPTH) return ''
  const messages = attachments.filter(({ type }) => type === 'message/rfc822' || type === 'message/global')
  const texts: string[] = []
  for (const message of messages.slice(0, MAX_FORWARDED)) {
    const content = endedAtBlankLine(message.content)
    // An unreadable message is still in the attachments.
    const inner = await readMessage(content, budget, depth + 1).catch(nothing)
    texts.push(asForwarded(content, joinTexts(inner)))
  }
  if (messages.length > MAX_FORWARDED)
    texts.push(`[${messages.length - MAX_FORWARDED} more forwarded messages are in the attachments.]`)
  return texts.join('\n\n')
}

/** Joins the texts of a message. */
export const joinTexts = ({
  body,
  invitations,
  forwarded,
}: Pick<Content, 'body' | 'invitations' | 'forwarded'>): string =>
  [body, invitations, forwarded].filter((text) => text !== '').join('\n\n')
