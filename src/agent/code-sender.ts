import { randomUUID } from 'node:crypto'
import type { Channel, ChannelKind } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { CodeSender } from '../workspace/identity.ts'
import { findOptOuts } from './opt-out.ts'

export interface CodeSenderDeps extends Db {
  clock: Clock
  channels: Partial<Record<ChannelKind, Channel>>
}

/** How long one code may take to get on its way. */
const PATIENCE_MS = 12_000

/** A number of the workspace's from which the recipient takes messages. Throws `conflict` when there is none. */
const senderFor = async ({ prisma }: Db, workspaceId: string, recipient: string): Promise<string> => {
  const numbers = await prisma.phoneNumber.findMany({ where: { workspaceId, providerId: { not: '' } }, orderBy: { value: 'asc' } })
  if (numbers.length === 0) throw new AppError('conflict', 'The workspace has no phone number to send the code from.')
  for (const { value } of numbers) if (!(await findOptOuts({ prisma } as Db, value, [recipient])).has(recipient)) return value
  throw new AppError('conflict', `${recipient} has opted out of messages from the workspace (STOP), until it texts START.`)
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

/** Sends codes by SMS from a number of the workspace's, tried once and not stored. */
export const createCodeSender = ({ clock, channels, ...db }: CodeSenderDeps): CodeSender => {
  const channelOf = (kind: string): Channel => {
    const channel = channels[kind as ChannelKind]
    if (!channel) throw new AppError('conflict', `This service has no channel ${kind}.`)
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
      const from = await senderFor(db, workspaceId, value)
      const sent = codeOf(from, value, text, clock.now())
      const { rejected } = await channelOf(kind).send(sent, AbortSignal.timeout(PATIENCE_MS))
      const [refusal] = rejected
      if (refusal?.permanent) throw new AppError('conflict', `The code could not be sent: ${refusal.reason}`)
      if (refusal) throw new AppError('unavailable', 'The code could not be sent; try again later.', { cause: refusal.reason })
    },
  }
}
