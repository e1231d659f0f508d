import { tsvectorArray } from '../../db/bytea.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { raw, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import type { Owner } from './filter.ts'
import { joinMessage } from './for-each.ts'
import { tsvectorOf } from './words.ts'

/**
 * The text of a message `m` to search in. PostgreSQL cuts by looking at each character, which takes as long as reading the
 * text, so that it cuts the long ones alone (docs/decisions.md#filling-the-search-index).
 */
export const TEXT: Sql = raw(
  "coalesce(m.subject, '') || ' ' || m.counterpart || ' ' || coalesce(m.counterpart_name, '') || ' ' || case when octet_length(m.text) > 100000 then left(m.text, 100000) else m.text end",
)

/**
 * A word that marks the agent's messages, so that the index returns no other agent's. It contains a space,
 * which no word of a text does.
 */
export const agentWord = (agentId: Sql): Sql => sql`'agent ' || ${agentId}::text`

/** The value of a query `q`: what `tsqueryOf` returned. A scalar subquery: the planner does not know the value. */
const queryOf = (q: Sql): Sql => sql`(select ${q}::tsquery)`

/** The condition under which an indexed message `w` matches, if need be `unmarked`. Messages not indexed yet never do. */
export const matches = (w: string, q: Sql, unmarked: boolean): Sql => {
  const words = sql`(select s.words from message_search s where s.message_id = ${raw(w)}.id and s.agent_id = ${raw(w)}.agent_id)`
  const compared = unmarked ? sql`ts_delete(${words}, ${agentWord(raw(`${w}.agent_id`))})` : words
  return sql`${compared} @@ ${queryOf(q)}`
}

/**
 * Maximum number of agents that a search in a workspace names. Each costs time for every message with the words
 * (docs/decisions.md#naming-agents); a workspace with more agents is searched without names, which finds words that
 * are rare in the whole database.
 * @limit Messages
 */
const MAX_NAMED = 20

const agentsOf = (workspaceId: Sql): Sql =>
  sql`select a.id from agent a where a.workspace_id = ${workspaceId} limit ${MAX_NAMED + 1}`

/** Adds to the query `query` that the message is one of the owner's. */
const ofOwner = ({ column, id }: Owner, query: Sql): Sql =>
  column === 'agent_id'
    ? sql`(quote_literal(${agentWord(id)}))::tsquery && ${query}`
    : sql`(select case when count(*) > ${MAX_NAMED} then ${query}
                    else coalesce(string_agg(quote_literal(${agentWord(raw('a.id'))}), '|')::tsquery && ${query}, '') end
          from (${agentsOf(id)}) a)`

/**
 * All of an agent's or workspace's messages that match and are indexed, in no order; possibly also others, if the
 * workspace has many agents. The cost grows with the number of messages that match, also of those that `limit` cuts off.
 */
export const allMatching = (owner: Owner, q: Sql, limit: number): Sql => sql`
  select s.message_id, s.agent_id from message_search s
   where s.words @@ (select ${ofOwner(owner, raw('t.query'))} from (select ${queryOf(q)} as query) t) limit ${limit}`

/**
 * Limits on what a search reads of messages that are not indexed yet. Usually there are none, because they
 * are indexed within a second; after an upgrade that indexes everything again there may be a million.
 */
const UNINDEXED = { messages: 100, bytes: 512 * 1024 }

/**
 * The newest messages of an owner that are not indexed yet. A workspace's are looked for among its newest
 * messages.
 */
const unindexedOf = ({ column, id }: Owner): Sql =>
  column === 'agent_id'
    ? sql`select message_id, agent_id from unindexed_message where agent_id = ${id} order by message_id desc limit ${UNINDEXED.messages}`
    : sql`select u.message_id, u.agent_id
         from (select n.id, n.agent_id from message n where n.workspace_id = ${id}
                order by n.created_at desc, n.id desc limit ${UNINDEXED.messages}) n
        cross join lateral (select * from unindexed_message where agent_id = n.agent_id and message_id = n.id limit 1) u`

/** Of an owner's newest messages that are not indexed yet, those that meet the `condition` on `m`, with their text. */
export const unindexedAmong = (owner: Owner, condition: Sql): Sql => sql`
  select m.id, m.agent_id, m.created_at, ${TEXT} as text from (
    select m.*, sum(octet_length(m.text)) over (order by m.id desc rows between unbounded preceding and 1 preceding) as before
      from (${unindexedOf(owner)}) u
      ${joinMessage('u', 'message_id')}
  ) m where coalesce(m.before, 0) < ${UNINDEXED.bytes} and ${condition}`

const MATCH = statement<{ words: Buffer; q: string }>(
  'match texts',
  ({ words, q }) =>
    sql`select t.words @@ ${queryOf(q)} as matches from unnest(${words}::tsvector[]) with ordinality as t(words, ord) order by t.ord`,
)

/** Returns those of these rows whose texts match the query `q`. Of several mailboxes it reads as much as of one. */
export const matchTexts = async <Row extends { text: string }>(
  { pool }: Pick<Db, 'pool'>,
  q: string,
  rows: readonly Row[],
): Promise<Row[]> => {
  if (rows.length === 0) return []
  const words: Buffer[] = []
  let characters = 0
  for (const { text } of rows) {
    characters += text.length
    if (characters > UNINDEXED.bytes && words.length > 0) break
    words.push(await tsvectorOf(text))
  }
  const { rows: matched } = await pool.query<{ matches: boolean }>(MATCH({ words: tsvectorArray(words), q }))
  return rows.filter((_, index) => matched[index]?.matches)
}

/** Queues a message whose words have changed for the index, in the transaction that changes them. */
export const indexAgain = async (
  tx: Prisma.TransactionClient,
  { id: messageId, agentId }: { id: string; agentId: string },
): Promise<void> => {
  await tx.messageSearch.deleteMany({ where: { messageId, agentId } })
  await tx.$executeRaw`
    insert into unindexed_message (agent_id, message_id) values (${agentId}::uuid, ${messageId}::uuid) on conflict do nothing`
}
