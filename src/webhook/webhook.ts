import { randomUUID } from 'node:crypto'
import { findAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma, Webhook as WebhookRow } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { type EventType, HEARD_BY_DEFAULT } from '../event/index.ts'
import type { Allow } from '../outgoing-http/allowed-address.ts'
import type { Lookup } from '../outgoing-http/lookup.ts'
import { checkTargetUrl } from '../outgoing-http/url.ts'
import {
  audit,
  callExternally,
  changeUsage,
  type ExternalCallDeps,
  type Keyring,
  type Viewer,
} from '../workspace/index.ts'
import { deleteWebhook } from './deletion.ts'
import { readHeaders, sealHeaders, shownHeaders } from './format/headers.ts'
import { readTemplate } from './format/template.ts'
import { newSecret } from './post/sign.ts'
import { openSecret, sealSecret } from './secret.ts'

export interface WebhookDeps extends Db, ExternalCallDeps {
  keyring: Keyring
  clock: Clock
  allow: Allow
  lookup: Lookup
  notifier: Notifier
}

/** Notification topic: an agent has a new webhook. Workers then look for its lane. */
export const WEBHOOK_ADDED = 'webhook_added'

/** Notification topic: a webhook was removed. Workers then stop delivering to it. */
export const WEBHOOK_REMOVED = 'webhook_removed'

/**
 * Notification topics: a webhook's secret or position changed, or a manual delivery was requested. The key is
 * that of `formatTopicKey`.
 */
export const WEBHOOK_CHANGED = 'webhook_changed'
export const WEBHOOK_DELIVERY_REQUESTED = 'webhook_asked'

/** A webhook with its agent, as a notification's key. */
export const formatTopicKey = ({ agentId, id }: { agentId: string; id: string }): string => `${agentId}/${id}`
export const parseTopicKey = (key: string): { agentId: string; id: string } => {
  const [agentId = '', id = ''] = key.split('/')
  return { agentId, id }
}

/**
 * A webhook as the API presents it. `attempts`, `error` and `retryAt` describe the event that is being
 * retried; the error of an event that was given up remains in `error` until the webhook accepts another.
 */
export interface Webhook {
  id: string
  url: string
  name: string | null
  /** Types of the events that it receives. */
  events: EventType[]
  /** Additional headers of its requests, with masked values. */
  headers: Record<string, string>
  /** The template of the body; null when the body is the event. */
  body: Record<string, unknown> | null
  createdAt: Date
  /** Since when it is paused; null while it is not. */
  pausedAt: Date | null
  error: string | null
  attempts: number
  retryAt: Date | null
  lastDeliveredAt: Date | null
}

/** A webhook as a request names it. */
export interface WebhookRef {
  agentId: string
  webhookId: string
}

/** How a webhook's requests differ from the usual ones, as it is given. */
export interface GivenFormat {
  /** Additional headers, by name. */
  headers?: Readonly<Record<string, string>> | null | undefined
  /** A template of the body, or its JSON; null for the event. */
  body?: object | string | null | undefined
}

interface NewWebhook extends GivenFormat {
  url: string
  name?: string | null | undefined
  events?: readonly EventType[] | undefined
}

export interface AddedWebhook {
  webhook: Webhook
  secret: string
  /** False when the agent already had a webhook with this URL. */
  created: boolean
}

/** Maximum number of webhooks of an agent. @limit Webhooks */
const MAX_PER_AGENT = 10

/** Returns the headers of a webhook's requests as they are shown. */
export const headersOf = async (
  { keyring }: Pick<WebhookDeps, 'keyring'>,
  row: Pick<WebhookRow, 'id' | 'workspaceId' | 'headers'>,
): Promise<Record<string, string>> => Object.fromEntries(await shownHeaders(keyring, row, row.headers))

export const toWebhook = async (deps: Pick<WebhookDeps, 'keyring'>, row: WebhookRow): Promise<Webhook> => ({
  id: row.id,
  url: row.url,
  name: row.name,
  pausedAt: row.pausedAt,
  events: row.types as EventType[],
  headers: await headersOf(deps, row),
  body: row.body === null ? null : JSON.parse(row.body),
  createdAt: row.createdAt,
  error: row.error,
  attempts: row.attempts,
  retryAt: row.retryAt,
  lastDeliveredAt: row.lastDeliveredAt,
})

/**
 * Adds a webhook, which receives the events of these types from now on. Adding the same URL again returns the existing
 * webhook and secret. Throws `invalid_input` for a URL, headers or a template that are not allowed, `conflict` past the maximum per
 * agent, `plan_limit` past the plan's limit, and `rate_limited` while too many of the token's requests wait
 * for DNS.
 */
export const addWebhook = async (
  deps: WebhookDeps,
  viewer: Viewer,
  agentId: string,
  input: NewWebhook,
): Promise<AddedWebhook> => {
  const agent = await findAgent(deps, viewer, agentId)
  const given = readHeaders(input.headers ?? {})
  const body = input.body == null ? null : readTemplate(input.body)
  const url = await callExternally(deps, viewer, () => checkTargetUrl(input.url, deps))
  const id = randomUUID()
  const secret = newSecret()
  const sealed = new Uint8Array(await sealSecret(deps.keyring, agent.workspaceId, id, secret))
  const headers = await sealHeaders(deps.keyring, { workspaceId: agent.workspaceId, id }, given)
  const row = await deps.prisma.$transaction(async (tx) => {
    const position = await lockLog(tx, agent.id)
    const known = await tx.webhook.findFirst({ where: { agentId: agent.id, url, kind: 'webhook' } })
    if (known) return known
    await checkLimits(tx, agent)
    const { workspaceId } = agent
    await changeUsage(tx, { agentId: agent.id, workspaceId, webhooks: 1 })
    const detail = { webhook: id, url }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'webhook.add', agentId: agent.id, detail })
    return tx.webhook.create({
      data: {
        id,
        workspaceId,
        agentId: agent.id,
        url,
        name: input.name ?? null,
        secret: sealed,
        types: [...new Set(input.events ?? HEARD_BY_DEFAULT)],
        ...{ headers, body, position },
        createdAt: deps.clock.now(),
      },
    })
  })
  const created = row.id === id
  if (created) deps.afterCommit(() => deps.notifier.publish(WEBHOOK_ADDED, agent.id))
  return {
    webhook: await toWebhook(deps, row),
    secret: created ? secret : await openSecret(deps.keyring, agent.workspaceId, row.id, row.secret),
    created,
  }
}

/**
 * Locks the agent's event log until the transaction ends and returns its newest id: every later event is
 * delivered to the webhook.
 */
export const lockLog = async (tx: Prisma.TransactionClient, agentId: string): Promise<bigint> => {
  const rows = await tx.$queryRaw<
    { last_id: bigint }[]
  >`select last_id from event_log where agent_id = ${agentId}::uuid for update`
  if (!rows[0]) throw notFound('agent') // deleted concurrently
  return rows[0].last_id
}

const checkLimits = async (
  tx: Prisma.TransactionClient,
  agent: { id: string; workspaceId: string },
): Promise<void> => {
  const own = await tx.webhook.count({ where: { agentId: agent.id, kind: 'webhook' } })
  if (own >= MAX_PER_AGENT)
    throw new AppError('conflict', `An agent can have ${MAX_PER_AGENT} webhooks. Remove one first.`)
  const { plan } = await tx.workspace.findUniqueOrThrow({
    where: { id: agent.workspaceId },
    select: { plan: { select: { webhooks: true } } },
  })
  if (plan.webhooks === null) return
  // Two agents of the workspace must not both take the last available webhook.
  await tx.$queryRaw`select 1 from workspace where id = ${agent.workspaceId}::uuid for no key update`
  const all = await tx.webhook.count({ where: { workspaceId: agent.workspaceId, kind: 'webhook' } })
  if (all >= plan.webhooks) throw new AppError('plan_limit', `The plan includes ${plan.webhooks} webhooks.`)
}

/** Lists the agent's webhooks, oldest first. */
export const listWebhooks = async (
  deps: Db & Pick<WebhookDeps, 'keyring'>,
  viewer: Viewer,
  agentId: string,
): Promise<Webhook[]> => {
  const agent = await findAgent(deps, viewer, agentId)
  const rows = await deps.prisma.webhook.findMany({
    where: { agentId: agent.id, kind: 'webhook' },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return Promise.all(rows.map((row) => toWebhook(deps, row)))
}

/** Reads the fields that change as webhooks deliver, fail and get new secrets. */
export const readWebhookStates = ({ prisma }: Db, agentIds: readonly string[]) =>
  prisma.webhook.findMany({
    where: { agentId: { in: [...agentIds] }, kind: 'webhook' },
    select: {
      id: true,
      agentId: true,
      name: true,
      pausedAt: true,
      attempts: true,
      error: true,
      retryAt: true,
      lastDeliveredAt: true,
      previousUntil: true,
      format: true,
    },
  })

/**
 * Returns the webhook's row, for a viewer who may manage its agent. Throws `not_found` if it does not exist
 * or is another agent's.
 */
export const findWebhook = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  webhookId: string,
): Promise<WebhookRow> => {
  const agent = await findAgent(deps, viewer, agentId)
  const row = await deps.prisma.webhook.findUnique({
    where: { id_agentId: { id: webhookId, agentId: agent.id }, kind: 'webhook' },
  })
  if (!row) throw notFound('webhook')
  return row
}

/** Removes a webhook with its deliveries. A POST that is in progress may still arrive. */
export const removeWebhook = async (
  deps: Pick<WebhookDeps, 'prisma' | 'afterCommit' | 'pool' | 'notifier' | 'clock'>,
  viewer: Viewer,
  agentId: string,
  webhookId: string,
): Promise<void> => {
  const webhook = await findWebhook(deps, viewer, agentId, webhookId)
  const detail = { webhook: webhook.id, url: webhook.url }
  const removed = await deleteWebhook(deps, webhook, null, (tx) =>
    audit({ ...deps, prisma: tx }, viewer, { action: 'webhook.remove', agentId, detail }),
  )
  if (!removed) throw notFound('webhook')
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_REMOVED, webhook.id))
}
