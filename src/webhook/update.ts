import { notFound } from '../core/errors.ts'
import type { EventType } from '../event/event.ts'
import type { Viewer } from '../workspace/viewer.ts'
import {
  findWebhook,
  formatTopicKey,
  lockLog,
  toWebhook,
  WEBHOOK_CHANGED,
  type Webhook,
  type WebhookDeps,
  type WebhookRef,
} from './webhook.ts'

type UpdateDeps = Pick<WebhookDeps, 'prisma' | 'pool' | 'clock' | 'notifier'>

/**
 * Changes the types of the events that a webhook receives, for all events that it is not done with. The
 * deliveries of those that it no longer receives are skipped. A scheduled retry is made at once, and an attempt
 * that is in progress ends without a record. Throws `not_found`.
 */
export const updateWebhook = async (
  deps: UpdateDeps,
  viewer: Viewer,
  { agentId, webhookId }: WebhookRef,
  { events }: { events: readonly EventType[] },
): Promise<Webhook> => {
  const { id } = await findWebhook(deps, viewer, agentId, webhookId)
  const types = [...new Set(events)]
  const row = await deps.prisma.$transaction(async (tx) => {
    await lockLog(tx, agentId)
    const dueAt = deps.clock.now()
    const changes = { types, revision: { increment: 1 }, attempts: 0, retryAt: null, dueAt }
    const { count } = await tx.webhook.updateMany({ where: { id, agentId }, data: changes })
    if (count === 0) throw notFound('webhook') // removed concurrently
    await tx.$executeRaw`
      update job j set state = 'skipped', payload = null from event e
       where j.agent_id = ${agentId}::uuid and j.lane = ${id}::uuid and j.state = 'pending' and j.seq > 0
         and e.agent_id = j.agent_id and e.id = j.seq and e.type <> all(${types})`
    return tx.webhook.findUniqueOrThrow({ where: { id_agentId: { id, agentId } } })
  })
  deps.notifier.publish(WEBHOOK_CHANGED, formatTopicKey(row))
  return toWebhook(row)
}
