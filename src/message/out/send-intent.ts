import type { ChannelKind, InboundAttachment } from '../../channel/channel.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { messageOf, type ReadDeps } from '../reading/read.ts'

/** Who sends: an agent, as far as the workspace of who asks has it. */
export interface Sender {
  agentId: string
  workspaceId: string
}

/**
 * What a send asks for: to answer (`replyTo`), to pass on (`forward` with `to`), or to start (`channel` with
 * `to`).
 */
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

/**
 * What is to be sent, to whom, and what it goes on with; as asked for, before anything is checked against the
 * channel.
 */
export interface SendIntent {
  mode: Mode
  channel: ChannelKind
  to: readonly string[]
  subject: string | null
  /** The message that it answers or passes on. */
  original: Message | null
  counterpartName: string | null
  text: string
}

export type Mode = 'reply' | 'forward' | 'start'

const modeOf = ({ replyTo, forward, channel }: SendInput): Mode => {
  const named = [replyTo, forward, channel].filter((field) => field !== undefined)
  if (named.length !== 1)
    throw invalidInput(
      'replyTo',
      'must contain exactly one of replyTo (to reply), forward (to forward) and channel (to start)',
    )
  return replyTo !== undefined ? 'reply' : forward !== undefined ? 'forward' : 'start'
}

const findOriginal = async (
  { reads }: ReadDeps,
  sender: Sender,
  field: 'replyTo' | 'forward',
  id: string,
): Promise<Message> => {
  const found = await reads.add({ agentId: sender.agentId, messageId: id })
  const original = found.agent_workspace_id === sender.workspaceId ? messageOf(found) : null
  if (!original) throw invalidInput(field, 'is not a message of this agent')
  return original
}

const prefixed = (prefix: 'Re' | 'Fwd', subject: string | null): string => {
  const had = (subject ?? '').trim()
  const pattern = prefix === 'Re' ? /^re\s*:/i : /^(fwd?|wg)\s*:/i
  return pattern.test(had) ? had : `${prefix}: ${had}`.trim()
}

/**
 * Where its sender wants answers, or the group in which they wrote it; of a message of the agent's own, its
 * recipients.
 */
const answerTo = (original: Message): string[] =>
  original.direction === 'outbound' ? original.to : [original.replyAddress ?? original.counterpart]

const planReply = async (deps: ReadDeps, sender: Sender, input: SendInput): Promise<SendIntent> => {
  const original = await findOriginal(deps, sender, 'replyTo', input.replyTo!)
  const to = input.to ?? answerTo(original)
  if (to.length === 0 || to[0] === '') throw invalidInput('replyTo', 'the message has no sender to reply to')
  return {
    mode: 'reply',
    channel: original.channel as ChannelKind,
    to,
    subject: input.subject ?? prefixed('Re', original.subject),
    original,
    counterpartName:
      input.to || to[0]!.toLowerCase() !== original.counterpart ? null : original.counterpartName,
    text: input.text,
  }
}

const headOf = (original: Message): string => {
  const from = original.counterpartName
    ? `${original.counterpartName} <${original.counterpart}>`
    : original.counterpart
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

const planForward = async (deps: ReadDeps, sender: Sender, input: SendInput): Promise<SendIntent> => {
  if (!input.to) throw invalidInput('to', 'is required to forward a message')
  const original = await findOriginal(deps, sender, 'forward', input.forward!)
  return {
    mode: 'forward',
    channel: original.channel as ChannelKind,
    to: input.to,
    subject: input.subject ?? prefixed('Fwd', original.subject),
    original,
    counterpartName: null,
    text: `${input.text}\n\n${headOf(original)}\n\n${original.text}`,
  }
}

const planStart = (input: SendInput): SendIntent => {
  if (!input.to) throw invalidInput('to', 'is required to start a conversation')
  const { channel, to, subject = null, text } = input
  return { mode: 'start', channel: channel!, to, subject, original: null, counterpartName: null, text }
}

/** What a send asks for, as a plan. Throws `invalid_input` naming the field. */
export const sendIntentOf = async (deps: ReadDeps, sender: Sender, input: SendInput): Promise<SendIntent> => {
  const mode = modeOf(input)
  if (mode === 'reply') return planReply(deps, sender, input)
  return mode === 'forward' ? planForward(deps, sender, input) : planStart(input)
}
