import { suppress } from '../agent/suppression.ts'
import type { Returned, ReturnedRecipient } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Db } from '../db/client.ts'
import type { Message, Prisma, Recipient } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { MESSAGE_CHANGED } from './changed.ts'
import { concludeMessage, lockMessage } from './status.ts'

export interface ReturnedDeps extends Db {
  clock: Clock
  log: Logger
  notifier: Notifier
  metrics?: Metrics
}

type Sent = Pick<Message, 'id' | 'agentId' | 'channel'>

/** The message's recipients that the report speaks of. A message that went to one only can mean nobody else, whatever it calls them. */
const concerned = ({ recipients, kind, detail }: Returned, sentTo: readonly Recipient[]): ReturnedRecipient[] => {
  const ours = new Map(sentTo.map(({ address }) => [address.toLowerCase(), address]))
  const named = recipients.filter(({ address }) => ours.has(address)).map((one) => ({ ...one, address: ours.get(one.address)! }))
  const [only] = sentTo
  if (named.length > 0 || sentTo.length !== 1 || !only) return named
  const lasting = kind === 'complaint' || recipients.some((one) => one.lasting)
  return [{ address: only.address, detail: recipients[0]?.detail ?? detail, lasting }]
}

const fail = async (
  tx: Prisma.TransactionClient,
  { id }: Sent,
  detail: string,
  recipients: readonly ReturnedRecipient[],
): Promise<void> => {
  for (const { address, detail: words } of recipients)
    await tx.recipient.updateMany({ where: { messageId: id, address }, data: { status: 'failed', detail: words } })
  if (recipients.length > 0) return concludeMessage(tx, id)
  // It reached somebody not, and doesn't say whom.
  await tx.message.updateMany({ where: { id, status: 'sent' }, data: { status: 'failed', error: detail } })
}

const report = async (tx: Prisma.TransactionClient, { id }: Sent): Promise<void> => {
  await tx.message.updateMany({ where: { id, status: { in: ['sending', 'sent', 'failed'] } }, data: { status: 'reported', error: null } })
}

const apply = async (tx: Prisma.TransactionClient, deps: ReturnedDeps, message: Sent, returned: Returned): Promise<void> => {
  await lockMessage(tx, message.id)
  const recipients = concerned(returned, await tx.recipient.findMany({ where: { messageId: message.id } }))
  if (returned.kind === 'complaint') await report(tx, message)
  else await fail(tx, message, returned.detail, recipients)
  const refused = recipients.filter(({ lasting }) => lasting)
  await suppress(tx, message, refused, { reason: returned.kind, createdAt: deps.clock.now() })
}

/**
 * Takes what came back for a message: a bounce makes it `failed` with the other side's words, a complaint `reported`, and whom there is
 * no use (or no right) to write to again gets on the agent's suppression list. Twice does what once does. Resolves once it is committed.
 */
export const takeReturned = async (deps: ReturnedDeps, returned: Returned): Promise<void> => {
  const message = await deps.prisma.message.findFirst({
    where: { id: returned.messageId, direction: 'outbound' },
    select: { id: true, agentId: true, channel: true },
  })
  const { messageId, kind } = returned
  if (!message) return deps.log.info({ messageId, kind }, 'something came back for a message that is gone')
  await deps.prisma.$transaction((tx) => apply(tx, deps, message, returned))
  deps.metrics?.count('sends', kind === 'bounce' ? 'bounced' : 'reported')
  deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${message.id}`)
  deps.log.info({ messageId, agentId: message.agentId, kind }, 'message out: came back')
}
