import { randomUUID } from 'node:crypto'
import { AppError, notFound } from '../core/errors.ts'
import type { Event, Prisma, Webhook as WebhookRow } from '../db/generated/prisma/client.ts'
import type { EventDetail, PayloadEvent } from '../event/index.ts'
import { audit, type Viewer } from '../workspace/index.ts'
import { type Delivery, type DeliveryRef, eventOfJob, findDelivery, toDelivery } from './deliveries.ts'
import { addManualDelivery } from './manual-delivery.ts'
import { payloadOf, testPayloadOf } from './payload.ts'
import { newSecret } from './post/sign.ts'
import { sealSecret } from './secret.ts'
import {
  findWebhook,
  formatTopicKey,
  toWebhook,
  WEBHOOK_CHANGED,
  WEBHOOK_DELIVERY_REQUESTED,
  type Webhook,
  type WebhookDeps,
} from './webhook.ts'

/** Operations on a webhook: rotate the secret, send a test, resend one event, replay a range of events. */
export type OperateDeps = Pick<
  WebhookDeps,
  'prisma' | 'afterCommit' | 'pool' | 'keyring' | 'clock' | 'notifier'
>

type Tx = Prisma.TransactionClient

/** Time for which the previous secret also signs after a rotation. @limit Webhooks */
const PREVIOUS_SIGNS_MS = 24 * 3_600_000

/**
 * Gives a webhook a new signing secret. For 24 hours deliveries are also signed with the previous one, but
 * not with any older one. Throws `not_found`.
 */
export const rotateWebhook = async (
  deps: OperateDeps,
  viewer: Viewer,
  agentId: string,
  webhookId: string,
): Promise<{ webhook: Webhook; secret: string }> => {
  const { id, workspaceId } = await findWebhook(deps, viewer, agentId, webhookId)
  const secret = newSecret()
  const sealed = new Uint8Array(await sealSecret(deps.keyring, workspaceId, id, secret))
  const until = new Date(deps.clock.now().getTime() + PREVIOUS_SIGNS_MS)
  const row = await deps.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`
      update webhook set previous_secret = secret, previous_until = ${until}, secret = ${sealed}
       where id = ${id}::uuid and agent_id = ${agentId}::uuid`
    await audit({ ...deps, prisma: tx }, viewer, {
      action: 'webhook.rotate',
      agentId,
      detail: { webhook: id },
    })
    return tx.webhook.findUnique({ where: { id_agentId: { id, agentId } } })
  })
  if (!row) throw notFound('webhook') // removed concurrently
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_CHANGED, formatTopicKey(row)))
  return { webhook: await toWebhook(deps, row), secret }
}

/** Maximum number of pending manual deliveries for one webhook. @limit Webhooks */
const MAX_PENDING = 100

/** Throws `conflict` for a paused webhook, `not_found` for one that was removed. */
const throwUnlessPaused = async (tx: Tx, id_agentId: { id: string; agentId: string }): Promise<never> => {
  const webhook = await tx.webhook.findUnique({ where: { id_agentId } })
  throw webhook ? new AppError('conflict', 'This webhook is paused: resume it first.') : notFound('webhook')
}

/** Counts one more manual delivery, and locks the webhook's row until the transaction ends. */
const countManual = async (tx: Tx, { id, agentId }: WebhookRow, dueAt: Date): Promise<void> => {
  const data = { asked: { increment: 1 }, dueAt }
  const counted = await tx.webhook.updateMany({ where: { id, agentId, pausedAt: null }, data })
  if (counted.count === 0) await throwUnlessPaused(tx, { id, agentId })
  const waiting = await tx.job.count({ where: { agentId, lane: id, seq: { lt: 0n }, state: 'pending' } })
  if (waiting >= MAX_PENDING)
    throw new AppError('conflict', `${MAX_PENDING} manual deliveries are still pending.`)
}

/**
 * Sends a test to this webhook only: `webhook.test`, signed like all deliveries and attempted once. It is
 * sent between two events, even while the lane waits for a retry, and does not affect the order, the schedule
 * or the webhook's `error`; but 410 removes the webhook, as with any delivery. The result is in its delivery.
 * Throws `not_found`, and `conflict` when too many are pending.
 */
export const testWebhook = async (
  deps: OperateDeps,
  viewer: Viewer,
  agentId: string,
  webhookId: string,
): Promise<Delivery> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const agent = await deps.prisma.agent.findUnique({
    where: { id: webhook.agentId },
    select: { id: true, name: true },
  })
  if (!agent) throw notFound('agent')
  const id = randomUUID()
  const createdAt = deps.clock.now()
  const payload = Uint8Array.from(Buffer.from(testPayloadOf({ id, agent, webhookId: webhook.id, createdAt })))
  const job = await deps.prisma.$transaction(async (tx) => {
    await countManual(tx, webhook, createdAt)
    return addManualDelivery(tx, {
      id,
      lane: webhook.id,
      agentId: agent.id,
      eventId: null,
      payload,
      createdAt,
    })
  })
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_DELIVERY_REQUESTED, formatTopicKey(webhook)))
  return toDelivery(job)
}

/** Returns the body that is the same in all deliveries of the event. */
const bodyOf = async (deps: OperateDeps, event: Event): Promise<Uint8Array<ArrayBuffer>> => {
  const agentName =
    event.agentName ??
    (await deps.prisma.agent.findUniqueOrThrow({ where: { id: event.agentId }, select: { name: true } })).name
  const detail = event.detail as EventDetail | null
  const payload = { ...event, ...detail, id: Number(event.id), agentName, sender: null } as PayloadEvent
  return Uint8Array.from(Buffer.from(payloadOf(payload)))
}

const ensureDone = async (tx: Tx, { id: lane, agentId }: WebhookRow, event: bigint): Promise<void> => {
  const pending = await tx.job.count({
    where: { agentId, lane, state: 'pending', OR: [{ seq: event }, { eventId: event }] },
  })
  if (pending > 0) throw new AppError('conflict', 'This event is still pending.')
}

/**
 * Resends the event of a delivery: the same bytes under the same `webhook-id`, between two events of the
 * lane, attempted once. It has its own record, so that the original delivery's record does not change. Throws
 * `not_found`, and `conflict` for an event that is still pending, for tests, and for an event that is no
 * longer stored (a Message URL's text after its delivery, any event after 7 days).
 */
export const resendDelivery = async (
  deps: OperateDeps,
  viewer: Viewer,
  { agentId, webhookId, deliveryId }: DeliveryRef,
): Promise<Delivery> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const eventId = eventOfJob(await findDelivery(deps, webhook, deliveryId))
  if (eventId === null) throw new AppError('conflict', 'A test delivery cannot be resent: send a new test.')
  await ensureDone(deps.prisma, webhook, eventId)
  const event = await deps.prisma.event.findUnique({
    where: { agentId_id: { agentId: webhook.agentId, id: eventId } },
  })
  if (!event) throw new AppError('conflict', 'This event is no longer stored.')
  if (event.channel === 'url')
    throw new AppError('conflict', "A Message URL event's text is not stored after its delivery.")
  const payload = await bodyOf(deps, event)
  const job = await deps.prisma.$transaction(async (tx) => {
    await countManual(tx, webhook, deps.clock.now())
    await ensureDone(tx, webhook, eventId)
    return addManualDelivery(tx, {
      id: randomUUID(),
      lane: webhook.id,
      agentId: webhook.agentId,
      eventId,
      payload,
      createdAt: deps.clock.now(),
    })
  })
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_DELIVERY_REQUESTED, formatTopicKey(webhook)))
  return toDelivery(job)
}
