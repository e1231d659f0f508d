import { suppress } from '../../agent/suppression.ts'
import type { BouncedRecipient, BounceReport } from '../../channel/channel.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Db } from '../../db/client.ts'
import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { concludeMessage, lockMessage } from '../out/status.ts'
import { MESSAGE_CHANGED } from '../reading/changed.ts'

export interface ApplyBounceDeps extends Db {
  clock: Clock
  log: Logger
  notifier: Notifier
  metrics?: Metrics
}

type Sent = Pick<Message, 'id' | 'agentId' | 'channel' | 'to' | 'cc'>

/**
 * The recipient that it counts for, whomever it names: behind an alias that is somebody else. Null: nobody. A
 * path that all recipients of a message had counts only where there was one: any of them could have made up a
 * report on the others.
 */
const concernedBy = async (
  tx: Prisma.TransactionClient,
  { id, to, cc }: Sent,
  { recipient }: BounceReport,
): Promise<string | null> => {
  const sentTo = await tx.recipient.findMany({ where: { messageId: id } })
  if (recipient === null) return sentTo.length === 1 ? sentTo[0]!.address : null
  const named = [...to, ...cc][recipient]
  return sentTo.find(({ address }) => address === named)?.address ?? null
}

/** What it says of the recipient: under their name if it has that, else of whomever it names. */
const saidOf = (
  address: string,
  { kind, recipients, detail }: BounceReport,
): Omit<BouncedRecipient, 'address'> => {
  const named = recipients.filter((one) => one.address === address.toLowerCase())
  const said = named.length > 0 ? named : recipients
  return {
    detail: said[0]?.detail ?? detail,
    permanent: kind === 'complaint' || said.some(({ permanent }) => permanent),
  }
}

const fail = async (
  tx: Prisma.TransactionClient,
  { id: messageId }: Sent,
  address: string,
  detail: string,
): Promise<void> => {
  await tx.recipient.updateMany({ where: { messageId, address }, data: { status: 'failed', detail } })
  await concludeMessage(tx, messageId)
}

const report = async (tx: Prisma.TransactionClient, { id }: Sent): Promise<void> => {
  await tx.message.updateMany({
    where: { id, status: { in: ['sending', 'sent', 'failed'] } },
    data: { status: 'reported', error: null },
  })
}

/** Whether it changed anything. */
const apply = async (
  tx: Prisma.TransactionClient,
  deps: ApplyBounceDeps,
  message: Sent,
  returned: BounceReport,
): Promise<boolean> => {
  await lockMessage(tx, message.id)
  const address = await concernedBy(tx, message, returned)
  if (address === null) return false
  const { detail, permanent } = saidOf(address, returned)
  if (returned.kind === 'complaint') await report(tx, message)
  else await fail(tx, message, address, detail)
  if (permanent)
    await suppress(tx, message, [{ address, detail }], { reason: returned.kind, createdAt: deps.clock.now() })
  return true
}

/**
 * Takes what came back for a message from one of its recipients: a bounce makes it `failed` with the other
 * side's words, a complaint `reported`, and whom there is no use (or no right) to write to again gets on the
 * agent's suppression list. Twice does what once does. Resolves once it is committed.
 */
export const applyBounce = async (deps: ApplyBounceDeps, returned: BounceReport): Promise<void> => {
  const message = await deps.prisma.message.findFirst({
    where: { id: returned.messageId, direction: 'outbound' },
    select: { id: true, agentId: true, channel: true, to: true, cc: true },
  })
  const { messageId, kind } = returned
  if (!message) return deps.log.info({ messageId, kind }, 'something came back for a message that is gone')
  const counts = await deps.prisma.$transaction((tx) => apply(tx, deps, message, returned))
  if (!counts)
    return deps.log.warn(
      { messageId, kind },
      'something came back that does not tell which recipient it is from: nothing changed',
    )
  deps.metrics?.count('sends', kind === 'bounce' ? 'bounced' : 'reported')
  deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${message.id}`)
  deps.log.info({ messageId, agentId: message.agentId, kind }, 'message out: came back')
}
