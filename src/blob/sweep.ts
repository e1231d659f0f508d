import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import { SKIP_LOCKED, type Sql, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { within } from '../db/transaction.ts'
import type { Blobs } from './blobs.ts'
import type { BlobName } from './key.ts'
import { IN_FLIGHT_MS } from './note.ts'

/**
 * Deletes objects that no message has: those of deleted messages, and those of a process that was killed after it
 * had written an object. Two steps, each of which may be interrupted and may run in several processes at once:
 * a row without messages moves from `blob` to `deleted_blob`, then the object is deleted from the store, then its
 * row. The same content that arrives meanwhile gets another object, so no request to delete, however late, hits it.
 */

export interface SweepDeps extends Db {
  clock: Clock
  blobs: Pick<Blobs, 'delete'>
}

/**
 * An object that was noted less than so long ago is left alone, even if the last row that has it is deleted: another
 * message with the same content may be about to be stored.
 */
const WRITE_MS = 5 * 60_000

/**
 * The parts of a statement that have objects looked at soon, because the rows that have them are being deleted: those
 * that `refs`, a query, returns as `(agent_id, blob_id)`. They are locked in the order in which they are noted, so that
 * two statements cannot deadlock.
 */
export const checkSoon = (refs: Sql): Sql => sql`
  loose as (
    select b.agent_id, b.id from blob b
     where (b.agent_id, b.id) in (${refs}) order by b.agent_id, b.hash for update
  ),
  checked as (
    update blob b set check_at = case when b.check_at <= now() + interval '${WRITE_MS} ms' then b.check_at
           else greatest(now(), b.check_at - interval '${IN_FLIGHT_MS - WRITE_MS} ms') end from loose l where b.agent_id = l.agent_id and b.id = l.id
  )`

const MAX = 500
/** Requests to the store at once: others need it too. */
const PARALLEL = 8
/** How long a process has for the objects that it took, in milliseconds, and when a failed one is tried again. */
const LEASE_MS = 10 * 60_000

/** A row that is being written to is skipped: its message is just being stored or deleted. */
const CLAIM = {
  name: 'claim unchecked blobs',
  ...composedOf(
    sql`select agent_id, id from blob where check_at <= $1::timestamptz order by check_at limit ${MAX} ${SKIP_LOCKED}`,
  ),
}

/** A statement of its own, so that it sees what was committed before the rows were locked. */
const JUDGE = {
  name: 'check blobs',
  text: `
    with
    claimed as materialized (select * from unnest($1::uuid[], $2::uuid[]) as c(agent_id, id)),
    unused as materialized (
      select b.agent_id, b.id from blob b join claimed c on c.agent_id = b.agent_id and c.id = b.id
       where not exists (select from message_raw r where r.agent_id = b.agent_id and r.blob_id = b.id)
         and not exists (select from attachment f where f.agent_id = b.agent_id and f.blob_id = b.id)
         and not exists (select from attachment_text t where t.agent_id = b.agent_id and t.blob_id = b.id)
    ),
    gone as (
      delete from blob b using unused u where b.agent_id = u.agent_id and b.id = u.id
      returning b.id, b.agent_id, b.workspace_id, b.hash
    ),
    moved as (
      insert into deleted_blob (id, agent_id, workspace_id, hash, due_at) select *, $3::timestamptz from gone
    ),
    used as (
      update blob b set check_at = null from claimed c
       where b.agent_id = c.agent_id and b.id = c.id and (c.agent_id, c.id) not in (select agent_id, id from unused)
    )
    select count(*)::int as count from unused`,
}

/** Looks at one batch. Returns how many were looked at. */
const judgeSome = ({ prisma, clock }: SweepDeps): Promise<number> =>
  prisma.$transaction(async (tx) => {
    const { pool } = within(tx)
    const now = clock.now()
    const { rows } = await pool.query<{ agent_id: string; id: string }>({ ...CLAIM, values: [now] })
    if (rows.length === 0) return 0
    const values = [rows.map(({ agent_id }) => agent_id), rows.map(({ id }) => id), now]
    await pool.query({ ...JUDGE, values })
    return rows.length
  })

const TAKE = {
  name: 'take deleted blobs',
  ...composedOf(sql`
    with due as materialized (
      select agent_id, id from deleted_blob where due_at <= $1::timestamptz order by due_at limit ${MAX} ${SKIP_LOCKED}
    )
    update deleted_blob d set due_at = $2::timestamptz from due where d.agent_id = due.agent_id and d.id = due.id
    returning d.id, d.agent_id as "agentId", d.workspace_id as "workspaceId", d.hash`),
}

const FORGET = {
  name: 'forget deleted blobs',
  text: 'delete from deleted_blob d using unnest($1::uuid[], $2::uuid[]) as g(agent_id, id) where d.agent_id = g.agent_id and d.id = g.id',
}

/** Deletes one batch from the store. Returns how many are gone; throws when none could be deleted. */
const deleteSome = async ({ pool, clock, blobs }: SweepDeps, signal: AbortSignal): Promise<number> => {
  const now = clock.now().getTime()
  const values = [new Date(now), new Date(now + LEASE_MS)]
  const { rows } = await pool.query<BlobName & Record<string, unknown>>({ ...TAKE, values })
  const gone: BlobName[] = []
  let failure: unknown
  for (let at = 0; at < rows.length && !signal.aborted && !failure; at += PARALLEL) {
    const some = rows.slice(at, at + PARALLEL)
    const results = await Promise.allSettled(some.map((name) => blobs.delete(name)))
    gone.push(...some.filter((_, index) => results[index]!.status === 'fulfilled'))
    failure = results.find((result) => result.status === 'rejected')?.reason
  }
  if (gone.length > 0)
    await pool.query({ ...FORGET, values: [gone.map(({ agentId }) => agentId), gone.map(({ id }) => id)] })
  if (failure) throw failure
  return gone.length
}

/** Deletes what is due, in batches. Returns the number of objects that were deleted. */
export const sweepBlobs = async (deps: SweepDeps, signal: AbortSignal): Promise<number> => {
  for (let checked = MAX; checked === MAX && !signal.aborted; ) checked = await judgeSome(deps)
  let deleted = 0
  for (let batch = MAX; batch === MAX && !signal.aborted; deleted += batch)
    batch = await deleteSome(deps, signal)
  return deleted
}
