import { dialect } from '../../db/dialect.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { Owner } from './filter.ts'
import { joinMessage } from './for-each.ts'

type Range = readonly [from: number, to: number]

/** A character class that PostgreSQL's and JavaScript's regular expressions both accept. */
const oneOf = (ranges: readonly Range[]): string =>
  `[${ranges.map((range) => range.map((codePoint) => String.fromCodePoint(codePoint)).join('-')).join('')}]`

/**
 * Separators between words. PostgreSQL's parser uses the locale, and with C it treats all non-ASCII
 * characters as letters, including “quotes” and dashes.
 */
const PUNCTUATION = oneOf([
  [0x80, 0xa9],
  [0xab, 0xb4],
  [0xb6, 0xb9],
  [0xbb, 0xbf],
  [0xd7, 0xd7],
  [0xf7, 0xf7],
  [0x2000, 0x206f], // general punctuation
  [0x20a0, 0x20cf], // currencies
  [0x2190, 0x2bff], // arrows, symbols
  [0x3000, 0x303f], // Chinese, Japanese and Korean
  [0xfe00, 0xfe6f], // variation selectors, small forms
  [0xff00, 0xff0f], // fullwidth forms
  [0xff1a, 0xff20],
])

/**
 * Letters of scripts that write no spaces between words (Chinese, Japanese, Thai …) or attach endings to
 * words (Korean), and emoji. Each is indexed as a word, and a sequence of them is searched as a phrase:
 * finding word boundaries would need a dictionary.
 */
const UNSPACED = oneOf([
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
  [0x3040, 0x30ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7af],
  [0xf900, 0xfaff],
  [0x1f000, 0x1faff],
  [0x20000, 0x3ffff],
])

/** Inserts spaces between words in a text (SQL). Most texts are ASCII and skip this. */
export const spaced = (text: string) =>
  `case when octet_length(${text}) = length(${text}) then ${text} else regexp_replace(${text}, '(${UNSPACED})|${PUNCTUATION}', ' \\1 ', 'g') end`

/** The text of a message `m` to search in. It is cut because PostgreSQL rejects a tsvector of more than 1 MB. */
export const TEXT =
  "left(coalesce(m.subject, '') || ' ' || m.counterpart || ' ' || coalesce(m.counterpart_name, '') || ' ' || m.text, 100000)"

const wordsIn = (text: string) => `to_tsvector('simple', ${spaced(text)})`

/** The words of a message to search in. The `simple` configuration works for all languages. */
export const WORDS = `(select ${wordsIn('t')} from ${TEXT} as t)`

const RUNS = new RegExp(`(?<=(.?))${UNSPACED}+`, 'gu')

/**
 * Prepares a search query for `queryOf`: all kinds of quotation marks become plain ones, and letters of
 * unspaced scripts become phrases.
 */
export const asPhrases = (q: string): string =>
  q
    .split(/["“”„«»]/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replace(RUNS, (run, before: string) => `${/[^\s-]/.test(before) ? ' ' : ''}"${run}" `),
    )
    .join('"')

/**
 * A word that marks the agent's messages, so that the index returns no other agent's. It contains a space,
 * which no word of a text does.
 */
export const agentWord = (agentId: string) => `'agent ' || ${agentId}::text`

/**
 * Returns the query `q` (SQL) in the syntax of search engines: words, `"a phrase"`, `or`, `-without`. Its value
 * must have gone through `asPhrases`. A scalar subquery, so that it is parsed once for each statement.
 */
const queryOf = (q: string): string => `(select websearch_to_tsquery('simple', ${spaced(q)}))`

/** Joins the words of a message `w` for `matches`, on a distributed database only. */
export const joinWords = (w: string): string =>
  dialect('', `join message_search s on s.message_id = ${w}.id and s.agent_id = ${w}.agent_id`)

/** The condition under which an indexed message `w` matches. Messages not indexed yet never do. */
export const matches = (w: string, q: string): string =>
  `${dialect(`(select s.words from message_search s where s.message_id = ${w}.id and s.agent_id = ${w}.agent_id)`, 's.words')} @@ ${queryOf(q)}`

/**
 * Maximum number of agents that a search in a workspace names. Each costs time for every message with the words
 * (100,000 messages and 1,000 names: 3.6 s); a workspace with more agents is searched without names, which
 * finds words that are rare in the whole database.
 */
const MAX_NAMED = 20

const agentsOf = (workspaceId: string) =>
  `select a.id from agent a where a.workspace_id = ${workspaceId} limit ${MAX_NAMED + 1}`

/** Adds to the query `query` that the message is one of the owner's. */
const ofOwner = ({ column, id }: Owner, query: string): string =>
  column === 'agent_id'
    ? `(quote_literal(${agentWord(id)}))::tsquery && ${query}`
    : `(select case when count(*) > ${MAX_NAMED} then ${query}
                    else coalesce(string_agg(quote_literal(${agentWord('a.id')}), '|')::tsquery && ${query}, '') end
          from (${agentsOf(id)}) a)`

/**
 * All of an agent's or workspace's messages that match and are indexed, in no order; possibly also others, if the
 * workspace has many agents. Costs as much as there are messages that match, if only 0.3 µs for each that
 * `limit` cuts off.
 */
export const allMatching = (owner: Owner, q: string, limit: number): string => `
  select s.message_id, s.agent_id from message_search s
   where s.words @@ (select ${ofOwner(owner, 't.query')}
                       from (select ${queryOf(q)} as query) t where numnode(t.query) > 0) limit ${limit}`

/**
 * Limits on what a search reads of messages that are not indexed yet. Usually there are none, because they
 * are indexed within a second; after an upgrade that indexes everything again there may be a million.
 */
const UNINDEXED = { messages: 100, bytes: 1024 * 1024 }

const UNINDEXED_OF = dialect(
  'cross join lateral (select * from unindexed_message where agent_id = n.agent_id and message_id = n.id limit 1) u',
  'join unindexed_message u on u.agent_id = n.agent_id and u.message_id = n.id',
)

/**
 * The newest messages of an owner that are not indexed yet. A workspace's are looked for among its newest
 * messages.
 */
const unindexedOf = ({ column, id }: Owner): string =>
  column === 'agent_id'
    ? `select message_id, agent_id from unindexed_message where agent_id = ${id} order by message_id desc limit ${UNINDEXED.messages}`
    : `select u.message_id, u.agent_id
         from (select n.id, n.agent_id from message n where n.workspace_id = ${id}
                order by n.created_at desc, n.id desc limit ${UNINDEXED.messages}) n
        ${UNINDEXED_OF}`

/** Of an owner's newest messages that are not indexed yet, those that match and meet the `condition` on `m`. */
export const unindexedMatching = (owner: Owner, q: string, condition: string): string => `
  select m.id, m.agent_id, m.created_at from (
    select m.*, sum(octet_length(m.text)) over (order by m.id desc rows between unbounded preceding and 1 preceding) as before
      from (${unindexedOf(owner)}) u
      ${joinMessage('u', 'message_id')}
  ) m where coalesce(m.before, 0) < ${UNINDEXED.bytes} and ${condition} and ${dialect(WORDS, wordsIn(TEXT))} @@ ${queryOf(q)}`

/** Queues a message whose words have changed for the index, in the transaction that changes them. */
export const indexAgain = async (
  tx: Prisma.TransactionClient,
  { id: messageId, agentId }: { id: string; agentId: string },
): Promise<void> => {
  await tx.messageSearch.deleteMany({ where: { messageId, agentId } })
  await tx.$executeRaw`
    insert into unindexed_message (agent_id, message_id) values (${agentId}::uuid, ${messageId}::uuid) on conflict do nothing`
}
