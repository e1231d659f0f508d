import { randomUUID } from 'node:crypto'
import type { Channel, Channels } from '../channel/channel.ts'
import { CHANNELS, type ChannelKind } from '../core/channels.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { CodeSender } from '../workspace/index.ts'
import { findOptOuts } from './opt-out.ts'

export interface CodeSenderDeps extends Db {
  clock: Clock
  channels: Channels
}

/** Time in milliseconds within which the channel must accept a code. */
const TIMEOUT_MS = 12_000

/** Returns the workspace's addresses on a channel, including phone numbers that no agent has. */
const ownAddresses = (
  { prisma }: Db,
  workspaceId: string,
  { kind, numbers }: Channel,
): Promise<{ value: string }[]> =>
  numbers
    ? prisma.phoneNumber.findMany({
        where: { workspaceId, providerId: { not: '' } },
        orderBy: { value: 'asc' },
      })
    : prisma.address.findMany({ where: { workspaceId, channel: kind }, orderBy: { value: 'asc' } })

/**
 * Returns an address of the workspace whose messages the recipient has not opted out of. Throws `conflict`
 * when there is none.
 */
const senderFor = async (
  db: Db,
  workspaceId: string,
  channel: Channel,
  recipient: string,
): Promise<string> => {
  const { address, optOut } = CHANNELS[channel.kind]
  const own = await ownAddresses(db, workspaceId, channel)
  if (own.length === 0)
    throw new AppError('conflict', `The workspace has no ${address.one} to send the code from.`)
  for (const { value } of own)
    if (!optOut || !(await findOptOuts(db, value, [recipient])).has(recipient)) return value
  throw new AppError(
    'conflict',
    `${recipient} has opted out of messages from the workspace (STOP), and can opt in again by texting START.`,
  )
}

const codeOf = (from: string, to: string, text: string, createdAt: Date) => ({
  id: randomUUID(),
  from: { address: from, name: null },
  envelopeTo: [to],
  to: [to],
  cc: [],
  subject: null,
  text,
  messageId: randomUUID(),
  inReplyTo: null,
  references: [],
  attachments: [],
  createdAt,
})

/**
 * Creates a sender of codes from one of the workspace's addresses on the channel. A code is tried once and
 * not stored.
 */
export const createCodeSender = ({ clock, channels, ...db }: CodeSenderDeps): CodeSender => {
  const channelOf = (kind: string): Channel => {
    const channel = channels[kind as ChannelKind]
    if (!channel) throw new AppError('conflict', `This service has no ${kind} channel.`)
    return channel
  }
  return {
    normalize: (kind, value) => {
      const channel = channelOf(kind)
      try {
        return channel.normalize(value)
      } catch (error) {
        throw error instanceof AppError ? invalidInput('value', error.message.replace(/^\w+: /, '')) : error
      }
    },
    send: async (workspaceId, kind, value, text) => {
      const channel = channelOf(kind)
      const from = await senderFor(db, workspaceId, channel, value)
      const sent = codeOf(from, value, text, clock.now())
      const { rejected } = await channel.send(sent, AbortSignal.timeout(TIMEOUT_MS))
      const [refusal] = rejected
      if (refusal?.permanent) throw new AppError('conflict', `The code could not be sent: ${refusal.reason}`)
      if (refusal)
        throw new AppError('unavailable', 'The code could not be sent; try again later.', {
          cause: refusal.reason,
        })
    },
  }
}
