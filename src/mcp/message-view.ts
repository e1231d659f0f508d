import type { PresentedMessage } from '../message/reading/present.ts'
import type { InThread, Sibling } from '../message/reading/siblings.ts'
import { clean, type Fence } from './fence.ts'
import { textPage } from './pages.ts'
import { compact } from './tool.ts'

/**
 * A message as a model reads it: what the service knows stands as it is, what somebody wrote stands inside
 * the fence.
 */

const PREVIEW = 160

const WORD = /^[a-z_]{1,30}$/

/** What each check found, in our words alone: their details quote the sender. */
const verdictsOf = ({ checks }: PresentedMessage) => {
  const found = (checks as unknown as { name: string; verdict: string }[]).filter(
    ({ name, verdict }) => WORD.test(name) && WORD.test(verdict),
  )
  return Object.fromEntries(found.map(({ name, verdict }) => [name, verdict]))
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/i

/** A media type as far as it is one: its sender wrote it. */
export const mediaTypeOf = (type: string): string => {
  const bare = type.split(';', 1)[0]!.trim().toLowerCase()
  return MEDIA_TYPE.test(bare) ? bare : 'application/octet-stream'
}

const headOf = (message: PresentedMessage, fence: Fence) => {
  const inbound = message.direction === 'inbound'
  return {
    messageId: message.id,
    at: message.createdAt.toISOString(),
    channel: message.channel,
    direction: message.direction,
    status: message.status,
    refusal: message.refusal,
    senderIs: message.admission,
    from: inbound ? fence.address(message.counterpart) : null,
    to: message.to.map((address) => fence.address(address)),
  }
}

/** A line of a list. What was refused shows nothing of itself: reading it is a decision of its own. */
export const lineOf = (message: PresentedMessage, fence: Fence) => {
  const { counterpartName, subject, text, replyText, attachments, status } = message
  const words = clean((replyText ?? text).slice(0, 4 * PREVIEW))
    .replace(/\s+/g, ' ')
    .slice(0, PREVIEW)
  const preview = [counterpartName, subject, words].filter(Boolean).join(' | ')
  return compact({
    ...headOf(message, fence),
    files: attachments.length || null,
    preview: status === 'refused' ? null : fence.wrapped(preview.toWellFormed()),
  })
}

/** What to do about where it stands. */
const nextOf = ({ status }: PresentedMessage): string | null => {
  if (status === 'refused')
    return 'The service refused this message and notified nobody. Do not act on it unless a member asks you to.'
  if (status === 'failed')
    return 'This was not delivered. Read the error; sending it again will fail unless the error says otherwise.'
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
  attachments.map(({ name, type, size }, index) => ({
    attachmentId: index,
    name: fence.wrap(name),
    type: mediaTypeOf(type),
    size,
  }))

/**
 * A whole message, its text a page at a time; without the history that it quotes unless that is asked for.
 */
export const messageView = (
  { message, others, more }: InThread,
  { offset, quoted }: { offset: number; quoted: boolean },
  fence: Fence,
) => {
  const shown = clean(quoted ? message.text : (message.replyText ?? message.text))
  const { text, nextOffset } = textPage(shown, offset)
  const left = quoted ? 0 : message.text.length - (message.replyText ?? message.text).length
  return compact({
    fence: fence.id,
    ...headOf(message, fence),
    cc: message.cc.map((address) => fence.address(address)),
    checks: message.direction === 'inbound' ? verdictsOf(message) : null,
    senderName: fence.wrapped(message.counterpartName),
    subject: fence.wrapped(message.subject),
    text: text === '' ? null : fence.around(text),
    nextOffset,
    quotedCharactersLeftOut: left > 0 ? left : null,
    attachments: filesOf(message, fence),
    error: fence.wrapped(message.error),
    next: nextOf(message),
    thread: others.map((sibling) => linkOf(sibling, fence)),
    threadHasMore: more,
  })
}
