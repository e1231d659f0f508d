import type { InboundAttachment } from '../../core/channel/inbound.ts'
import type { ChannelKind } from '../../core/channels.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Metadata } from '../../core/rules.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import type { Viewer } from '../../workspace/index.ts'
import { messageOf, type ReadDeps } from '../reading/read.ts'
import type { CatchAllLookup } from '../receiving/address-lookup.ts'
import type { Writer } from '../stored/author.ts'
import type { MessageWithFiles } from '../stored/row.ts'

export interface IntentDeps extends ReadDeps {
  caught: CatchAllLookup
}

/** The sending agent, the workspace of the caller, which may or may not have that agent, and the caller with the token. */
export interface Sender {
  agentId: string
  workspaceId: string
  by: Writer
  sentWith: SentWith
}

export type SentWith = Pick<Viewer, 'requestId' | 'tokenId'>

/**
 * A request to send: a reply (`replyTo`), a forward (`forward` with `to`), or a new conversation (`channel`
 * with `to`).
 */
export interface SendInput {
  /** Required unless `html` is given, from which it is made then. */
  text?: string | undefined
  /** HTML beside the text, for email. */
  html?: string | undefined
  replyTo?: string | undefined
  /** Reply to everybody whom the message names, not only to its sender. */
  replyAll?: boolean | undefined
  forward?: string | undefined
  channel?: ChannelKind | undefined
  to?: readonly string[] | undefined
  cc?: readonly string[] | undefined
  /** Recipients whom no copy names. */
  bcc?: readonly string[] | undefined
  subject?: string | undefined
  /** The agent's own key of the thread, which its later messages have too. */
  conversation?: string | undefined
  /** What programs keep with it; no mail contains it. */
  metadata?: Metadata | undefined
  /** When to send it. Left out: at once. */
  sendAt?: Date | undefined
  /** Attachments, in addition to those of a forwarded message. */
  attachments?: readonly InboundAttachment[] | undefined
}

/**
 * The message to send, its recipients and its conversation, before any check against the channel's limits.
 */
export interface SendIntent {
  mode: Mode
  channel: ChannelKind
  to: readonly string[]
  cc: readonly string[]
  bcc: readonly string[]
  subject: string | null
  /** The message that is replied to or forwarded. */
  original: MessageWithFiles | null
  counterpartName: string | null
  /** The message that is forwarded, as it follows the text; null if none is. */
  quoted: string | null
}

export type Mode = 'reply' | 'forward' | 'start'

const modeOf = ({ replyTo, replyAll, forward, channel, to }: SendInput): Mode => {
  const named = [replyTo, forward, channel].filter((field) => field !== undefined)
  if (named.length === 0 && to !== undefined)
    throw invalidInput(
      'channel',
      'is required to write to someone; to reply, use replyTo, and to forward, forward',
    )
  if (named.length !== 1)
    throw invalidInput(
      'replyTo',
      'must contain exactly one of replyTo (to reply), forward (to forward) and channel (to start)',
    )
  if (replyAll && replyTo === undefined) throw invalidInput('replyAll', 'is only for replies')
  return replyTo !== undefined ? 'reply' : forward !== undefined ? 'forward' : 'start'
}

const findOriginal = async (
  deps: ReadDeps,
  sender: Sender,
  field: 'replyTo' | 'forward',
  id: string,
): Promise<MessageWithFiles> => {
  const found = await deps.reads.add(deps, { agentId: sender.agentId, messageId: id })
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
 * Returns where replies go: the sender's reply address, which for a group message is the group. For a message
 * of the agent's own, its recipients.
 */
const answerTo = (original: MessageWithFiles): string[] =>
  original.direction === 'outbound' ? original.to : [original.replyAddress ?? original.counterpart]

/** Maximum numbers of recipients, as `core/rules.ts` has them. */
const [MAX_TO, MAX_CC] = [10, 50]

/** The addresses at which the agent gets mail: its own, and those of the message that nobody has and it catches. */
const addressesOf = async (
  { prisma, caught }: IntentDeps,
  { agentId, to, cc }: MessageWithFiles,
): Promise<string[]> => {
  const found = await prisma.address.findMany({ where: { agentId, channel: 'email' } })
  const own = found.map(({ value }) => lowerCase(value))
  const catches = async (address: string) =>
    own.includes((await caught.add({ address, certainly: false })) ?? '')
  const named = [...to, ...cc].map(lowerCase)
  const caughtHere = await Promise.all(named.map(catches))
  return [...own, ...named.filter((_, index) => caughtHere[index])]
}

/**
 * Returns the recipients of a reply to all: where replies go and the other recipients of the message, and in copy those
 * who had a copy that the others know of, without the addresses of the agent itself. Channels other than email have no others.
 */
const everybodyOf = async (
  deps: IntentDeps,
  original: MessageWithFiles,
  { to: named, cc: copied = [] }: SendInput,
): Promise<Pick<SendIntent, 'to' | 'cc'>> => {
  if (named) throw invalidInput('to', 'cannot be combined with replyAll')
  const answer = answerTo(original)
  if (original.channel !== 'email') return { to: answer, cc: copied }
  const seen = new Set(await addressesOf(deps, original))
  const others = (addresses: readonly string[]) =>
    addresses.filter((address) => !seen.has(lowerCase(address)) && seen.add(lowerCase(address)))
  const [to, cc] = [others([...answer, ...original.to]), others([...original.cc, ...copied])]
  const everybody = [...to, ...cc]
  if (everybody.length > MAX_TO + MAX_CC)
    throw invalidInput(
      'replyAll',
      `the message names ${everybody.length} others; at most ${MAX_TO + MAX_CC} can be written to`,
    )
  return to.length === 0
    ? { to: everybody.slice(0, MAX_TO), cc: everybody.slice(MAX_TO) }
    : { to: to.slice(0, MAX_TO), cc: [...to.slice(MAX_TO), ...cc] }
}

const planReply = async (deps: IntentDeps, sender: Sender, input: SendInput): Promise<SendIntent> => {
  const original = await findOriginal(deps, sender, 'replyTo', input.replyTo!)
  const { to, cc } = input.replyAll
    ? await everybodyOf(deps, original, input)
    : { to: input.to ?? answerTo(original), cc: input.cc ?? [] }
  if (to.length === 0 || to[0] === '') throw invalidInput('replyTo', 'the message has no sender to reply to')
  return {
    mode: 'reply',
    channel: original.channel as ChannelKind,
    to,
    cc,
    bcc: input.bcc ?? [],
    subject: input.subject ?? prefixed('Re', original.subject),
    original,
    counterpartName: input.to || lowerCase(to[0]!) !== original.counterpart ? null : original.counterpartName,
    quoted: null,
  }
}

const forwardedHeadersOf = (original: MessageWithFiles): string => {
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
    cc: input.cc ?? [],
    bcc: input.bcc ?? [],
    subject: input.subject ?? prefixed('Fwd', original.subject),
    original,
    counterpartName: null,
    quoted: `${forwardedHeadersOf(original)}\n\n${original.text}`,
  }
}

const planStart = (input: SendInput): SendIntent => {
  if (!input.to) throw invalidInput('to', 'is required to start a conversation')
  const { channel, to, cc = [], bcc = [], subject = null } = input
  return {
    mode: 'start',
    channel: channel!,
    to,
    cc,
    bcc,
    subject,
    original: null,
    counterpartName: null,
    quoted: null,
  }
}

/** Resolves a send request. Throws `invalid_input` naming the field. */
export const sendIntentOf = async (
  deps: IntentDeps,
  sender: Sender,
  input: SendInput,
): Promise<SendIntent> => {
  if (input.text === undefined && input.html === undefined) throw invalidInput('text', 'is required')
  const mode = modeOf(input)
  if (mode === 'reply') return planReply(deps, sender, input)
  return mode === 'forward' ? planForward(deps, sender, input) : planStart(input)
}
