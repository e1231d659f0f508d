import { notFound } from '../core/errors.ts'
import type { Prisma, Webhook as WebhookRow } from '../db/generated/prisma/client.ts'
import type { EventType } from '../event/index.ts'
import { audit, type Viewer } from '../workspace/index.ts'
import { readableHeaders, readHeaders, sealHeaders } from './format/headers.ts'
import { readTemplate } from './format/template.ts'
import { restartPending } from './manual-delivery.ts'
import {
  findWebhook,
  formatTopicKey,
  type GivenFormat,
  lockLog,
  toWebhook,
  WEBHOOK_CHANGED,
  type Webhook,
  type WebhookDeps,
  type WebhookRef,
} from './webhook.ts'

type UpdateDeps = Pick<WebhookDeps, 'prisma' | 'afterCommit' | 'pool' | 'keyring' | 'clock' | 'notifier'>
type Tx = Prisma.TransactionClient

export interface WebhookChanges extends GivenFormat {
  /** Null removes the name. */
  name?: string | null | undefined
  /** Types of the events that it receives, of all that it is not done with. Others are skipped. */
  events?: readonly EventType[] | undefined
  /**
   * Whether it is paused: nothing is sent to it, and its events wait. They get three days again when it is
   * resumed.
   */
  paused?: boolean | undefined
}

interface Locked {
  id: string
  agentId: string
  position: bigint
  paused: boolean
}

const lock = async (tx: Tx, id: string, agentId: string): Promise<Locked> => {
  await lockLog(tx, agentId)
  const [row] = await tx.$queryRaw<Locked[]>`
    select id, agent_id as "agentId", position, paused_at is not null as paused
      from webhook where id = ${id}::uuid and agent_id = ${agentId}::uuid for no key update`
  if (!row) throw notFound('webhook') // removed concurrently
  return row
}

const skipOthers = async (tx: Tx, { id, agentId }: Locked, types: string[]): Promise<void> => {
  await tx.$executeRaw`
    update job j set state = 'skipped', payload = null from event e
     where j.agent_id = ${agentId}::uuid and j.lane = ${id}::uuid and j.state = 'pending' and j.seq > 0
       and e.agent_id = j.agent_id and e.id = j.seq and e.type <> all(${types})`
}

/** Returns the changes of the row that another format makes. */
const formatChanges = async (
  { keyring }: UpdateDeps,
  webhook: WebhookRow,
  { headers, body }: GivenFormat,
): Promise<Prisma.WebhookUpdateInput | null> => {
  if (headers === undefined && body === undefined) return null
  const seal = async (given: GivenFormat['headers']) => {
    const current = await readableHeaders(keyring, webhook, webhook.headers)
    return sealHeaders(keyring, webhook, readHeaders(given ?? {}, current))
  }
  return {
    ...(headers !== undefined && { headers: await seal(headers) }),
    ...(body !== undefined && { body: body === null ? null : readTemplate(body) }),
    format: { increment: 1 },
  }
}

/** Applies the changes and returns those of the row. Those of events and pauses end the lease of its lane. */
const apply = async (
  tx: Tx,
  webhook: Locked,
  { name, events, paused = webhook.paused }: WebhookChanges,
  { at, format }: { at: Date; format: Prisma.WebhookUpdateInput | null },
): Promise<Prisma.WebhookUpdateInput> => {
  const retry = format && !paused ? { retryAt: null, dueAt: at } : {}
  const data: Prisma.WebhookUpdateInput = { ...(name !== undefined && { name }), ...format, ...retry }
  const types = events && [...new Set(events)]
  if (!types && paused === webhook.paused) return data
  if (types) await skipOthers(tx, webhook, types)
  if (webhook.paused && !paused) {
    const { id: lane, agentId, position: after } = webhook
    await restartPending(tx, { lane, agentId, after, at })
  }
  return {
    ...data,
    ...(types && { types, attempts: 0, retryAt: null }),
    ...(paused !== webhook.paused && { pausedAt: paused ? at : null }),
    dueAt: paused ? null : at,
    revision: { increment: 1 },
  }
}

/** What the audit log says of the changes: of the headers their names, of the body whether it has a template. */
const auditedOf = ({ headers, body, ...changes }: WebhookChanges): Prisma.InputJsonObject => {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    ...(headers !== undefined && { headers: Object.keys(headers ?? {}) }),
    ...(body !== undefined && { body: body === null ? 'event' : 'template' }),
  }
}

/**
 * Changes a webhook. A scheduled retry is made at once, unless only the name changes. When its events change or it is
 * paused or resumed, an attempt that is in progress ends without a record, so that its event may arrive twice; when
 * its headers or its body change, it is recorded as usual. Throws `not_found` and `invalid_input`.
 */
export const updateWebhook = async (
  deps: UpdateDeps,
  viewer: Viewer,
  { agentId, webhookId }: WebhookRef,
  changes: WebhookChanges,
): Promise<Webhook> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const { id } = webhook
  const format = await formatChanges(deps, webhook, changes)
  const row = await deps.prisma.$transaction(async (tx) => {
    const data = await apply(tx, await lock(tx, id, agentId), changes, { at: deps.clock.now(), format })
    const detail = { webhook: id, ...auditedOf(changes) }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'webhook.update', agentId, detail })
    return tx.webhook.update({ where: { id_agentId: { id, agentId } }, data })
  })
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_CHANGED, formatTopicKey(row)))
  return toWebhook(deps, row)
}
