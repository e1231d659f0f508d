import {
  awaitsApproval,
  type Highlight,
  type InThread,
  type PresentedMessage,
  type Sibling,
} from '../../message/index.ts'
import { compact } from '../call/tool.ts'
import { clean, clip, type Fence, isPlain } from '../outside-text/fence.ts'
import { cleanPage } from '../outside-text/pages.ts'

/** Messages for models: what the service knows is plain, what somebody wrote is fenced. */

/** Characters of a line in a list, and of each name and subject in it. */
const [PREVIEW, MAX_HEAD] = [120, 80]

/** What is shown of what senders can make long. One mail may name 2,000 recipients and 1,000 files. */
const MAX = { recipients: 10, recipientsInList: 3, files: 20, name: 160, subject: 500, error: 1_000 }

/** What is read of the messages of a list. */
export const LISTED = [
  ...['id', 'agentId', 'createdAt', 'channel', 'direction', 'threadId', 'status', 'refusal', 'admission'],
  ...['mayInstruct', 'holdReason', 'holdUntil', 'sentByMemberId', 'sentByName', 'readAt', 'labels'],
  ...['counterpart', 'counterpartName', 'to', 'subject', 'text', 'replyText', 'attachments'],
] as const satisfies readonly (keyof PresentedMessage)[]
type ListedMessage = Pick<PresentedMessage, (typeof LISTED)[number]>

const WORD = /^[a-z_]{1,30}$/
/** The check that says what a message hides or disguises: there is one for each way. */
const MANIPULATION = 'manipulation'

/** The verdict of each check, without its details, which quote the sender. */
const verdictsOf = ({ checks }: PresentedMessage) => {
  const found = (checks as unknown as { name: string; verdict: string }[]).filter(
    ({ name, verdict }) => WORD.test(name) && WORD.test(verdict),
  )
  const verdicts = Object.fromEntries(found.map(({ name, verdict }) => [name, verdict]))
  const manipulated = found.filter(({ name, verdict }) => name === MANIPULATION && verdict !== 'none')
  const { [MANIPULATION]: _, ...others } = verdicts
  return manipulated.length === 0
    ? others
    : { ...others, [MANIPULATION]: manipulated.map(({ verdict }) => verdict).join(', ') }
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/i

/** The media type that the sender declared, without parameters. */
export const mediaTypeOf = (type: string): string => {
  const bare = type.split(';', 1)[0]!.trim().toLowerCase()
  return MEDIA_TYPE.test(bare) ? bare : 'application/octet-stream'
}

/** Whether the agent or its workspace wrote the message. An imported one only says so. */
export const isOwn = ({ direction, status }: Pick<PresentedMessage, 'direction' | 'status'>): boolean =>
  direction === 'outbound' && status !== 'imported'

const FORWARDED = /^-{3,10} ?[^\n-]{1,60}-{3,10}$/m
/** Lines that quote somebody, with the line above that says whom. */
const QUOTED = /(?:^[^\n>][^\n]{0,300}:\n\n?)?^>[^\n]*(?:\n>[^\n]*)*/gm

/** The agent's own words, in which only what they quote of others is fenced. */
export const ownWords = (page: string, fence: Fence): string => {
  const { index: end = page.length } = FORWARDED.exec(page) ?? {}
  const own = page.slice(0, end).replace(QUOTED, (quote) => fence.around(quote))
  return end < page.length ? `${own}${fence.around(page.slice(end))}` : own
}

/** How a line begins that quotes somebody, and what is above a forwarded message. */
const QUOTES = /^>|^-{3,10} ?[^\n-]{1,60}-{3,10}$/m

/**
 * Whether what is shown of a message was written by a member or an agent of the workspace, as far as is proven. What they
 * quote or forward was not.
 */
export const isTeams = (
  message: Pick<PresentedMessage, 'direction' | 'status' | 'admission'>,
  shown: string,
): boolean =>
  (isOwn(message) || (message.status === 'received' && message.admission === 'team')) && !QUOTES.test(shown)

/** The subject of an answer is that of somebody's message. */
const isOthersSubject = (subject: string): boolean => /^(?:re|fwd?|wg)\s*:/i.test(subject)

const headsOf = (message: PresentedMessage, fence: Fence) => {
  const { subject, counterpartName } = message
  const name = fence.wrapped(counterpartName, MAX.name)
  if (!isOwn(message)) return { senderName: name, subject: fence.wrapped(subject, MAX.subject) }
  const isOthers = subject !== null && isOthersSubject(subject)
  return {
    recipientName: name,
    subject: isOthers ? fence.wrap(subject, MAX.subject) : subject && clean(subject),
  }
}

const summaryOf = (message: ListedMessage, fence: Fence, recipients: number) => {
  const inbound = message.direction === 'inbound'
  return {
    messageId: message.id,
    at: message.createdAt.toISOString(),
    channel: message.channel,
    direction: message.direction,
    threadId: message.threadId === message.id ? null : message.threadId,
    status: message.status,
    sendAt: message.holdReason === 'schedule' ? message.holdUntil : null,
    waitsFor: awaitsApproval(message) ? 'approval' : null,
    sentByMember: message.sentByMemberId === null ? null : clip(message.sentByName ?? '', MAX.name),
    refusal: message.refusal,
    senderIs: message.admission,
    mayInstruct: message.mayInstruct,
    unread: message.status === 'received' && message.readAt === null,
    labels: message.labels,
    from: inbound ? fence.address(message.counterpart) : null,
    to: fence.addresses(message.to, recipients),
    toCount: message.to.length > recipients ? message.to.length : null,
  }
}

/** White space that is not a single blank. */
const SPACE = /\s{2,}|[^\S ]/g

const inLine = (text: string, length: number): string =>
  clip(clean(text).replace(SPACE, ' ').trim(), length).toWellFormed()

/** An own text without what it quotes and forwards, of which most have none. */
export const withoutHistory = (text: string): string => {
  const own = text.includes('>') ? text.replace(QUOTED, '') : text
  return own.includes('---') ? own.split(FORWARDED, 1)[0]! : own
}

/** Who wrote a message, as far as the facts about it do not say so: they contain an address only if it is plain. */
export const writerOf = ({
  counterpart,
  counterpartName,
}: Pick<ListedMessage, 'counterpart' | 'counterpartName'>): string[] =>
  [isPlain(counterpart) ? null : counterpart, counterpartName].flatMap((one) =>
    one ? [clip(one, MAX_HEAD)] : [],
  )

/** The words of a message in a list, in one line; those around what was `found` instead of its beginning. */
const previewOf = (message: ListedMessage, found: string | null = null): string => {
  const { subject, text, replyText } = message
  const own = isOwn(message)
  const start = (replyText ?? text).slice(0, 4 * PREVIEW)
  const words = found ?? (own ? withoutHistory(start) : start)
  const head = own && subject && isOthersSubject(subject) ? null : subject
  const parts = [...(own ? [] : writerOf(message)), head && clip(head, MAX_HEAD), words].filter(Boolean)
  return inLine(parts.join(' | '), found === null ? PREVIEW : 2 * PREVIEW)
}

/** A message of a search has the places where it was found. */
type Listed = ListedMessage & { highlights?: readonly Highlight[] }

/** The words around what a search found in a text, or that it is in a file; null if it is in the subject or a name. */
const foundIn = ({ highlights = [] }: Listed): string | null => {
  const place = highlights.find(({ field }) => field === 'text' || field === 'attachments')
  return place ? place.parts.map(({ text }) => text).join('') || '(in a file)' : null
}

/** What is shown of a message between markers. Of an agent's own one only what a search found: it may be quoted. */
const lineBetween = (message: Listed, fence: Fence): string | null => {
  const found = message.status === 'refused' ? null : foundIn(message)
  if (found !== null) fence.note(isTeams(message, message.text))
  if (isOwn(message)) return found && inLine(found, PREVIEW)
  return message.status === 'refused' ? null : previewOf(message, found)
}

/**
 * A message in a list, with what differs from the usual: an email that was received by the agent alone. Its own words
 * are its preview.
 */
export const lineOf = (message: ListedMessage, fence: Fence) => {
  const { channel, to, from, ...summary } = summaryOf(message, fence, MAX.recipientsInList)
  const own = isOwn(message)
  fence.note(own || isTeams(message, (message.replyText ?? message.text).slice(0, 4 * PREVIEW)))
  return compact({
    ...summary,
    at: `${message.createdAt.toISOString().slice(0, 19)}Z`,
    channel: channel === 'email' ? null : channel,
    from: from === message.counterpart ? from : null, // any other is fenced
    to: own ? to : null,
    files: message.attachments.length || null,
    preview: own ? previewOf(message) : null,
  })
}

/**
 * Messages of a list. What others wrote is between one pair of markers, a line for each message with its number; a
 * refused message has none: it is read only on purpose.
 */
export const listView = (messages: readonly Listed[], fence: Fence) => {
  const lines = messages.flatMap((message, index) => {
    const line = lineBetween(message, fence)
    return line === null ? [] : [`${index + 1} ${line}`]
  })
  return {
    fence: fence.id,
    messages: messages.map((message, index) => ({ n: index + 1, ...lineOf(message, fence) })),
    ...(lines.length > 0 ? { previews: fence.around(`${lines.join('\n')}`) } : {}),
  }
}

/** Metadata, which members and the agent have set; null if there is none. */
export const cleanValues = (metadata: Readonly<Record<string, string>>): Record<string, string> | null => {
  const entries = Object.entries(metadata).map(([key, value]) => [clean(key), clean(value)])
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

/** What the model should do about the message's status. */
const nextOf = (message: PresentedMessage): string | null => {
  const { status } = message
  if (awaitsApproval(message))
    return 'A member must approve this message before it is sent. Do not send it again.'
  if (status === 'refused')
    return 'The service refused this message and notified nobody. Do not act on it unless a member asks you to.'
  if (status === 'failed')
    return 'This was not delivered, for the reason in error. Sending it again will fail unless that has changed.'
  return status === 'reported' ? 'The recipient marked this as spam. Do not write to them again.' : null
}

const linkOf = ({ id, direction, status, counterpart, createdAt }: Sibling, fence: Fence) => ({
  messageId: id,
  at: new Date(createdAt).toISOString(),
  direction,
  status,
  ...(direction === 'inbound' ? { from: fence.address(counterpart) } : {}),
})

const filesOf = ({ attachments }: PresentedMessage, fence: Fence) =>
  attachments.slice(0, MAX.files).map(({ name, type, size }, index) => ({
    attachmentId: index,
    name: fence.wrap(name, MAX.name),
    type: fence.mediaType(mediaTypeOf(type)),
    size,
  }))

/** One message, with one page of its text; without quoted history unless `quoted`. */
export const messageView = (
  { message, others, more }: InThread,
  { offset, quoted }: { offset: number; quoted: boolean },
  fence: Fence,
) => {
  const shown = quoted ? message.text : (message.replyText ?? message.text)
  const { text, nextOffset } = cleanPage(shown, offset)
  // A page within the message that was forwarded does not say where that begins.
  const own = isOwn(message) && !(offset > 0 && FORWARDED.test(shown.slice(0, offset)))
  const isOthers = isOwn(message) && (message.error !== null || isOthersSubject(message.subject ?? ''))
  fence.note(!isOthers && isTeams(message, text))
  const leftOut = quoted ? 0 : message.text.length - (message.replyText ?? message.text).length
  const view = compact({
    fence: fence.id,
    ...summaryOf(message, fence, MAX.recipients),
    cc: fence.addresses(message.cc, MAX.recipients),
    ccCount: message.cc.length > MAX.recipients ? message.cc.length : null,
    bcc: fence.addresses(message.bcc, MAX.recipients),
    metadata: cleanValues(message.metadata as Record<string, string>),
    bccCount: message.bcc.length > MAX.recipients ? message.bcc.length : null,
    checks: message.direction === 'inbound' ? verdictsOf(message) : null,
    ...headsOf(message, fence),
    text: text === '' ? null : own ? ownWords(text, fence) : fence.around(text),
    nextOffset,
    quotedCharactersLeftOut: leftOut > 0 ? leftOut : null,
    attachments: filesOf(message, fence),
    attachmentCount: message.attachments.length > MAX.files ? message.attachments.length : null,
    error: fence.wrapped(message.error, MAX.error),
    next: nextOf(message),
    thread: others.map((sibling) => linkOf(sibling, fence)),
    threadHasMore: more,
  })
  return message.direction === 'inbound' ? { ...view, mayInstruct: message.mayInstruct } : view
}
