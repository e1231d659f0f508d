import type { DeliveryReport } from '../../core/channel/inbound.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import type { Feed } from '../../event/index.ts'
import { ensureNotMoving } from '../../workspace/index.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import { concludeMessage, lockMessage } from '../stored/status.ts'

export interface DeliveryDeps extends Db {
  clock: Clock
  log: Logger
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
}

/**
 * Finds the recipient that a report is about: by the provider's id, or by our own id when the report arrives
 * before the provider's id is stored.
 */
const find = async ({ prisma }: Db, { channel, providerId, messageId, recipient }: DeliveryReport) => {
  const message = { channel, direction: 'outbound' as const }
  const include = { message: { select: { workspaceId: true } } } as const
  const known = await prisma.recipient.findFirst({ where: { providerId, message }, include })
  if (known || !messageId || !recipient) return known
  // The provider's id may have been stored since.
  const ids = { OR: [{ providerId: null }, { providerId }] }
  return prisma.recipient.findFirst({ where: { messageId, address: recipient, ...ids, message }, include })
}

/**
 * Returns what the report changes, and for recipients in which state: the first final status stands, and no
 * recipient returns to `sending`.
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
 * Applies a provider's delivery report for a message. Reports may arrive twice, in any order, and for deleted
 * messages; one that no longer applies changes nothing. Resolves once it is committed. Throws
 * `unavailable` while its workspace moves.
 */
export const takeReport = async (deps: DeliveryDeps, report: DeliveryReport): Promise<void> => {
  const found = await find(deps, report)
  if (!found)
    return deps.log.info(
      { channel: report.channel, status: report.status },
      'delivery report ignored: no stored message matches',
    )
  const { messageId, agentId, address } = found
  await ensureNotMoving(deps, found.message.workspaceId)
  const now = deps.clock.now()
  const { where, data } = changeOf(report, now)
  const moved = await deps.prisma.$transaction(async (tx: Prisma.TransactionClient) => {
    const message = { id: messageId, agentId }
    await lockMessage(tx, message)
    const { count } = await tx.recipient.updateMany({
      where: { messageId, agentId, address, ...where },
      data,
    })
    return count > 0 ? concludeMessage(tx, message, now) : null
  })
  if (!moved) return
  deps.afterCommit(() => deps.feed.committed(moved))
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${messageId}`))
  deps.log.info(
    { messageId, agentId, channel: report.channel, status: report.status },
    'delivery report applied to outgoing message',
  )
}
