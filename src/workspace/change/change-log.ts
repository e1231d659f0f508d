import type { Db, RootDb } from '../../db/client.ts'
import { deleteInBatches } from '../../db/delete-in-batches.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { notifyOnCommit } from '../../db/notify.ts'
import { type Rows, raw, type Sql, sql } from '../../db/sql/sql.ts'

/**
 * The log of what changes in each workspace, for members who watch it. Rows are small, name what changed and
 * not how, and are added by the statement or transaction that changes it: no change without its row, and no
 * writer waits for another.
 *
 * A bigserial is not in commit order: a reader that has seen 5 could later find a 4. So a position in the log
 * is a snapshot of PostgreSQL, which says exactly which transactions it could see. The next read returns the
 * rows that are visible now and were not then, each once, however the transactions overlapped.
 */

export const CHANGE_KINDS = {
  message_arrived: 'Messages were received or refused.',
  message_changed:
    'Messages were accepted for sending, or their status, hold, labels or read mark changed, or they were deleted.',
  thread: 'Threads were done, postponed, opened again or assigned, or members noted something on them.',
  agent: 'An agent was created, changed or deleted.',
  address: 'An address of an agent was added, changed or removed.',
  access: 'Who may send messages to an agent changed.',
  listener: "An agent's client connected or disconnected, or a subscription to its events began or ended.",
  webhook:
    'A webhook was added, changed or removed, failed, delivers again, or answered a test or a resent event.',
  question: 'An agent asked a question, or one was answered or withdrawn or has expired.',
  draft: 'A draft was saved, deleted or sent.',
  secret: 'A secret was set or deleted.',
  suppression: "A recipient was added to an agent's suppression list, or removed from it.",
  token: 'A token was created or revoked, or a token of an agent was used for the first time.',
  app: 'An app was connected or disconnected.',
  member: 'A member joined, was changed or was removed.',
  invitation: 'A member was invited, or an invitation was revoked.',
  session: 'A member signed in, or a session ended.',
  passkey: 'A passkey was added or removed.',
  identity: 'A phone number or Telegram account of a member was added or removed.',
  number: 'A phone number was rented or released.',
  domain: 'A domain was added, checked or removed.',
  workspace: "The workspace's name or settings changed.",
} as const
export type ChangeKind = keyof typeof CHANGE_KINDS

const XID = 'pg_current_xact_id()::text::bigint'

type OfAgents = 'agent_id' | 'workspace_id'

/**
 * The part of a statement that adds rows for the objects that it has changed, one for each agent. Announcing them
 * after the commit is left to the caller; otherwise watchers hear of them with the next poll.
 */
export const noteChanges = (kind: ChangeKind, changed: Rows<'id' | OfAgents>): Sql => sql`
    noted as (${insertChanges(kind, changed, raw('array_agg(c.id)'))})`

/** Adds rows for a second kind in one statement, whose objects have no ids. */
export const noteNameless = (kind: ChangeKind, changed: Rows<OfAgents>): Sql => sql`
    noted_${raw(kind)} as (${insertChanges(kind, changed, raw("'{}'::uuid[]"))})`

const insertChanges = (kind: ChangeKind, changed: Rows<OfAgents>, ids: Sql): Sql => sql`
      insert into workspace_change (workspace_id, xid, kind, agent_id, ids)
      select c.workspace_id, ${raw(XID)}, '${raw(kind)}', c.agent_id, ${ids} from ${changed} c group by c.workspace_id, c.agent_id`

/** A topic that announces new rows; the key is the workspace's id. */
export const WORKSPACE_CHANGED = 'workspace_changed'

export interface Change {
  workspaceId: string
  kind: ChangeKind
  agentId: string | null
  ids?: readonly string[]
}

type Tx = Pick<Prisma.TransactionClient, '$executeRaw'>

/** Adds a row in the transaction that changes something, and announces it with the commit. */
export const noteChange = async (tx: Tx, { workspaceId, kind, agentId, ids = [] }: Change): Promise<void> => {
  await tx.$executeRaw`
    insert into workspace_change (workspace_id, xid, kind, agent_id, ids)
    values (${workspaceId}::uuid, pg_current_xact_id()::text::bigint, ${kind}, ${agentId}::uuid, ${ids}::uuid[])`
  await notifyOnCommit(tx, WORKSPACE_CHANGED, workspaceId)
}

/** A position in the log: what a reader has seen, and when. */
export interface ChangePosition {
  snapshot: string
  /** Unix time in milliseconds by the database's clock. */
  at: number
}

/** What changed in a workspace after a position. */
export interface ChangesRead {
  changes: Omit<Change, 'workspaceId'>[]
  /** Whether there was too much to list, or the rows after the position may be gone: anything may have changed. */
  truncated: boolean
  position: ChangePosition
}

const NOW = 'pg_current_snapshot()::text as snapshot, (extract(epoch from now()) * 1000)::float8 as at'

/** Returns the present position. */
export const readChangePosition = async ({ pool }: Pick<Db, 'pool'>): Promise<ChangePosition> =>
  (await pool.query<ChangePosition>(`select ${NOW}`)).rows[0]!

/** Returns whether a snapshot, as a client has sent it, is one. */
export const isSnapshot = async ({ pool }: Pick<Db, 'pool'>, snapshot: string): Promise<boolean> => {
  if (!/^\d{1,18}:\d{1,18}:[\d,]{0,8000}$/.test(snapshot)) return false
  try {
    await pool.query('select $1::pg_snapshot', [snapshot])
    return true
  } catch (error) {
    if ((error as { code?: string }).code === '22P02') return false
    throw error
  }
}

/**
 * Time for which a position among a workspace's changes is valid. Rows are kept for an hour longer, which a
 * transaction may take.
 * @limit Streams
 */
const VALID_HOURS = 24
const RETENTION_MS = (VALID_HOURS + 1) * 3_600_000
/** Maximum number of rows, and of ids in them, that are listed. A watcher that missed more reads everything again. */
const MAX_ROWS = 500
const MAX_IDS = 2_000

/** The `xid` of the row that says when the database was restored. No transaction has it: PostgreSQL's begin with 3. */
const RESTORED = 0

/**
 * Ends the positions from before a restore to an earlier moment: the transactions that they have seen are not those
 * that will have the same ids. A watcher that resumes at one reads everything again. Of all workspaces, or of one.
 */
export const endChangePositions = async (
  { pool }: Pick<Db, 'pool'>,
  workspaceId: string | null = null,
): Promise<void> => {
  await pool.query(
    `insert into workspace_change (workspace_id, xid, kind, ids, created_at)
     select id, ${RESTORED}, 'restored', '{}', clock_timestamp() from workspace where $1::uuid is null or id = $1`,
    [workspaceId],
  )
}

const READ = {
  name: 'workspace changes',
  text: `
    select p.ord::int, c.*, ${NOW},
           p.at < extract(epoch from now() - interval '${VALID_HOURS} hours') * 1000
             or pg_snapshot_xmax(p.seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
             or exists (select from workspace_change r where r.workspace_id = p.workspace and r.xid = ${RESTORED}
                           and r.created_at > to_timestamp(p.at / 1000)) as lost
      from unnest($1::uuid[], $2::text[], $3::float8[]) with ordinality as p(workspace, seen, at, ord)
      left join lateral (
        select kind, agent_id, ids from workspace_change
         where workspace_id = p.workspace and xid >= pg_snapshot_xmin(p.seen::pg_snapshot)::text::bigint
           and not pg_visible_in_snapshot(xid::text::xid8, p.seen::pg_snapshot)
           and pg_visible_in_snapshot(xid::text::xid8, pg_current_snapshot())
         order by xid, id limit ${MAX_ROWS + 1}
      ) c on true
     order by p.ord`,
}

interface ReadRow extends ChangePosition {
  ord: number
  kind: ChangeKind | null
  agent_id: string | null
  ids: string[]
  lost: boolean
}

/** One change for each kind and agent, with all ids. */
const merge = (rows: readonly ReadRow[]): ChangesRead['changes'] => {
  const merged = new Map<string, { kind: ChangeKind; agentId: string | null; ids: Set<string> }>()
  for (const { kind, agent_id: agentId, ids } of rows) {
    const key = `${kind} ${agentId}`
    const one = merged.get(key) ?? { kind: kind!, agentId, ids: new Set<string>() }
    for (const id of ids) one.ids.add(id)
    merged.set(key, one)
  }
  return [...merged.values()].map((one) => ({ ...one, ids: [...one.ids] }))
}

/** Reads what changed in each of these workspaces after its position, with one statement. */
export const readChanges = async (
  { pool }: Pick<Db, 'pool'>,
  positions: readonly (ChangePosition & { workspaceId: string })[],
): Promise<ChangesRead[]> => {
  const values = [
    positions.map(({ workspaceId }) => workspaceId),
    positions.map(({ snapshot }) => snapshot),
    positions.map(({ at }) => at),
  ]
  const { rows } = await pool.query<ReadRow>({ ...READ, values })
  return positions.map((_, index) => {
    const all = rows.filter(({ ord }) => ord === index + 1)
    const { snapshot, at, lost } = all[0]!
    // A newer version that runs beside this one may add kinds.
    const changed = all.filter(({ kind }) => kind !== null && kind in CHANGE_KINDS)
    const idCount = changed.reduce((sum, { ids }) => sum + ids.length, 0)
    const truncated = lost || changed.length > MAX_ROWS || idCount > MAX_IDS
    return { changes: truncated ? [] : merge(changed), truncated, position: { snapshot, at } }
  })
}

const DELETE_OLD = `
  with old as materialized (
    select workspace_id, xid, id from workspace_change where created_at < $1 limit $2 for update skip locked
  ),
  gone as (
    delete from workspace_change c using old
     where c.workspace_id = old.workspace_id and c.xid = old.xid and c.id = old.id returning 1
  )
  select count(*)::int as count from gone`

/** Deletes old rows, in small batches. Idempotent; safe to run in any process at any time. Returns their number. */
export const pruneChanges = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - RETENTION_MS), signal)
