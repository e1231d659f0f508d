import type { DeliveryReport } from '../../channel/channel.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { MESSAGE_CHANGED } from '../reading/changed.ts'
import { concludeMessage, lockMessage } from './status.ts'

export interface DeliveryDeps extends Db {
  clock: Clock
  log: Logger
  notifier: Notifier
}

/** The recipient that a report is about: by the provider's id, or by ours when that has come before it. */
const find = async ({ prisma }: Db, { channel, providerId, messageId, recipient }: DeliveryReport) => {
  const include = { message: { select: { agentId: true } } }
  const message = { channel, direction: 'outbound' as const }
  const known = await prisma.recipient.findFirst({ where: { providerId, message }, include })
  if (known || !messageId || !recipient) return known
  // The answer that tells the id may have come since.
  const ids = { OR: [{ providerId: null }, { providerId }] }
  return prisma.recipient.findFirst({ where: { messageId, address: recipient, ...ids, message }, include })
}

/**
 * What the report changes, and of which recipients: the first final word stands, and nobody is on their way
 * again.
 */
const changeOf = ({ status, detail, providerId }: DeliveryReport, now: Date) => {
  if (status === 'sent')
    return { where: { status: 'sending' }, data: { status: 'sent', providerId } } as const
  if (status === 'failed') {
    const where = { status: { not: 'failed' }, deliveredAt: null } as const
    return { where, data: { status: 'failed', providerId, detail: detail ?? 'not delivered' } } as const
  }
  return {
    where: { status: { not: 'failed' }, deliveredAt: null },
    data: { status: 'sent', providerId, deliveredAt: now },
  } as const
}

/**
 * Takes a provider's word on a message that it had taken. Reports may come twice, in any order and of
 * messages that are gone: what they can't move stays as it is. Resolves once it is committed.
 */
export const takeReport = async (deps: DeliveryDeps, report: DeliveryReport): Promise<void> => {
  const found = await find(deps, report)
  if (!found)
    return deps.log.info(
      { channel: report.channel, status: report.status },
      'a report on no message that is kept',
    )
  const { messageId, address, message } = found
  const { where, data } = changeOf(report, deps.clock.now())
  const moved = await deps.prisma.$transaction(async (tx: Prisma.TransactionClient) => {
    await lockMessage(tx, messageId)
    const { count } = await tx.recipient.updateMany({ where: { messageId, address, ...where }, data })
    if (count > 0) await concludeMessage(tx, messageId)
    return count > 0
  })
  if (!moved) return
  deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${messageId}`)
  deps.log.info(
    { messageId, agentId: message.agentId, channel: report.channel, status: report.status },
    'message out: reported',
  )
}
