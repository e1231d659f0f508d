import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { Routine } from '../../core/routine.ts'
import { tsvectorArray } from '../../db/bytea.ts'
import { isUnavailable, type Queryable, type RootDb } from '../../db/client.ts'
import { amongAgents, dialect, SKIP_LOCKED } from '../../db/dialect.ts'
import { agentWord, spaced, TEXT, WORDS } from './search.ts'
import { collect, type Entry, joinPieces, splitPlain, tsvectorOf } from './words.ts'

/**
 * Messages that leave the queue. The rows of `message` are locked, so that they are not deleted before their words
 * are inserted.
 */
const TAKE = {
  name: 'take unindexed messages',
  text: `
    with taken as (
      delete from unindexed_message
       where (agent_id, message_id) in (select agent_id, message_id from unindexed_message limit $1 ${SKIP_LOCKED})
      returning agent_id, message_id
    )
    select m.id, m.agent_id, ${TEXT} as text from message m join taken on taken.message_id = m.id and taken.agent_id = m.agent_id
       ${dialect('for key share of m', '')}`,
}

/** $1 texts. Returns the words of each, with their positions. */
const SPLIT = {
  name: 'split texts',
  text: `
    select (select json_agg(json_build_array(w.lexeme, w.positions)) from unnest(to_tsvector('simple', ${spaced('t.text')})) w) as words
      from unnest($1::text[]) with ordinality as t(text, ord) order by t.ord`,
}

/** $1 messages and $2 their agents, $3 their words; null for those that PostgreSQL splits. */
const INSERT = {
  name: 'index messages',
  text: `
    insert into message_search (message_id, agent_id, words)
    select m.id, m.agent_id, coalesce(g.words, ${WORDS} || array_to_tsvector(array[${agentWord('m.agent_id')}]))
      from unnest($1::uuid[], $2::uuid[], $3::tsvector[]) as g(id, agent_id, words)
      join message m on m.id = g.id and m.agent_id = g.agent_id ${dialect('', amongAgents('m.agent_id'))}
    on conflict (message_id, agent_id) do update set words = excluded.words`,
}

/** A word that no text contains. */
const MARK = randomBytes(8)
  .toString('hex')
  .replace(/[0-9]/g, (digit) => 'ghijklmnop'[Number(digit)]!)

/** Splits texts into words with their positions. Null for those that PostgreSQL splits as fast. */
const splitAll = async (
  db: Queryable,
  texts: readonly string[],
): Promise<(Map<string, number[]> | null)[]> => {
  const split: ReturnType<typeof splitPlain>[] = []
  for (const text of texts) {
    split.push(splitPlain(text))
    await setImmediate() // a text takes up to 2 ms
  }
  const joined = split.map((parts) => (parts === null ? '' : joinPieces(parts, MARK)))
  const { rows } = await db.query<{ words: Entry[] | null }>({ ...SPLIT, values: [joined] })
  return split.map((parts, index) => parts && collect(parts, rows[index]!.words ?? [], MARK))
}

const PANGRAM = 'The QUICK brown fox JUMPS over "12" (Lazy, dogs); with vex\'d Nymphs: why not?'

const alike = new WeakMap<Queryable, boolean>()

/** Whether the database splits plain words as we do: its locale or text search configuration may differ. */
const splitsAlike = async (pool: Queryable): Promise<boolean> => {
  const [words] = await splitAll(pool, [PANGRAM])
  const { rows } = await pool.query<{ alike: boolean }>(
    "select to_tsvector('simple', $1) || array_to_tsvector(array['label']) = ($2::tsvector[])[1] as alike",
    [PANGRAM, tsvectorArray([tsvectorOf(words!, 'label')])],
  )
  return rows[0]!.alike
}

const indexTaken = async (
  db: Queryable,
  taken: readonly { id: string; agent_id: string; text: string }[],
  isAlike: boolean,
): Promise<void> => {
  const split = isAlike
    ? await splitAll(
        db,
        taken.map(({ text }) => text),
      )
    : taken.map(() => null)
  const words = split.map((each, index) => each && tsvectorOf(each, `agent ${taken[index]!.agent_id}`))
  const agents = taken.map(({ agent_id }) => agent_id)
  await db.query({ ...INSERT, agents, values: [taken.map(({ id }) => id), agents, tsvectorArray(words)] })
}

/**
 * Messages indexed in one transaction, so that other work waits for at most about 10 ms; 3 s of the database (of
 * the 30 s allowed) when all are of maximum length and Chinese.
 */
const MAX = 20
const EVERY_MS = 1_000

/** Adds messages that are not yet indexed to the index. Returns their number, at most `limit`. */
export const indexMessages = async ({ pool }: Pick<RootDb, 'pool'>, limit = MAX): Promise<number> => {
  const isAlike = alike.get(pool) ?? (await splitsAlike(pool))
  alike.set(pool, isAlike)
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query('begin')
    const { rows } = await client.query({ ...TAKE, values: [limit] })
    if (rows.length > 0) await indexTaken(client, rows, isAlike)
    await client.query('commit')
    return rows.length
  } catch (error) {
    failure = error as Error
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release(failure && isUnavailable(failure) ? failure : undefined)
  }
}

/** The worker that keeps the search index up to date. Any number of processes may run one. */
export const createIndexer = (deps: RootDb & { clock: Clock; log: Logger }): Routine =>
  new Routine(
    async (signal) => {
      while ((await indexMessages(deps)) === MAX && !signal.aborted);
    },
    {
      clock: deps.clock,
      log: deps.log,
      everyMs: EVERY_MS,
      failed: 'could not index messages for search; retrying',
    },
  )
