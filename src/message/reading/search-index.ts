import type pg from 'pg'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type Led, Routine } from '../../core/routine.ts'
import { tsvectorArray } from '../../db/bytea.ts'
import { isUnavailable, type RootDb } from '../../db/client.ts'
import { raw, SKIP_LOCKED, type Sql, sql } from '../../db/sql/sql.ts'
import { composedOf, type Statement } from '../../db/sql/statement.ts'
import { withClient } from '../../db/with-client.ts'
import { agentWord, TEXT } from './search.ts'
import { tsvectorOf } from './words.ts'

/**
 * How a message's words were found: 1 by PostgreSQL's parser, 2 by `words.ts`. Negative when that failed: the number
 * of attempts.
 */
const VERSION = 2
const EARLIER = 1
const MAX_ATTEMPTS = 3
const RETRIED = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => index + 1 - MAX_ATTEMPTS)

/** Messages indexed in one transaction, which other work waits for. See docs/decisions.md#filling-the-search-index. */
const MAX = 20
/** For a statement that indexes messages, which usually takes some milliseconds. */
const TIMEOUT_MS = 1_000

/**
 * `chosen`: up to `most` messages of a queue, as many of each of the next agents after `after`, so that many messages to one
 * agent do not delay those to others.
 */
export const chosenInTurn = (queue: Sql, after: Sql, most: Sql, isDue: Sql = raw('true')): Sql => sql`
    agents as (
      (select agent_id, 1 as n from ${queue} where agent_id > ${after} and ${isDue} order by agent_id limit 1)
      union all
      select (select u.agent_id from ${queue} u where u.agent_id > a.agent_id and ${isDue} order by u.agent_id limit 1), a.n + 1
        from agents a where a.agent_id is not null and a.n < ${most}
    ),
    chosen as materialized (
      select u.agent_id, u.message_id from agents a cross join lateral (
        select agent_id, message_id from ${queue} where agent_id = a.agent_id and ${isDue} order by message_id
         limit (select greatest(1, ${most} / count(agent_id)) from agents) ${SKIP_LOCKED}) u limit ${most}
    )`

/** Up to $1 messages that leave the queue. */
const TAKE_NEW = {
  name: 'take unindexed messages',
  ...composedOf(sql`
    with recursive ${chosenInTurn(raw('unindexed_message'), raw('$2::uuid'), raw('$1::bigint'))}
    delete from unindexed_message where (agent_id, message_id) in (select agent_id, message_id from chosen)
    returning agent_id, message_id as id`),
}

/** Up to $1 messages whose words have the version $2. */
const TAKE_AGAIN = {
  name: 'take messages to index again',
  ...composedOf(
    sql`select agent_id, message_id as id from message_search where version = $2 and version < ${VERSION} order by agent_id limit $1 ${SKIP_LOCKED}`,
  ),
}

/** $1 messages and $2 their agents. They are locked, so that they are not deleted before their words are inserted. */
const READ = {
  name: 'read messages to index',
  ...composedOf(sql`
    select m.id, m.agent_id, ${TEXT} as text,
           exists (select from attachment f where f.message_id = m.id and f.agent_id = m.agent_id) as "hasFiles" from unnest($1::uuid[], $2::uuid[]) as g(id, agent_id)
      join message m on m.id = g.id and m.agent_id = g.agent_id for key share of m`),
}

/** $1 messages and $2 their agents, $3 their words. */
export const INSERT_WORDS = {
  name: 'index messages',
  ...composedOf(sql`
    insert into message_search (message_id, agent_id, words, version)
    select m.id, m.agent_id, g.words, ${VERSION} from unnest($1::uuid[], $2::uuid[], $3::tsvector[]) as g(id, agent_id, words)
      join message m on m.id = g.id and m.agent_id = g.agent_id
    on conflict (message_id, agent_id) do update set words = excluded.words, version = excluded.version`),
}

/** Queues the files of the messages $1 of the agents $2, whose words are added later: reading them takes longer. */
const QUEUE_FILES = {
  name: 'queue files to index',
  text: 'insert into unread_file (message_id, agent_id) select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing',
}

const DELETE_NEW = {
  name: 'delete an unindexed message',
  text: 'delete from unindexed_message where message_id = $1 and agent_id = $2',
}

/** Marks the message $1 of the agent $2 as one that could not be indexed: only words from before find it. */
const MARK = {
  name: 'mark a message as not indexed',
  ...composedOf(sql`
    insert into message_search as s (message_id, agent_id, words, version)
    select id, agent_id, array_to_tsvector(array[${agentWord(raw('agent_id'))}]), -1 from message where id = $1 and agent_id = $2
    on conflict (message_id, agent_id) do update set version = least(s.version, 0) - 1`),
}

interface Key {
  id: string
  agent_id: string
}

const inTransaction = <Result>(
  { pool }: Pick<RootDb, 'pool'>,
  run: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> =>
  withClient(pool, async (client) => {
    await client.query('begin')
    await client.query(`set local statement_timeout = ${TIMEOUT_MS}`)
    const result = await run(client)
    await client.query('commit')
    return result
  })

const write = async (client: pg.PoolClient, keys: readonly Key[]): Promise<void> => {
  const about = (messages: readonly Key[]): string[][] => [
    messages.map(({ id }) => id),
    messages.map(({ agent_id }) => agent_id),
  ]
  const { rows } = await client.query<Key & { text: string; hasFiles: boolean }>({
    ...READ,
    values: about(keys),
  })
  const words: Buffer[] = []
  for (const { text, agent_id } of rows) words.push(await tsvectorOf(text, `agent ${agent_id}`))
  await client.query({ ...INSERT_WORDS, values: [...about(rows), tsvectorArray(words)] })
  const withFiles = rows.filter(({ hasFiles }) => hasFiles)
  if (withFiles.length > 0) await client.query({ ...QUEUE_FILES, values: about(withFiles) })
}

type Deps = Pick<RootDb, 'pool'> & { log: Logger }

/** Indexes a message on its own. If that fails, it is marked, so that it is not tried again and does not block others. */
const indexAlone = async (deps: Deps, key: Key): Promise<void> => {
  const values = [key.id, key.agent_id]
  const leave = (client: pg.PoolClient) => client.query({ ...DELETE_NEW, values })
  try {
    await inTransaction(deps, async (client) => {
      await write(client, [key])
      await leave(client)
    })
  } catch (error) {
    if (isUnavailable(error)) throw error
    await inTransaction(deps, async (client) => {
      await client.query({ ...MARK, values })
      await leave(client)
    })
    const about = { message: key.id, agent: key.agent_id, error: messageOf(error) }
    deps.log.warn(about, 'could not index a message for search: its words will not be found')
  }
}

/** Indexes the messages that a statement takes, together if possible, and returns them. */
const indexTaken = async (deps: Deps, take: Statement): Promise<Key[]> => {
  let taken: Key[] = []
  try {
    await inTransaction(deps, async (client) => {
      taken = (await client.query<Key>(take)).rows
      if (taken.length > 0) await write(client, taken)
    })
  } catch (error) {
    if (isUnavailable(error) || taken.length === 0) throw error
    for (const key of taken) await indexAlone(deps, key)
  }
  return taken
}

const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * Indexes messages that are not indexed yet, at most `limit`, and returns their number. `turn` is the agent after
 * which the next call goes on.
 */
export const indexMessages = async (deps: Deps, limit = MAX, turn = { after: FIRST }): Promise<number> => {
  const taken = await indexTaken(deps, { ...TAKE_NEW, values: [limit, turn.after] })
  if (taken.length === 0 && turn.after === FIRST) return 0
  turn.after =
    taken
      .map(({ agent_id }) => agent_id)
      .sort()
      .at(-1) ?? FIRST
  return taken.length || indexMessages(deps, limit, turn)
}

/** Indexes messages again, at most 20, of which the words have this version. Returns their number. */
export const indexAgain = async (deps: Deps, version = EARLIER): Promise<number> =>
  (await indexTaken(deps, { ...TAKE_AGAIN, values: [MAX, version] })).length

const EVERY_MS = 1_000
/** Messages that an earlier version has indexed: 100 a second. See docs/decisions.md#filling-the-search-index. */
const BATCHES_AGAIN = 5
const RETRY_MS = 10 * 60_000

/** The worker that keeps the search index up to date. Any number of processes may run one. */
export const createIndexer = (deps: Deps & Led & { clock: Clock }): Routine => {
  const turn = { after: FIRST }
  let retryAt = 0
  const round = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await indexMessages(deps, MAX, turn)) > 0);
    for (let n = 0; n < BATCHES_AGAIN && !signal.aborted; n++) if ((await indexAgain(deps)) === 0) break
    const now = deps.clock.now().getTime()
    if (now < retryAt) return
    retryAt = now + RETRY_MS
    for (const version of RETRIED) while (!signal.aborted && (await indexAgain(deps, version)) > 0);
  }
  return new Routine(round, {
    clock: deps.clock,
    log: deps.log,
    isOurs: deps.isOurs,
    everyMs: EVERY_MS,
    failed: 'could not index messages for search; retrying',
  })
}
