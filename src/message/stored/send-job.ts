import type { Db, RootDb } from '../../db/client.ts'
import { deleteInBatches, deleteOfAgent } from '../../db/delete-in-batches.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { NEW_ID } from '../../db/sql/new-id.ts'
import { type Rows, SKIP_LOCKED, type Sql, sql } from '../../db/sql/sql.ts'
import { composedOf, statement } from '../../db/sql/statement.ts'

/** A message to send, leased to this process. */
export interface SendJob {
  id: string
  messageId: string
  agentId: string
  /** Number of earlier attempts. */
  attempts: number
  /** When it first became due. */
  queuedAt: Date
  /** The worker that holds the lease. */
  owner: string
}

/**
 * The part of a statement that inserts one job for each message that it has stored and that does not wait for
 * approval. Its `created_at` is when it becomes due: retries and retention count from then.
 */
export const enqueueSends = (
  drafted: Rows<'id' | 'agent_id' | 'hold_reason' | 'send_at' | 'created_at'>,
): Sql => sql`
    sends as (
      insert into job (id, kind, agent_id, lane, seq, due_at, created_at)
      select ${NEW_ID}, 'send', agent_id, id, 0, greatest(created_at, send_at), greatest(created_at, send_at) from ${drafted}
       where hold_reason is distinct from 'approval'
    )`

/** Notification topic: messages of the agent that is the key are waiting to be sent. */
export const SEND_DUE = 'send_due'

/**
 * Duration of a lease in seconds. It is renewed while the work is in progress; after a crash another worker
 * takes over when it expires.
 */
export const SEND_LEASE_S = 10

/** Queues a message, in the transaction that ends its wait for approval. */
export const enqueueSend = async (
  tx: Prisma.TransactionClient,
  { id, agentId }: { id: string; agentId: string },
  dueAt: Date,
): Promise<void> => {
  await tx.job.create({ data: { kind: 'send', agentId, lane: id, seq: 0, dueAt, createdAt: dueAt } })
}

/** The job of a message that no worker has begun to send. */
const unstarted = ({ id, agentId }: { id: string; agentId: string }) => ({
  kind: 'send' as const,
  agentId,
  lane: id,
  seq: 0,
  attempts: 0,
  dueAt: { not: null },
  leaseOwner: null,
})

/** Moves the time of a message that no worker has begun to send. Returns false if one has. */
export const postponeSend = async (
  tx: Prisma.TransactionClient,
  message: { id: string; agentId: string },
  dueAt: Date,
): Promise<boolean> => {
  const { count } = await tx.job.updateMany({ where: unstarted(message), data: { dueAt, createdAt: dueAt } })
  return count > 0
}

/** Removes a message that no worker has begun to send from the queue. Returns false if one has. */
export const withdrawSend = async (
  tx: Prisma.TransactionClient,
  message: { id: string; agentId: string },
): Promise<boolean> => {
  const { count } = await tx.job.deleteMany({ where: unstarted(message) })
  return count > 0
}

type SendJobKey = Pick<SendJob, 'id' | 'agentId'>

/** The owner of the leases, the agents of the jobs and their ids. */
type Owned = { owner: string; agents: readonly string[]; ids: readonly string[] }

const ownedBy = (owner: string, jobs: readonly SendJobKey[]): Owned => ({
  owner,
  agents: jobs.map(({ agentId }) => agentId),
  ids: jobs.map(({ id }) => id),
})

const RENEW = statement<Owned>(
  'renew sends',
  ({ owner, agents, ids }) => sql`
      update job set lease_until = now() + make_interval(secs => ${SEND_LEASE_S})
        from (select job.agent_id, job.id from unnest(${agents}::uuid[], ${ids}::uuid[]) as j(agent_id, id) join job using (agent_id, id)
               where job.lease_owner = ${owner} for update of job skip locked) as j
       where job.agent_id = j.agent_id and job.id = j.id and job.lease_owner = ${owner}`,
)

/**
 * Renews the leases of work that takes longer than one lease. Jobs that are being settled are left out: two
 * statements that wait for each other's rows would deadlock.
 */
export const renewSends = async ({ pool }: Db, owner: string, jobs: readonly SendJobKey[]): Promise<void> => {
  await pool.query(RENEW(ownedBy(owner, jobs)))
}

/** Another worker holds the job by now, so this worker must not write its result. */
export class LeaseLost extends Error {}

const RELEASE = statement<Owned>(
  undefined,
  ({ owner, agents, ids }) => sql`
      update job set lease_owner = null, lease_until = null from unnest(${agents}::uuid[], ${ids}::uuid[]) as j(agent_id, id)
       where job.agent_id = j.agent_id and job.id = j.id and job.lease_owner = ${owner}`,
)

/** Releases leases without an attempt, so that another worker can claim the jobs immediately. */
export const releaseSends = async (
  { pool }: Db,
  owner: string,
  jobs: readonly SendJobKey[],
): Promise<void> => {
  await pool.query(RELEASE(ownedBy(owner, jobs)))
}

/** Returns when the longest overdue send became due; null when none is due. */
export const oldestDueSend = async ({ pool }: Db, now: Date): Promise<Date | null> => {
  const { rows } = await pool.query<{ at: Date | null }>({
    name: 'oldest due send',
    text: 'select min(due_at) as at from job where due_at <= $1',
    values: [now],
  })
  return rows[0]?.at ?? null
}

/** Removes messages from the queue, in the transaction that deletes them. */
export const removeSends = async (
  tx: Pick<Prisma.TransactionClient, 'job'>,
  agentId: string,
  ids: readonly string[],
): Promise<void> => {
  await tx.job.deleteMany({ where: { agentId, kind: 'send', lane: { in: [...ids] } } })
}

/** Deletes at most $2 jobs of the agent $1. */
const DELETE_OF_AGENT = {
  name: 'delete sends of an agent',
  text: `
    with gone as (
      delete from job where id = any(array(select id from job where agent_id = $1 and kind = 'send' limit $2 for update skip locked))
                        and agent_id = $1 returning 1
    )
    select count(*)::int as count from gone`,
}

/** Deletes jobs of an agent that was deleted. Returns their number, at most `limit`. */
export const deleteSendsOf = (db: Pick<Db, 'pool'>, agentId: string, limit: number): Promise<number> =>
  deleteOfAgent(db, DELETE_OF_AGENT, agentId, limit)

/**
 * Retention of finished jobs, in milliseconds. Nothing is pending by then: a message is given up after a day.
 */
const KEPT_MS = 7 * 24 * 3_600_000

const DELETE_OLD = composedOf(sql`
  with old as materialized (
    select id, agent_id from job where created_at < $1 and kind = 'send' order by created_at limit $2 ${SKIP_LOCKED}
  ),
  gone as (delete from job d using old where d.id = old.id and d.agent_id = old.agent_id returning 1)
  select count(*)::int as count from gone`)

/** Deletes jobs past their retention time, in small batches. Idempotent; any process may call it at any time. */
export const pruneSendJobs = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - KEPT_MS), signal)
