import type { Db, Queryable } from '../../db/client.ts'
import { deleteOfAgent } from '../../db/delete-in-batches.ts'
import { define, rows, SKIP_LOCKED, type Sql, sql } from '../../db/sql/sql.ts'

const THREADS = rows('emptied', 'agent_id', 'thread_id')

/** The part of a statement that finds the threads of which it deletes all messages, whose ids are the array `ids`. */
export const findEmptied = (agent: Sql, ids: Sql): Sql => sql`
  ${define(THREADS)} as materialized (
    select distinct m.agent_id, m.thread_id from message m where m.agent_id = ${agent} and m.id = any(${ids})
       and not exists (select from message o where o.agent_id = m.agent_id and o.thread_id = m.thread_id and o.id <> all(${ids}))
  )`

/** A state that somebody is changing is skipped: two that wait for each other would both have locked the other's rows. */
export const deleteEmptied = (agent: Sql): Sql => sql`
  ended as materialized (
    select s.agent_id, s.thread_id from thread_state s
     where s.agent_id = ${agent} and (s.agent_id, s.thread_id) in (select agent_id, thread_id from ${THREADS}) ${SKIP_LOCKED}
  ),
  stateless as (
    delete from thread_state s using ended e where s.agent_id = e.agent_id and s.thread_id = e.thread_id and s.agent_id = ${agent}
  ),
  noteless as (
    delete from thread_note n using ${THREADS} e where n.agent_id = e.agent_id and n.thread_id = e.thread_id and n.agent_id = ${agent}
  )`

const STATES = {
  name: 'delete thread states of an agent',
  text: `
    with gone as (
      delete from thread_state where agent_id = $1 and thread_id in (select thread_id from thread_state where agent_id = $1 limit $2) returning 1
    )
    select count(*)::int as count from gone`,
}
const NOTES = {
  name: 'delete thread notes of an agent',
  text: `
    with gone as (
      delete from thread_note where agent_id = $1 and id in (select id from thread_note where agent_id = $1 limit $2) returning 1
    )
    select count(*)::int as count from gone`,
}

/** Deletes up to `most` states and as many notes of the threads of an agent that was deleted. Returns the larger number of rows. */
export const deleteThreadsOf = async (
  db: Pick<Db, 'pool'>,
  agentId: string,
  most: number,
): Promise<number> => {
  const states = await deleteOfAgent(db, STATES, agentId, most)
  return Math.max(states, await deleteOfAgent(db, NOTES, agentId, most))
}

/** Moves the notes and states of threads that became part of others. A thread that has a state keeps its own. */
const MERGE = {
  name: 'merge thread states',
  text: `
    with moved as (
      update thread_note n set thread_id = t.target
        from unnest($2::uuid[], $3::uuid[]) as t(source, target) where n.agent_id = $1::uuid and n.thread_id = t.source
    ),
    ended as (
      delete from thread_state s using unnest($2::uuid[], $3::uuid[]) as t(source, target)
       where s.agent_id = $1::uuid and s.thread_id = t.source
      returning t.target, s.workspace_id, s.done_at, s.snoozed_until, s.assigned_to, s.conversation
    )
    insert into thread_state (agent_id, thread_id, workspace_id, done_at, snoozed_until, assigned_to, conversation)
    select $1::uuid, target, workspace_id, done_at, snoozed_until, assigned_to, conversation from ended on conflict do nothing`,
}

export const mergeThreadStates = async (
  pool: Queryable,
  agentId: string,
  merged: ReadonlyMap<string, string>,
): Promise<void> => {
  await pool.query({ ...MERGE, values: [agentId, [...merged.keys()], [...merged.values()]] })
}
