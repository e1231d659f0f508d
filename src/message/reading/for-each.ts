import type { Statement } from '../../db/client.ts'
import { dialect } from '../../db/dialect.ts'

/** An agent, one of its threads, or a workspace. All keys of a statement are of the same kind. */
export type MessageListKey = { agentId: string; threadId?: string | undefined } | { workspaceId: string }

/** The keys `k` of a statement: $1 are the agents or workspaces, $2 the threads. */
export const KEYS =
  'unnest((select $1::uuid[]), (select $2::uuid[])) with ordinality as k(owner_id, thread_id, ord)'

/** Joins the message `m` of a row that was found by its key: PostgreSQL's planner would rather read the whole mailbox. */
export const joinMessage = (row: string, id = 'id'): string =>
  dialect(
    `cross join lateral (select * from message where id = ${row}.${id} and agent_id = ${row}.agent_id limit 1) m`,
    `join message m on m.id = ${row}.${id} and m.agent_id = ${row}.agent_id`,
  )

/** A value that is hidden from PostgreSQL's planner, which Citus does not take as a limit. */
const HIDDEN = /\(select (\$\d+::\w+)\)/g
const SAME_AGENT = /\bagent_id = \w+\.agent_id\b/g

/** Returns a query of which the key at `place`, one of `keys`, is a constant. */
export const withConstant = (query: string, keys: readonly MessageListKey[], place = 1): string => {
  const ofAgent = keys.every((key) => 'agentId' in key)
  const owner = `($1::uuid[])[${place}]`
  const one = query
    .replaceAll('k.ord', `${place}`)
    .replaceAll('k.owner_id', owner)
    .replaceAll('k.thread_id', `($2::uuid[])[${place}]`)
    .replaceAll(HIDDEN, '$1')
  return ofAgent ? one.replaceAll(SAME_AGENT, `agent_id = ${owner}`) : one
}

/**
 * Returns the statement that runs a query for each key `k`, and returns its rows with the place of their key. `where` is
 * a condition on the key. On a distributed database it is a query for each key, which is a constant in it: so each query
 * of an agent's messages runs as a whole where they are. (Citus takes no query with a limit for each row of another.)
 */
export const forEach = (
  keys: readonly MessageListKey[],
  query: string,
  where = '',
): Pick<Statement, 'text' | 'distributed'> => ({
  text: `select k.ord::int as key, p.* from ${KEYS} cross join lateral (${query}) p ${where}`,
  distributed: () =>
    // Both arrays are in each of them, because PostgreSQL must know their types.
    keys
      .map(
        (_, index) =>
          `(select ${index + 1} as key, p.* from (${withConstant(query, keys, index + 1)}) p ${withConstant(where || 'where true', keys, index + 1)} and cardinality($1::uuid[] || $2::uuid[]) > 0)`,
      )
      .join(' union all '),
})
