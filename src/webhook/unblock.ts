import { AppError, notFound } from '../core/errors.ts'
import { audit, type Viewer } from '../workspace/index.ts'
import type { DeliveryRef } from './deliveries.ts'
import type { OperateDeps } from './operate.ts'
import { findWebhook, formatTopicKey, toWebhook, WEBHOOK_CHANGED, type Webhook } from './webhook.ts'

/**
 * Ends the wait of a webhook for the next attempt of its pending event: it is sent again now, or skipped, and then
 * the events after it are sent. An attempt that is in progress ends without a record. Throws `not_found`, and
 * `conflict` for a paused webhook and for a delivery that others do not wait for.
 */
export const unblockWebhook = async (
  deps: OperateDeps,
  viewer: Viewer,
  { agentId, webhookId, deliveryId, skip }: DeliveryRef & { skip: boolean },
): Promise<Webhook> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const { id } = webhook
  const unblocked = await deps.prisma.$transaction(async (tx) => {
    const [row] = await tx.$queryRaw<{ position: bigint; paused: boolean }[]>`
      select position, paused_at is not null as paused from webhook where id = ${id}::uuid and agent_id = ${agentId}::uuid for no key update`
    if (!row) throw notFound('webhook')
    if (row.paused) throw new AppError('conflict', 'This webhook is paused: resume it first.')
    const job = await tx.job.findUnique({ where: { id_agentId: { id: deliveryId, agentId }, lane: id } })
    if (!job) throw notFound('delivery')
    const { seq, state } = job
    const before = { agentId, lane: id, state: 'pending' as const, seq: { gt: row.position, lt: seq } }
    if (state !== 'pending' || seq <= row.position || (await tx.job.count({ where: before })) > 0)
      throw new AppError('conflict', 'No other delivery waits for this one any more.')
    if (skip) {
      const data = { state: 'skipped' as const, payload: null }
      await tx.job.update({ where: { id_agentId: { id: deliveryId, agentId } }, data })
      const detail = { webhook: id, skipped: Number(seq) }
      await audit({ ...deps, prisma: tx }, viewer, { action: 'webhook.update', agentId, detail })
    }
    const data = { retryAt: null, dueAt: deps.clock.now(), revision: { increment: 1 } }
    const fresh = skip ? { attempts: 0, error: null } : {}
    return tx.webhook.update({ where: { id_agentId: { id, agentId } }, data: { ...data, ...fresh } })
  })
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_CHANGED, formatTopicKey(webhook)))
  return toWebhook(deps, unblocked)
}
