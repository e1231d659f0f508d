import { randomUUID } from 'node:crypto'
import type { Channels } from '../channel/channel.ts'
import type { AnswerClaim } from '../core/channel/inbound.ts'
import type { Outbound } from '../core/channel/outbound.ts'
import { readReply, replyCode, shownCode } from '../core/channel/reply-code.ts'
import { CHANNEL_KINDS, CHANNELS, type ChannelKind } from '../core/channels.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { defanged } from '../core/text/defanged.ts'
import type { Db } from '../db/client.ts'
import type { Address, Member } from '../db/generated/prisma/client.ts'
import { mustSignIn, type RateLimits } from '../workspace/index.ts'
import { findOptOuts } from './opt-out.ts'

/**
 * Asking members in the chats where they have proven who they are, from the agent's own address there, and reading what they reply.
 * A message is tried once and not stored: what is asked is in the web application too.
 */

export interface ChatDeps extends Db {
  clock: Clock
  channels: Channels
  log: Logger
  /** Key that codes are made with, the same in every process. */
  approvalKey: Uint8Array
  rates: Pick<RateLimits, 'takeAll'>
}

/** What is asked in a chat. */
export interface Asked {
  id: string
  agentId: string
  /** In words of the service: who asks what. */
  intro: string
  /** What the agent wrote, which is shown as data. */
  text: string
  /** The answers to choose from; empty for an answer in words. */
  options: readonly string[]
}

/** Channels on which members have identities. */
const CHATS = CHANNEL_KINDS.filter((kind) => CHANNELS[kind].identity !== null)
/** Time in milliseconds within which the channel must accept a message. */
const TIMEOUT_MS = 12_000
/** Characters of what the agent wrote that a message contains: the rest is in the web application. */
const MAX_TEXT = { sms: 700, telegram: 3_000 } as const

const clipped = (text: string, max: number): string => {
  const all = [...text]
  return all.length > max ? `${all.slice(0, max - 1).join('')}…` : text
}

/** Says how to answer. Buttons need no words, but a phone shows none in its notification. */
const howTo = (kind: ChannelKind, code: string, options: readonly string[]): string => {
  if (kind === 'telegram')
    return options.length > 0
      ? `Choose an answer. ${shownCode(code)}`
      : `Reply to this message to answer. ${shownCode(code)}`
  if (options.length === 0) return `To answer, reply: ${code} and your answer`
  const numbered = options.map((option, index) => `${index + 1} ${defanged(option)}`)
  return `${numbered.join('\n')}\nTo answer, reply: ${code} 1${options.length > 2 ? `, …, ${code} ${options.length}` : ` or ${code} 2`}`
}

const outboundOf = (
  { kind, from, to }: { kind: ChannelKind; from: string; to: string },
  { intro, text, options }: Asked,
  code: string,
  createdAt: Date,
): Outbound => {
  const max = kind === 'sms' ? MAX_TEXT.sms : MAX_TEXT.telegram
  const words = [intro, clipped(defanged(text), max), howTo(kind, code, options)].join('\n\n')
  return {
    ...{ from: { address: from, name: null }, envelopeTo: [to], to: [to], cc: [], subject: null },
    ...{ text: words, messageId: randomUUID(), inReplyTo: null, references: [], attachments: [], createdAt },
    buttons: options.map((option, index) => ({ text: option, data: `${code} #${index + 1}` })),
  }
}

/**
 * Text messages an hour with which a member is asked: each costs money, and people who write to an agent can make it ask. More are only
 * mailed and in the web application. @limit Questions
 */
const TEXTS_AN_HOUR = 30
const HOUR_MS = 3_600_000

/** Whether a member can be asked once more now. */
const isWithin = ({ rates }: ChatDeps, kind: ChannelKind, memberId: string): boolean =>
  kind !== 'sms' || !rates.takeAll([{ key: `asked:${memberId}`, limit: TEXTS_AN_HOUR, windowMs: HOUR_MS }])

/** The agent's address on each chat, the primary one first. */
const addressesOf = async ({ prisma }: Db, agentId: string): Promise<Map<string, Address>> => {
  const found = await prisma.address.findMany({
    where: { agentId, channel: { in: [...CHATS] } },
    orderBy: [{ primary: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }],
  })
  return new Map(found.toReversed().map((address) => [address.channel, address]))
}

const send = async (deps: ChatDeps, kind: ChannelKind, outbound: Outbound): Promise<void> => {
  const { log, channels } = deps
  try {
    const result = await channels[kind]?.send(outbound, AbortSignal.timeout(TIMEOUT_MS))
    for (const { reason } of result?.rejected ?? [])
      log.info({ channel: kind, reason }, 'a member could not be asked in a chat')
  } catch (error) {
    log.warn({ channel: kind, error: messageOf(error) }, 'a member could not be asked in a chat')
  }
}

/** The reply to an answer by chat where the workspace requires more proof than that. */
export const SIGN_IN_FIRST =
  'This workspace requires your passkey, or the account of your company: sign in to the web application, and answer there.'

/** Asks these members in the chats in which they have proven who they are and the agent has an address, once that is committed. */
export const askInChats = async (
  deps: ChatDeps,
  asked: Asked,
  members: readonly Pick<Member, 'id'>[],
): Promise<void> => {
  const addresses = await addressesOf(deps, asked.agentId)
  if (addresses.size === 0) return
  const identities = await deps.prisma.memberIdentity.findMany({
    where: { memberId: { in: members.map(({ id }) => id) }, channel: { in: [...CHATS] } },
    include: { member: { select: { workspaceId: true, email: true } } },
  })
  for (const { memberId, member, channel, value: to } of identities) {
    const from = addresses.get(channel)?.value
    const kind = channel as ChannelKind
    if (from === undefined || !deps.channels[kind]) continue
    if (CHANNELS[kind].optOut && (await findOptOuts(deps, from, [to])).has(to)) continue
    if (await mustSignIn(deps, member)) continue
    if (!isWithin(deps, kind, memberId)) continue
    const code = replyCode(deps.approvalKey, { memberId, agentId: asked.agentId, id: asked.id })
    const outbound = outboundOf({ kind, from, to }, asked, code, deps.clock.now())
    deps.afterCommit(() => void send(deps, kind, outbound))
  }
}

/** What a member replied in a chat with an agent. */
export interface Reply {
  agentId: string
  member: Member
  /** What they replied, without the code. */
  text: string
  /** Whether it decides nothing, because the workspace wants more proof. */
  needsSignIn: boolean
  /** Whether the code is that of what this id names. */
  isTo(id: string): boolean
}

/**
 * Returns who replied what, if a message to an agent begins like a reply to something that was asked; null if it does not, and when
 * the sender's account is not that of a member of the agent's workspace. Whoever forges a number does not know the code.
 */
export const readReplyOf = async (
  { prisma, approvalKey }: Pick<ChatDeps, 'prisma' | 'approvalKey'>,
  { channel, to, from, text }: AnswerClaim,
): Promise<Reply | null> => {
  const reply = readReply(text)
  if (!reply) return null
  const address = await prisma.address.findUnique({ where: { channel_value: { channel, value: to } } })
  const identity =
    address &&
    (await prisma.memberIdentity.findFirst({
      where: { channel, value: from, member: { workspaceId: address.workspaceId } },
      include: { member: true },
    }))
  if (!address || !identity) return null
  const { agentId } = address
  const { member } = identity
  const isTo = (id: string) => replyCode(approvalKey, { memberId: member.id, agentId, id }) === reply.code
  return {
    ...{ agentId, member, text: reply.answer, isTo },
    needsSignIn: await mustSignIn({ prisma }, member),
  }
}
