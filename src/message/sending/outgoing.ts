import { v7 as newId } from 'uuid'
import type { Blobs } from '../../blob/index.ts'
import type { Channel, Channels } from '../../channel/channel.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import { withoutInvisible } from '../../core/text/invisible.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { OutsideTransaction } from '../../db/transaction.ts'
import { contentOf, ensureFits, withQuoted } from '../approval/content.ts'
import { checkSendAt } from '../approval/hold.ts'
import { type AttachmentView, newMessage, type Unplaced } from '../stored/row.ts'
import {
  type IntentDeps,
  type Sender,
  type SendInput,
  type SendIntent,
  type SentWith,
  sendIntentOf,
} from './send-intent.ts'

export interface OutgoingDeps extends IntentDeps {
  channels: Channels
  clock: Clock
  mailDomain: string
  blobs: Blobs
  outsideTransaction: OutsideTransaction
}

/**
 * An outgoing message that is ready to be stored. Its `addressId` is the address at which the message it
 * replies to or forwards arrived.
 */
export interface Outgoing {
  message: Unplaced
  recipients: string[]
  files: AttachmentView[]
  attachments: InboundAttachment[]
  /** Ids of the objects of attachments whose contents were written to the object store; null for the others. */
  blobs?: readonly (string | null)[]
  /** The token and the request of the member who sends it; null when the agent does. */
  sentWith: SentWith | null
}

/** Maps each recipient's normalized address to its spelling for sending, without duplicates. */
const spellEach = (
  channel: Channel,
  recipients: readonly string[],
  fieldOf: (index: number) => string,
): Map<string, string> => {
  const spelled = recipients.map((recipient, index): [string, string] => {
    try {
      return [channel.normalize(recipient), (channel.spell ?? channel.normalize)(recipient)]
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid_input')
        throw invalidInput(fieldOf(index), error.message.replace(/^\w+: /, ''))
      throw error
    }
  })
  // Of two spellings of the same address the first is used, in its position.
  return new Map([...spelled, ...spelled.toReversed()])
}

const ensureCopies = ({ kind, limits }: Channel, { cc, bcc }: SendIntent): void => {
  if (limits.cc) return
  if (cc.length > 0) throw invalidInput('cc', `the ${kind} channel does not support Cc recipients`)
  if (bcc.length > 0) throw invalidInput('bcc', `the ${kind} channel does not support Bcc recipients`)
}

/** Each recipient once: whom the message names gets no blind copy. */
const recipientsOf = (channel: Channel, plan: SendIntent, { to: named, cc: copied }: SendInput) => {
  ensureCopies(channel, plan)
  const to = spellEach(channel, plan.to, (index) => (named ? `to[${index}]` : 'replyTo'))
  const cc = spellEach(channel, plan.cc, (index) => (copied ? `cc[${index}]` : 'replyTo'))
  for (const normalized of to.keys()) cc.delete(normalized)
  const bcc = spellEach(channel, plan.bcc, (index) => `bcc[${index}]`)
  for (const normalized of [...to.keys(), ...cc.keys()]) bcc.delete(normalized)
  return { to: [...to.values()], cc: [...cc.values()], bcc: [...bcc.values()] }
}

/** Returns all message ids of the conversation, oldest first: the References of a reply (RFC 5322 3.6.4). */
export const conversationOf = ({
  threadReferences,
  threadMessageId,
  internetMessageId,
}: Pick<Message, 'threadReferences' | 'threadMessageId' | 'internetMessageId'>): string[] => [
  ...new Set([...threadReferences, ...[threadMessageId, internetMessageId].filter((id) => id !== null)]),
]

/**
 * Returns the thread to continue; null in a chat, where it is the thread of the last message with the
 * counterpart.
 */
const threadIdOf = (channel: Channel, { mode, original }: SendIntent, id: string): string | null =>
  channel.threads === 'replies' || mode === 'reply' ? (original?.threadId ?? id) : null

/** What is in the object store is read outside the request's transaction, which has written nothing yet. */
const attachmentsToForward = async (
  { prisma, blobs, outsideTransaction }: OutgoingDeps,
  { mode, original }: SendIntent,
): Promise<InboundAttachment[]> => {
  if (mode !== 'forward' || !original) return []
  const where = { messageId: original.id, agentId: original.agentId }
  const files = await prisma.attachment.findMany({ where, orderBy: { index: 'asc' } })
  const fill = () => Promise.all(files.map((file) => blobs.filled(file)))
  return files.some(({ blobId }) => blobId !== null) ? outsideTransaction(fill) : fill()
}

const attachmentsOf = async (
  deps: OutgoingDeps,
  channel: Channel,
  plan: SendIntent,
  { attachments: own = [] }: SendInput,
): Promise<InboundAttachment[]> => {
  const passedOn = await attachmentsToForward(deps, plan)
  if (channel.limits.files) return [...passedOn, ...own]
  if (own.length > 0)
    throw invalidInput('attachments', `the ${channel.kind} channel does not support attachments`)
  if (passedOn.length > 0)
    throw invalidInput('forward', `the ${channel.kind} channel cannot forward attachments`)
  return []
}

/**
 * Turns a send request into a message of the agent. Throws `invalid_input` naming the field, or `conflict`
 * when the service does not have the channel.
 */
export const outgoingOf = async (deps: OutgoingDeps, sender: Sender, input: SendInput): Promise<Outgoing> => {
  if (input.sendAt) checkSendAt(input.sendAt, deps.clock.now())
  const plan = await sendIntentOf(deps, sender, input)
  const { mode } = plan
  const channel = deps.channels[plan.channel]
  if (!channel) throw new AppError('conflict', `This service has no ${plan.channel} channel.`)
  const own = await contentOf(channel, input, sender.agentId)
  const { text, html } = withQuoted(own, plan.quoted)
  ensureFits(channel, text)
  const { to, cc, bcc } = recipientsOf(channel, plan, input)
  const attachments = await attachmentsOf(deps, channel, plan, input)
  if (attachments.length > 0) channel.checkFiles?.(attachments)
  const id = newId()
  const threadId = threadIdOf(channel, plan, id)
  const answered = mode === 'reply' ? plan.original : null
  const { mail: isMail } = CHANNELS[plan.channel]
  return {
    recipients: [...to, ...cc, ...bcc],
    sentWith: sender.by.memberId === null ? null : sender.sentWith,
    attachments,
    files: attachments.map(({ name, type, content }) => ({ name, type, size: content.byteLength })),
    message: newMessage({
      id,
      workspaceId: sender.workspaceId,
      agentId: sender.agentId,
      addressId: plan.original?.addressId ?? null,
      channel: plan.channel,
      direction: 'outbound',
      status: 'sending',
      counterpart: to.join(', '),
      counterpartName: plan.counterpartName,
      to,
      cc,
      bcc,
      subject: channel.limits.subject && plan.subject !== null ? withoutInvisible(plan.subject) : null,
      text,
      html,
      replyText: plan.quoted === null ? null : own.text,
      internetMessageId: isMail ? `${id}@${deps.mailDomain}` : null,
      threadMessageId: answered && isMail ? answered.internetMessageId : null,
      threadReferences:
        answered && isMail
          ? conversationOf(answered).filter((reference) => reference !== answered.internetMessageId)
          : [],
      threadId,
      conversation: input.conversation ?? null,
      metadata: { ...input.metadata },
      replyToId: answered?.id ?? null,
      forwardOfId: mode === 'forward' ? plan.original!.id : null,
      checks: [],
      // Nobody has to do anything about it before it is answered.
      handled: threadId === id,
      sentByMemberId: sender.by.memberId,
      sentByName: sender.by.name,
      sendAt: input.sendAt ?? null,
      createdAt: deps.clock.now(),
    }),
  }
}
