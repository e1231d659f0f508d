import { v7 as newId } from 'uuid'
import type { Channel, ChannelKind, InboundAttachment } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { codePoints } from '../core/rules.ts'
import type { Db } from '../db/client.ts'
import type { Agent, Message } from '../db/generated/prisma/client.ts'
import type { AttachmentView } from './present.ts'

/** What a send asks for: to answer (`replyTo`), to pass on (`forward` with `to`), or to start (`channel` with `to`). */
export interface SendInput {
  text: string
  replyTo?: string | undefined
  forward?: string | undefined
  channel?: ChannelKind | undefined
  to?: readonly string[] | undefined
  cc?: readonly string[] | undefined
  subject?: string | undefined
  /** Files to send along, behind those that a forward carries. */
  attachments?: readonly InboundAttachment[] | undefined
}

export interface DraftDeps extends Db {
  clock: Clock
  channels: Partial<Record<ChannelKind, Channel>>
  mailDomain: string
}

/** A message to send, ready to be stored. */
export interface Draft {
  message: Message
  recipients: string[]
  files: AttachmentView[]
  attachments: InboundAttachment[]
}

interface Plan {
  channel: ChannelKind
  to: readonly string[]
  subject: string | null
  /** The message that it answers or passes on. */
  original: Message | null
  counterpartName: string | null
  text: string
}

type Mode = 'reply' | 'forward' | 'start'

/** Whose messages with whom, through which address. */
interface Place {
  agentId: string
  addressId: string
  counterpart: string
}

const modeOf = ({ replyTo, forward, channel }: SendInput): Mode => {
  const named = [replyTo, forward, channel].filter((field) => field !== undefined)
  if (named.length !== 1)
    throw invalidInput('replyTo', 'name exactly one of replyTo (to answer), forward (to pass on) and channel (to start)')
  return replyTo !== undefined ? 'reply' : forward !== undefined ? 'forward' : 'start'
}

const findOriginal = async ({ prisma }: Db, agent: Agent, field: 'replyTo' | 'forward', id: string): Promise<Message> => {
  const original = await prisma.message.findFirst({ where: { id, agentId: agent.id } })
  if (!original) throw invalidInput(field, 'is no message of this agent')
  return original
}

const prefixed = (prefix: 'Re' | 'Fwd', subject: string | null): string => {
  const had = (subject ?? '').trim()
  const pattern = prefix === 'Re' ? /^re\s*:/i : /^(fwd?|wg)\s*:/i
  return pattern.test(had) ? had : `${prefix}: ${had}`.trim()
}

/** Its sender, or the group in which they wrote it; of a message of the agent's own, its recipients. */
const answerTo = ({ channels }: DraftDeps, original: Message): string[] => {
  if (original.direction === 'outbound') return original.to
  return channels[original.channel as ChannelKind]?.answersTo?.(original) ?? [original.counterpart]
}

const planReply = async (deps: DraftDeps, agent: Agent, input: SendInput): Promise<Plan> => {
  const original = await findOriginal(deps, agent, 'replyTo', input.replyTo!)
  const to = input.to ?? answerTo(deps, original)
  if (to.length === 0 || to[0] === '') throw invalidInput('replyTo', 'the message names no sender to answer')
  return {
    channel: original.channel as ChannelKind,
    to,
    subject: input.subject ?? prefixed('Re', original.subject),
    original,
    counterpartName: input.to || to[0] !== original.counterpart ? null : original.counterpartName,
    text: input.text,
  }
}

const headOf = (original: Message): string => {
  const from = original.counterpartName ? `${original.counterpartName} <${original.counterpart}>` : original.counterpart
  return [
    '---------- Forwarded message ----------',
    original.direction === 'inbound' ? `From: ${from}` : null,
    `Date: ${original.createdAt.toUTCString()}`,
    original.subject === null ? null : `Subject: ${original.subject}`,
    `To: ${original.to.join(', ')}`,
    original.cc.length > 0 ? `Cc: ${original.cc.join(', ')}` : null,
  ]
    .filter((line) => line !== null)
    .join('\n')
}

const planForward = async (deps: DraftDeps, agent: Agent, input: SendInput): Promise<Plan> => {
  if (!input.to) throw invalidInput('to', 'name whom to pass the message on to')
  const original = await findOriginal(deps, agent, 'forward', input.forward!)
  return {
    channel: original.channel as ChannelKind,
    to: input.to,
    subject: input.subject ?? prefixed('Fwd', original.subject),
    original,
    counterpartName: null,
    text: `${input.text}\n\n${headOf(original)}\n\n${original.text}`,
  }
}

const planStart = (input: SendInput): Plan => {
  if (!input.to) throw invalidInput('to', 'name whom to write to')
  return { channel: input.channel!, to: input.to, subject: input.subject ?? null, original: null, counterpartName: null, text: input.text }
}

/** Where an agent may write from, the primary address of each channel first. */
export interface Sender extends Agent {
  addresses: { id: string; channel: string }[]
}

/** The address that it goes out from: the one that the original came to while the agent has it, else the channel's primary one. */
const senderAddress = ({ addresses }: Sender, plan: Plan): { id: string } => {
  const ofChannel = addresses.filter(({ channel }) => channel === plan.channel)
  const address = ofChannel.find(({ id }) => id === plan.original?.addressId) ?? ofChannel[0]
  if (!address) throw new AppError('conflict', `The agent has no address on the channel ${plan.channel}.`)
  return address
}

const normalizeEach = (channel: Channel, field: 'to' | 'cc', recipients: readonly string[]): string[] =>
  recipients.map((recipient, index) => {
    try {
      return channel.normalize(recipient)
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid_input')
        throw invalidInput(`${field}[${index}]`, error.message.replace(/^\w+: /, ''))
      throw error
    }
  })

const recipientsOf = (channel: Channel, plan: Plan, cc: readonly string[]) => {
  if (cc.length > 0 && !channel.limits.cc) throw invalidInput('cc', `the channel ${channel.kind} has no copies`)
  const to = [...new Set(normalizeEach(channel, 'to', plan.to))]
  const copies = [...new Set(normalizeEach(channel, 'cc', cc))].filter((copy) => !to.includes(copy))
  return { to, cc: copies }
}

/** Every id of the conversation so far, oldest first: what a reply's References says (RFC 5322 3.6.4). */
export const conversationOf = ({ threadReferences, threadMessageId, internetMessageId }: Message): string[] => [
  ...new Set([...threadReferences, ...[threadMessageId, internetMessageId].filter((id) => id !== null)]),
]

/** The conversation that it goes on with. */
const threadIdOf = async ({ prisma }: Db, channel: Channel, plan: Plan, mode: Mode, place: Place): Promise<string | null> => {
  if (channel.threads === 'replies' || mode === 'reply') return plan.original?.threadId ?? null
  const last = await prisma.message.findFirst({
    where: { ...place, channel: { in: ['sms', 'telegram'] } }, // to the letter what `message_counterpart_idx` is for
    orderBy: { createdAt: 'desc' },
    select: { threadId: true },
  })
  return last?.threadId ?? null
}

const attachmentsToForward = async ({ prisma }: Db, { forward }: SendInput): Promise<InboundAttachment[]> =>
  forward === undefined ? [] : prisma.attachment.findMany({ where: { messageId: forward }, orderBy: { index: 'asc' } })

const attachmentsOf = async (deps: Db, channel: Channel, input: SendInput): Promise<InboundAttachment[]> => {
  const [own = [], passedOn] = [input.attachments, await attachmentsToForward(deps, input)]
  if (channel.limits.files) return [...passedOn, ...own]
  if (own.length > 0) throw invalidInput('attachments', `the channel ${channel.kind} sends no files`)
  if (passedOn.length > 0) throw invalidInput('forward', `the channel ${channel.kind} can't pass its files on`)
  return []
}

/** Turns what is asked into a message of the agent's. Throws `invalid_input` naming the field, or `conflict` without an address. */
export const draft = async (deps: DraftDeps, agent: Sender, input: SendInput): Promise<Draft> => {
  const mode = modeOf(input)
  const plan =
    mode === 'reply' ? await planReply(deps, agent, input) : mode === 'forward' ? await planForward(deps, agent, input) : planStart(input)
  const address = senderAddress(agent, plan)
  const channel = deps.channels[plan.channel]
  if (!channel) throw new AppError('conflict', `This service has no channel ${plan.channel}.`)
  if (codePoints(plan.text) > channel.limits.text)
    throw invalidInput('text', `must be at most ${channel.limits.text} characters long on the channel ${channel.kind}`)
  const { to, cc } = recipientsOf(channel, plan, input.cc ?? [])
  const place = { agentId: agent.id, addressId: address.id, counterpart: to.join(', ') }
  const attachments = await attachmentsOf(deps, channel, input)
  const id = newId()
  const answered = mode === 'reply' ? plan.original : null
  const isMail = plan.channel === 'email'
  return {
    recipients: [...to, ...cc],
    attachments,
    files: attachments.map(({ name, type, content }) => ({ name, type, size: content.byteLength })),
    message: {
      id,
      workspaceId: agent.workspaceId,
      agentId: agent.id,
      addressId: address.id,
      channel: plan.channel,
      direction: 'outbound',
      status: 'sending',
      refusal: null,
      admission: null,
      error: null,
      counterpart: place.counterpart,
      counterpartName: plan.counterpartName,
      to,
      cc,
      subject: channel.limits.subject ? plan.subject : null,
      text: plan.text,
      replyText: plan.text === input.text ? null : input.text,
      internetMessageId: isMail ? `${id}@${deps.mailDomain}` : null,
      threadMessageId: answered && isMail ? answered.internetMessageId : null,
      threadReferences: answered && isMail ? conversationOf(answered).filter((reference) => reference !== answered.internetMessageId) : [],
      threadId: (await threadIdOf(deps, channel, plan, mode, place)) ?? id,
      replyToId: answered?.id ?? null,
      forwardOfId: mode === 'forward' ? plan.original!.id : null,
      checks: [],
      fingerprint: null,
      createdAt: deps.clock.now(),
    },
  }
}
