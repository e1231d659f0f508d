import { v7 as newId } from 'uuid'
import type { Clock } from '../../core/clock.ts'
import { notFound } from '../../core/errors.ts'
import { uuidArray } from '../../db/bytea.ts'
import type { Db, RootDb } from '../../db/client.ts'
import { deleteInBatches } from '../../db/delete-in-batches.ts'
import type { Connection, Prisma, Webhook } from '../../db/generated/prisma/client.ts'
import { type Notifier, notifyOnCommit } from '../../db/notify.ts'
import { define, raw, rows, SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { HEARD_BY_DEFAULT } from '../../event/index.ts'
import { isLimited, noteChange, noteChanges, type Viewer } from '../../workspace/index.ts'
import { findAgent } from '../access/permission.ts'

export interface ConnectionDeps extends Db {
  clock: Clock
  notifier: Notifier
}

/** Time in milliseconds for which a connection counts as listening after its lease was renewed. */
const LEASE_MS = 45_000

/**
 * Topic that notifies every process that an agent's client was replaced or disconnected. The key is the
 * agent's id.
 */
export const CLIENT_REPLACED = 'client_replaced'

/**
 * Makes the calling client the one that receives the agent's new messages, in place of any other. Its stream
 * begins with the first event after this moment: the agent's log is locked while the position is read, so
 * that no event is missed.
 */
export const connectClient = async (
  deps: ConnectionDeps,
  viewer: Viewer,
  agentId: string,
  input: { client: string; machine: string },
): Promise<Connection> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId, 'be')
  const now = deps.clock.now()
  return deps.prisma.$transaction(async (tx) => {
    const [log] = await tx.$queryRaw<
      { last_id: bigint }[]
    >`select last_id from event_log where agent_id = ${agentId}::uuid for update`
    if (!log) throw notFound('agent')
    await noteChange(tx, { workspaceId, kind: 'listener', agentId })
    await tx.$executeRaw`
      update connection set replaced_at = ${now}, lease_until = null, changed_at = case when lease_until is null then changed_at else least(lease_until, ${now}) end
       where agent_id = ${agentId}::uuid and replaced_at is null`
    await notifyOnCommit(tx, CLIENT_REPLACED, agentId)
    return tx.connection.create({
      data: {
        id: newId(),
        agentId,
        tokenId: viewer.tokenId,
        client: input.client,
        machine: input.machine,
        startAfter: log.last_id,
        createdAt: now,
      },
    })
  })
}

/** A connection as its stream needs it. `replacedAt` is null while it is current. */
interface FoundConnection {
  id: string
  agentId: string
  startAfter: number
  replacedAt: Date | null
}

/** Not through Prisma: see docs/decisions.md#opening-a-stream. */
const BY_ID = {
  name: 'connection',
  text: 'select id, agent_id as "agentId", start_after as "startAfter", replaced_at as "replacedAt" from connection where id = $1 and agent_id = $2',
}

/** Returns the connection, for the agent itself. */
export const findConnection = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  connectionId: string,
): Promise<FoundConnection> => {
  await findAgent(deps, viewer, agentId, 'be')
  const { rows } = await deps.pool.query<FoundConnection>({ ...BY_ID, values: [connectionId, agentId] })
  if (!rows[0]) throw notFound('connection')
  return rows[0]
}

const BEGUN = rows('begun', 'id', 'agent_id', 'workspace_id')
const GONE = rows('gone', 'id', 'agent_id', 'workspace_id')

/** Those without a lease begin to listen, and the members who watch the workspace are notified. */
const RENEW = {
  name: 'renew leases',
  ...composedOf(sql`
    with held as materialized (
      select c.id, c.agent_id, c.lease_until is null or c.lease_until <= $4 as begins
        from unnest($1::uuid[], $2::uuid[]) as h(id, agent_id)
        join connection c on c.id = h.id and c.agent_id = h.agent_id where c.replaced_at is null
    ),
    renewed as (
      update connection c set lease_until = $3, changed_at = case when held.begins then $4::timestamptz else c.changed_at end from held
       where c.id = held.id and c.agent_id = held.agent_id and c.replaced_at is null returning c.id, c.agent_id, held.begins
    ),
    ${define(BEGUN)} as (
      select r.id, r.agent_id, a.workspace_id from renewed r join agent a on a.id = r.agent_id where r.begins
    ),${noteChanges('listener', BEGUN)}
    select id from unnest($1::uuid[]) as asked(id) where id not in (select id from renewed)`),
}

/**
 * Renews the leases of current connections, in one statement for all that this process serves. Returns those
 * that no longer are, by their ids: nearly always none of thousands.
 */
export const renewLeases = async (
  { pool, clock }: ConnectionDeps,
  connections: readonly Pick<Connection, 'id' | 'agentId'>[],
): Promise<Set<string>> => {
  const now = clock.now()
  const until = new Date(now.getTime() + LEASE_MS)
  const keys = [
    uuidArray(connections.map(({ id }) => id)),
    uuidArray(connections.map(({ agentId }) => agentId)),
  ]
  const { rows } = await pool.query<{ id: string }>({ ...RENEW, values: [...keys, until, now] })
  return new Set(rows.map(({ id }) => id))
}

/**
 * Owner of an open stream or subscription: an agent (or null for a workspace), a token, and the connection if it
 * is the agent's client.
 */
export interface ListenerUse {
  agentId: string | null
  tokenId: string
  connectionId: string | null
}

/**
 * Why a listener is no longer current. `revoked`: its token was deleted or limited; `gone`: its agent was deleted; `replaced`:
 * another client has connected.
 */
export type Ending = 'replaced' | 'revoked' | 'gone'

/**
 * A current connection of this token exists no longer than its agent and its token do, so it is all that has to be
 * looked up. A subquery, because PostgreSQL would read the whole table for a join with thousands of uses.
 */
export const IS_CURRENT = sql`(select true from connection where id = u.connection and agent_id = u.agent and token_id = u.token and replaced_at is null)`

const ENDED = {
  name: 'listeners ended',
  ...composedOf(sql`
    with suspect as materialized (
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as u(agent, token, connection, place)
       where ${IS_CURRENT} is null
    )
    select u.place::int - 1 as place,
           case when t.id is null then 'revoked' when u.agent is not null and l.agent_id is null then 'gone' else 'replaced' end as ending
      from suspect u left join token t on t.id = u.token and not ${raw(isLimited('t'))} left join event_log l on l.agent_id = u.agent
      left join connection c on c.id = u.connection and c.agent_id = u.agent
     where t.id is null or u.agent is not null and l.agent_id is null
        or u.connection is not null and (c.id is null or c.replaced_at is not null)`),
}

/**
 * Returns those that are no longer current, by their places in `uses`. The others are not in the result: a process
 * asks for thousands of them again and again. See docs/decisions.md#checking-connections.
 */
export const readEnded = async (
  { pool }: Pick<Db, 'pool'>,
  uses: readonly ListenerUse[],
): Promise<Map<number, Ending>> => {
  const { rows } = await pool.query<{ place: number; ending: Ending }>({
    ...ENDED,
    values: [
      uses.map(({ agentId }) => agentId),
      uses.map(({ tokenId }) => tokenId),
      uses.map(({ connectionId }) => connectionId),
    ],
  })
  return new Map(rows.map(({ place, ending }) => [place, ending]))
}

const END = {
  name: 'end leases',
  ...composedOf(sql`
    with ended as (
      update connection c set lease_until = null, changed_at = case when c.lease_until is null then c.changed_at else least(c.lease_until, $3) end from unnest($1::uuid[], $2::uuid[]) as held(id, agent_id)
       where c.id = held.id and c.agent_id = held.agent_id and c.replaced_at is null returning c.id, c.agent_id
    ),
    ${define(GONE)} as (select e.id, e.agent_id, a.workspace_id from ended e join agent a on a.id = e.agent_id),${noteChanges('listener', GONE)}
    select agent_id from ended`),
}

/**
 * Ends leases immediately, when their streams close. If a client has already reconnected to another process,
 * that process is notified and renews the lease.
 */
export const endLeases = async (
  { pool, notifier, clock, afterCommit }: ConnectionDeps,
  connections: readonly Pick<Connection, 'id' | 'agentId'>[],
): Promise<void> => {
  const values = [connections.map(({ id }) => id), connections.map(({ agentId }) => agentId), clock.now()]
  const { rows } = await pool.query<{ agent_id: string }>({ ...END, values })
  for (const { agent_id } of rows) afterCommit(() => notifier.publish(CLIENT_REPLACED, agent_id))
}

export interface Listener {
  kind: 'client' | 'webhook'
  client?: string
  machine?: string
  id?: string
  url?: string
}

/**
 * Returns the listeners of the agent's Message URL: its client while connected, its calls of wait_for_messages, and the
 * webhooks that are not waiting for a retry.
 */
export const listListeners = async (
  deps: ConnectionDeps,
  viewer: Viewer,
  agentId: string,
): Promise<Listener[]> => {
  await findAgent(deps, viewer, agentId)
  return currentListeners(deps, agentId)
}

/** Returns the conditions under which an agent's connections, waiting calls and webhooks are listening at `now`. */
export const listeningAt = (now: Date) =>
  ({
    connections: { replacedAt: null, leaseUntil: { gt: now } },
    waiters: { waitsUntil: { gt: now } },
    webhooks: {
      pausedAt: null,
      AND: [
        { OR: [{ attempts: 0 }, { retryAt: null }, { retryAt: { lte: now } }] },
        { OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] },
        { OR: [{ channels: { isEmpty: true } }, { channels: { has: 'url' } }] },
        { types: { hasEvery: [...HEARD_BY_DEFAULT] } },
      ],
    },
  }) satisfies {
    connections: Prisma.ConnectionWhereInput
    waiters: Prisma.WaiterWhereInput
    webhooks: Prisma.WebhookWhereInput
  }

/** Lists an agent's current listeners, without checking permissions. */
export const currentListeners = async (
  { prisma, clock }: ConnectionDeps,
  agentId: string,
): Promise<Listener[]> => {
  const at = listeningAt(clock.now())
  const [connections, waiters, webhooks] = await Promise.all([
    prisma.connection.findMany({ where: { agentId, ...at.connections } }),
    prisma.waiter.findMany({ where: { agentId, ...at.waiters } }),
    prisma.webhook.findMany({ where: { agentId, ...at.webhooks }, orderBy: { createdAt: 'asc' } }),
  ])
  return presentListeners({ connections, waiters, webhooks })
}

/** A call that waits is a client too, whose name is that of the tool; the machine is not known. */
export const presentListeners = ({
  connections,
  waiters,
  webhooks,
}: {
  connections: Pick<Connection, 'client' | 'machine'>[]
  waiters: object[]
  webhooks: Pick<Webhook, 'id' | 'url'>[]
}): Listener[] => [
  ...connections.map(({ client, machine }): Listener => ({ kind: 'client', client, machine })),
  ...waiters.map((): Listener => ({ kind: 'client', client: 'wait_for_messages' })),
  ...webhooks.map(({ id, url }): Listener => ({ kind: 'webhook', id, url })),
]

const END_LAPSED = composedOf(sql`
  with lapsed as materialized (
    select id, agent_id from connection where lease_until < $1 ${SKIP_LOCKED}
  ),
  ended as (
    update connection c set lease_until = null, changed_at = c.lease_until from lapsed where c.id = lapsed.id and c.agent_id = lapsed.agent_id
    returning c.id, c.agent_id
  ),
  ${define(GONE)} as (select e.id, e.agent_id, a.workspace_id from ended e join agent a on a.id = e.agent_id),${noteChanges('listener', GONE)}
  select count(*)::int as count from ended`)

/**
 * Ends the leases that lapsed because the process that held them has died, so that members who watch the workspace are notified.
 * Idempotent; any process may call it at any time. Returns their number.
 */
export const endLapsedLeases = async ({ pool }: Db, now: Date): Promise<number> =>
  (await pool.query<{ count: number }>(END_LAPSED, [now])).rows[0]!.count

/** Time in milliseconds for which a replaced connection is stored, so that its stream is told to stop. */
const REPLACED_KEPT_MS = 7 * 24 * 3_600_000

const DELETE_OLD = composedOf(sql`
  with old as materialized (
    select id, agent_id from connection where replaced_at < $1 order by replaced_at limit $2 ${SKIP_LOCKED}
  ),
  gone as (delete from connection d using old where d.id = old.id and d.agent_id = old.agent_id returning 1)
  select count(*)::int as count from gone`)

/** Deletes connections that were replaced long ago, in small batches. Idempotent; safe to run in any process at any time. */
export const pruneConnections = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - REPLACED_KEPT_MS), signal)
