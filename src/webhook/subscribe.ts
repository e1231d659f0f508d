import { createHash, randomUUID } from 'node:crypto'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Db, RootDb } from '../db/client.ts'
import type { Channel, Prisma, Webhook as WebhookRow } from '../db/generated/prisma/client.ts'
import { define, rows, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import type { EventType } from '../event/index.ts'
import type { Dialler } from '../outgoing-http/dial.ts'
import { checkTargetUrl, normalizeUrl } from '../outgoing-http/url.ts'
import { noteChange, noteChanges, type RateLimits, type Viewer } from '../workspace/index.ts'
import { type CallbackFailure, challengeReceiver, failureOfWords } from './challenge.ts'
import { openSecret, sealSecret } from './secret.ts'
import {
  formatTopicKey,
  lockLog,
  WEBHOOK_ADDED,
  WEBHOOK_CHANGED,
  WEBHOOK_REMOVED,
  type WebhookDeps,
} from './webhook.ts'

/** Webhooks of MCP clients: they expire unless renewed, and the client chooses their secret. */

export type SubscribeDeps = WebhookDeps & { dialler: Dialler; rates: Pick<RateLimits, 'take'> }

/** What identifies a subscription, together with its principal: agent, URL and events. */
export interface Subject {
  agent: { id: string; workspaceId: string }
  type: EventType
  /** Sorted; empty means all channels. */
  channels: Channel[]
  url: string
}

export interface SubscribeInput extends Subject {
  secret: string
  /** Event after which a new subscription starts. */
  after: number
  /** Requested duration in milliseconds; null for the maximum. */
  ttlMs: number | null
}

export interface Subscribed {
  id: string
  expiresAt: Date
  /** Event after which deliveries continue. */
  position: number
  /** Delivery status so far; null when it is new. */
  status: {
    active: boolean
    lastDeliveryAt: Date | null
    lastError: CallbackFailure | null
    failedSince: Date | null
  } | null
}

/** Subscriptions of an agent. @limit MCP */
export const MAX_SUBSCRIPTIONS = 100

/** The principal already has the maximum number of subscriptions. */
export class TooManySubscriptions extends AppError {
  constructor() {
    super('conflict', `There can be at most ${MAX_SUBSCRIPTIONS} subscriptions. End one first.`)
  }
}

/** Longest time for which a subscription is valid without renewal. @limit MCP */
const MAX_TTL_MS = 24 * 3_600_000
const MIN_TTL_MS = 5 * 60_000
/**
 * How long deliveries are also signed with the previous secret, and how long a successful challenge is valid.
 */
const PREVIOUS_SIGNS_MS = 24 * 3_600_000
const VERIFIED_MS = 24 * 3_600_000
/** Challenges that a token can cause within a minute: each is a request to a server of the client's choice. @limit MCP */
const CHALLENGES_A_MINUTE = 30

const idOf = (viewer: Viewer, { agent, type, channels }: Subject, url: string): string => {
  const key = JSON.stringify([viewer.kind, viewer.id, url, type, agent.id, channels])
  return `sub_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/

/** Checks that a secret is `whsec_` followed by 24 to 64 bytes in base64. */
const checkSecret = (secret: string): void => {
  const encoded = SECRET.exec(secret)?.[1] ?? ''
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded) return
  throw invalidInput('delivery.secret', 'must be whsec_ and the base64 of 24 to 64 bytes')
}

/** Returns when the subscription expires: not later than its token. */
const grantUntil = (now: Date, { expiresAt }: Viewer, ttlMs: number | null): Date => {
  const granted = now.getTime() + Math.min(Math.max(ttlMs ?? MAX_TTL_MS, MIN_TTL_MS), MAX_TTL_MS)
  return new Date(Math.min(granted, expiresAt?.getTime() ?? granted))
}

/** Returns when the receiver last passed a challenge for this principal; null if that is no longer valid. */
const verifiedAt = async ({ prisma }: Db, viewer: Viewer, url: string, now: Date): Promise<Date | null> => {
  const since = new Date(now.getTime() - VERIFIED_MS)
  const where = { principalId: viewer.id, url, verifiedAt: { gt: since } }
  return (await prisma.webhook.findFirst({ where, orderBy: { verifiedAt: 'desc' } }))?.verifiedAt ?? null
}

const verify = async (
  deps: SubscribeDeps,
  viewer: Viewer,
  receiver: { url: string; secret: string; subscription: string },
): Promise<Date> => {
  const known = await verifiedAt(deps, viewer, receiver.url, deps.clock.now())
  if (known) return known
  const { allowed, limit, resetSeconds } = deps.rates.take(
    `challenge:${viewer.workspaceId}`,
    CHALLENGES_A_MINUTE,
  )
  if (!allowed)
    throw new AppError('rate_limited', `At most ${limit} receivers a minute can be challenged.`, {
      retryAfter: resetSeconds,
    })
  await challengeReceiver(deps, receiver)
  return deps.clock.now()
}

const statusOf = ({
  attempts,
  error,
  lastDeliveredAt,
  failingSince,
}: WebhookRow): NonNullable<Subscribed['status']> => ({
  active: attempts === 0,
  lastDeliveryAt: lastDeliveredAt,
  lastError: error === null ? null : failureOfWords(error),
  failedSince: failingSince,
})

/**
 * Changes the secret; the previous one remains valid for a while. Setting the same one again changes nothing.
 */
const newSecret = async (
  deps: SubscribeDeps,
  row: WebhookRow,
  secret: string,
  now: Date,
): Promise<Prisma.WebhookUpdateInput> => {
  if ((await openSecret(deps.keyring, row.workspaceId, row.id, row.secret)) === secret) return {}
  const sealed = new Uint8Array(await sealSecret(deps.keyring, row.workspaceId, row.id, secret))
  return {
    secret: sealed,
    previousSecret: row.secret,
    previousUntil: new Date(now.getTime() + PREVIOUS_SIGNS_MS),
  }
}

/**
 * Creates or renews a subscription. Renewing restarts its duration and retries a waiting event immediately.
 * An expired subscription starts where a new one would. Throws `invalid_input`, `CallbackError`,
 * `TooManySubscriptions` and `rate_limited`.
 */
export const subscribeWebhook = async (
  deps: SubscribeDeps,
  viewer: Viewer,
  input: SubscribeInput,
): Promise<Subscribed> => {
  checkSecret(input.secret)
  const url = await checkTargetUrl(input.url, deps)
  const subscription = idOf(viewer, input, url)
  const verified = await verify(deps, viewer, { url, secret: input.secret, subscription })
  const now = deps.clock.now()
  const id = randomUUID()
  const { agent, type, channels } = input
  const sealed = new Uint8Array(await sealSecret(deps.keyring, agent.workspaceId, id, input.secret))
  const granted = {
    expiresAt: grantUntil(now, viewer, input.ttlMs),
    tokenId: viewer.tokenId,
    verifiedAt: verified,
  }
  const done = await deps.prisma.$transaction(async (tx) => {
    const lastId = await lockLog(tx, agent.id)
    const known = await tx.webhook.findUnique({
      where: { subscription_agentId: { subscription, agentId: agent.id } },
    })
    if (known) return { before: known, row: await renew({ ...deps, tx, lastId }, known, input, granted) }
    await ensureBelowLimit(tx, viewer, now)
    await noteChange(tx, { workspaceId: agent.workspaceId, kind: 'listener', agentId: agent.id })
    const own = {
      kind: 'mcp' as const,
      subscription,
      principalId: viewer.id,
      types: [type as string],
      channels,
    }
    const place = {
      id,
      workspaceId: agent.workspaceId,
      agentId: agent.id,
      url,
      position: BigInt(input.after),
      createdAt: now,
      dueAt: BigInt(input.after) < lastId ? now : null,
    }
    return {
      before: null,
      row: await tx.webhook.create({ data: { ...place, ...own, ...granted, secret: sealed } }),
    }
  })
  if (!done.before) deps.afterCommit(() => deps.notifier.publish(WEBHOOK_ADDED, agent.id))
  deps.afterCommit(() => deps.notifier.publish(WEBHOOK_CHANGED, formatTopicKey(done.row)))
  const { row, before } = done
  return {
    id: subscription,
    expiresAt: granted.expiresAt,
    position: Number(row.position),
    status: before && statusOf(before),
  }
}

type Granted = Pick<WebhookRow, 'expiresAt' | 'verifiedAt'> & { tokenId: string }

const renew = async (
  deps: SubscribeDeps & { tx: Prisma.TransactionClient; lastId: bigint },
  row: WebhookRow,
  { secret, after }: SubscribeInput,
  { tokenId, ...granted }: Granted,
): Promise<WebhookRow> => {
  const now = deps.clock.now()
  const lapsed = row.expiresAt !== null && row.expiresAt <= now
  const position = lapsed ? BigInt(after) : row.position
  const dueAt = position < deps.lastId ? now : row.dueAt
  const changes = {
    ...(await newSecret(deps, row, secret, now)),
    ...(lapsed ? { position } : {}),
    ...granted,
    token: { connect: { id: tokenId } },
  }
  return deps.tx.webhook.update({
    where: { id_agentId: { id: row.id, agentId: row.agentId } },
    data: { ...changes, attempts: 0, retryAt: null, dueAt, revision: { increment: 1 } },
  })
}

const ensureBelowLimit = async (tx: Prisma.TransactionClient, { id }: Viewer, now: Date): Promise<void> => {
  const own = await tx.webhook.count({ where: { principalId: id, expiresAt: { gt: now } } })
  if (own >= MAX_SUBSCRIPTIONS) throw new TooManySubscriptions()
}

/** Ends a subscription without notifying its receiver. Ending one that does not exist has no effect. */
export const unsubscribeWebhook = async (
  deps: Pick<WebhookDeps, 'prisma' | 'afterCommit' | 'pool' | 'notifier'>,
  viewer: Viewer,
  subject: Subject,
): Promise<void> => {
  const subscription = idOf(viewer, subject, normalizeUrl(subject.url))
  const { id: agentId } = subject.agent
  const ended = await deps.prisma.$transaction(async (tx) => {
    await lockLog(tx, agentId)
    const [row] = await tx.$queryRaw<{ id: string }[]>`
      with ended as (
        delete from webhook where subscription = ${subscription} and agent_id = ${agentId}::uuid returning id, agent_id
      ),
      jobs as (delete from job using ended where job.agent_id = ended.agent_id and job.lane = ended.id)
      select id from ended`
    if (row) await noteChange(tx, { workspaceId: viewer.workspaceId, kind: 'listener', agentId })
    return row
  })
  if (ended) deps.afterCommit(() => deps.notifier.publish(WEBHOOK_REMOVED, ended.id))
}

const ENDED = rows('ended', 'id', 'agent_id', 'workspace_id')

/**
 * Deletes expired subscriptions; their receivers are not notified. Idempotent; any process may call it at any
 * time.
 */
export const pruneSubscriptions = async ({ pool }: RootDb, now: Date): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>({
    ...composedOf(sql`with ${define(ENDED)} as (delete from webhook where kind = 'mcp' and expires_at <= $1 returning id, agent_id, workspace_id),
          jobs as (delete from job using ended where job.agent_id = ended.agent_id and job.lane = ended.id),
          ${noteChanges('listener', ENDED)}
     select count(*)::int as count from ended`),
    values: [now],
  })
  return rows[0]!.count
}
