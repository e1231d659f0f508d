import { adaptable, varying } from '../../db/dialect.ts'
import { bind, fill, place, raw, type Sql, sql } from '../../db/sql/sql.ts'
import { ofAgent, sameAgent } from '../stored/same-agent.ts'

/** An agent, one of its threads, or a workspace. All keys of a statement are of the same kind. */
export type MessageListKey = { agentId: string; threadId?: string | undefined } | { workspaceId: string }

/** What a statement reads for, as parameters: agents or workspaces, and threads. */
export interface Keys {
  owners: Sql
  threads: Sql
  /** How many there are, and whether they are agents. */
  count: number
  areAgents: boolean
}

export const keysOf = (keys: readonly MessageListKey[]): Keys => ({
  owners: bind(keys.map((key) => ('workspaceId' in key ? key.workspaceId : key.agentId))),
  threads: bind(keys.map((key) => ('workspaceId' in key ? null : (key.threadId ?? null)))),
  count: keys.length,
  areAgents: keys.every((key) => 'agentId' in key),
})

/** The keys `k` of a statement, with their places. */
export const fromKeys = ({ owners, threads }: Keys): Sql =>
  sql`unnest((select ${owners}::uuid[]), (select ${threads}::uuid[])) with ordinality as k(owner_id, thread_id, ord)`

const OWNER = Symbol('owner')
const THREAD = Symbol('thread')
const ORD = Symbol('ord')

/** The agent or workspace, and the thread, of the key that a query is run for. */
export const OWNER_ID: Sql = place(OWNER, raw('k.owner_id'))
export const THREAD_ID: Sql = place(THREAD, raw('k.thread_id'))

/** The place of that key. */
export const KEY_ORD: Sql = place(ORD, raw('k.ord'))

/** A query of which the key at this place, one of the keys, is a constant. */
export const forOne = (query: Sql, { owners, threads, areAgents }: Keys, at = 1): Sql => {
  const owner = sql`(${owners}::uuid[])[${at}]`
  const ofKey = fill(fill(query, OWNER, owner), THREAD, sql`(${threads}::uuid[])[${at}]`)
  const one = fill(ofKey, ORD, raw(String(at)))
  return areAgents ? ofAgent(one, owner) : one
}

/** Joins the message `m` of a row that was found by its key: PostgreSQL's planner would rather read the whole mailbox. */
export const joinMessage = (row: string, id = 'id'): Sql => {
  const key = sql`${raw(row)}.${raw(id)}`
  return adaptable(
    'join message',
    { key, isSameAgent: sameAgent('m', row) },
    sql`cross join lateral (select * from message where id = ${key} and agent_id = ${raw(row)}.agent_id limit 1) m`,
  )
}

/** Runs a query for each key `k`, and returns its rows with the place of their key. `where` is a condition on the key. */
export const forEach = (keys: Keys, query: Sql, where?: Sql): Sql =>
  varying(
    'for each key',
    {
      ...keys,
      each: (at: number) => ({ query: forOne(query, keys, at), where: where && forOne(where, keys, at) }),
    },
    sql`select k.ord::int as key, p.* from ${fromKeys(keys)} cross join lateral (${query}) p ${where ? sql`where ${where}` : raw('')}`,
  )
