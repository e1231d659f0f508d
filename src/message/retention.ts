import { checkSoon } from '../blob/index.ts'
import type { Clock } from '../core/clock.ts'
import type { RootDb } from '../db/client.ts'
import { define, rows, SKIP_LOCKED, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { noteChanges } from '../workspace/index.ts'
import { deleteOld, GONE, OLD } from './stored/deletion.ts'

/** Workspaces decide for how many days messages, and emails as they were received, are kept. */

type RetentionDeps = Pick<RootDb, 'pool'> & { clock: Clock }

interface Due {
  id: string
  /** What is older is deleted. */
  before: Date
}

const dueFor = async ({ pool, clock }: RetentionDeps, column: string): Promise<Due[]> => {
  const { rows } = await pool.query<Due & Record<string, unknown>>(
    `select id, $1::timestamptz - make_interval(days => ${column}) as before from workspace where ${column} is not null`,
    [clock.now()],
  )
  return rows
}

/** Each message may have 25 MiB and as much again in attachments, and concurrent writes must not be held up. */
const MAX = 100

/**
 * Refused messages have their own setting; what is still being sent stays. Rows that another process is
 * deleting are skipped.
 */
const DELETE_MESSAGES = {
  name: 'prune messages',
  ...composedOf(sql`
    with ${define(OLD)} as materialized (
      select id, agent_id from message where workspace_id = $1 and created_at < $2 and status not in ('refused', 'sending')
       order by created_at limit ${MAX} ${SKIP_LOCKED}
    ),${deleteOld()},${noteChanges('message_changed', GONE)}
    select count(*)::int as count from gone`),
}

/**
 * Deletes messages that are older than their workspace keeps them, in small batches. Idempotent; any process
 * may call it at any time. Returns the number of messages.
 */
export const pruneMessages = async (deps: RetentionDeps, signal: AbortSignal): Promise<number> => {
  let pruned = 0
  for (const { id, before } of await dueFor(deps, 'keep_messages_days')) {
    for (let batch = MAX; batch === MAX && !signal.aborted; pruned += batch) {
      const { rows } = await deps.pool.query<{ count: number }>({ ...DELETE_MESSAGES, values: [id, before] })
      batch = rows[0]!.count
    }
  }
  return pruned
}

/** Messages looked at in one statement, oldest first. */
const PAGE = 500

const GONE_RAW = rows('gone', 'agent_id', 'blob_id')

const DELETE_RAW = {
  name: 'prune raw messages',
  ...composedOf(sql`
    with
    page as materialized (
      select id, agent_id, created_at from message
       where workspace_id = $1 and created_at < $2 and created_at >= $3 and (created_at, id) > ($3, $4::uuid)
       order by created_at, id limit ${PAGE}
    ),
    ${define(GONE_RAW)} as (
      delete from message_raw r using page p where r.message_id = p.id and r.agent_id = p.agent_id returning r.agent_id, r.blob_id
    ),${checkSoon(sql`select agent_id, blob_id from ${GONE_RAW} where blob_id is not null`)}
    select count(*)::int as read, (select count(*)::int from gone) as gone,
           (array_agg(id order by created_at desc, id desc))[1] as last, max(created_at) as at
      from page`),
}

/** The last message of a workspace whose original was deleted. */
interface Place {
  at: Date
  id: string
}
const START: Place = { at: new Date(0), id: '00000000-0000-0000-0000-000000000000' }
const DAY_MS = 24 * 3_600_000

/**
 * Deletes emails as received that are older than their workspace keeps them, in small batches. Messages
 * without an original are most of the old ones, so a process remembers how far it was, and looks at all of them
 * once a day: imported messages are older than what it has seen.
 */
export class RawRetention {
  readonly #deps: RetentionDeps
  #places = new Map<string, Place>()
  #since = Number.NEGATIVE_INFINITY

  constructor(deps: RetentionDeps) {
    this.#deps = deps
  }

  /** Returns the number of emails. */
  async prune(signal: AbortSignal): Promise<number> {
    const now = this.#deps.clock.now().getTime()
    if (now - this.#since >= DAY_MS) {
      this.#places = new Map()
      this.#since = now
    }
    let pruned = 0
    for (const due of await dueFor(this.#deps, 'keep_raw_days')) pruned += await this.#pruneOne(due, signal)
    return pruned
  }

  async #pruneOne({ id, before }: Due, signal: AbortSignal): Promise<number> {
    let pruned = 0
    for (let read = PAGE; read === PAGE && !signal.aborted; ) {
      const { at, id: last } = this.#places.get(id) ?? START
      type Row = { read: number; gone: number; last: string | null; at: Date | null }
      const values = [id, before, at, last]
      const { rows } = await this.#deps.pool.query<Row>({ ...DELETE_RAW, values })
      const row = rows[0]!
      if (row.last && row.at) this.#places.set(id, { at: row.at, id: row.last })
      pruned += row.gone
      read = row.read
    }
    return pruned
  }
}
