import { bind, raw, type Sql, sql } from '../../db/sql/sql.ts'

/** An agent, one of its threads, or a workspace. All keys of a statement are of the same kind. */
export type MessageListKey = { agentId: string; threadId?: string | undefined } | { workspaceId: string }

/** What a statement reads for, as parameters: agents or workspaces, and threads. */
export interface Keys {
  owners: Sql
  threads: Sql
}

export const keysOf = (keys: readonly MessageListKey[]): Keys => ({
  owners: bind(keys.map((key) => ('workspaceId' in key ? key.workspaceId : key.agentId))),
  threads: bind(keys.map((key) => ('workspaceId' in key ? null : (key.threadId ?? null)))),
})

/** The keys `k` of a statement, with their places. */
export const fromKeys = ({ owners, threads }: Keys): Sql =>
  sql`unnest((select ${owners}::uuid[]), (select ${threads}::uuid[])) with ordinality as k(owner_id, thread_id, ord)`

/** The agent or workspace, and the thread, of the key that a query is run for. */
export const OWNER_ID: Sql = raw('k.owner_id')
export const THREAD_ID: Sql = raw('k.thread_id')

/** The place of that key. */
export const KEY_ORD: Sql = raw('k.ord')

/** Joins the message `m` of a row that was found by its key: PostgreSQL's planner would rather read the whole mailbox. */
export const joinMessage = (row: string, id = 'id'): Sql =>
  sql`cross join lateral (select * from message where id = ${raw(row)}.${raw(id)} and agent_id = ${raw(row)}.agent_id limit 1) m`

/** Runs a query for each key `k`, and returns its rows with the place of their key. `where` is a condition on the key. */
export const forEach = (keys: Keys, query: Sql, where?: Sql): Sql =>
  sql`select k.ord::int as key, p.* from ${fromKeys(keys)} cross join lateral (${query}) p ${where ? sql`where ${where}` : raw('')}`
