import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'

/**
 * What search looks in. `simple` knows no language, so it finds words of all of them. Cut because PostgreSQL refuses more than 1 MB of
 * words in one text.
 */
const WORDS = `to_tsvector('simple', left(coalesce(m.subject, '') || ' ' || m.counterpart || ' ' || coalesce(m.counterpart_name, '') || ' ' || m.text, 100000))`

/** The agent as a word of its messages, so that the index finds no other's. With a space in it, which no word of a text has. */
const agentWord = (agentId: string) => `'agent ' || ${agentId}::text`

/**
 * A statement for the ids of an agent's messages in which `q` is found, as a search box takes it: words, `"a phrase"`, `or`, `-without`.
 * Both are SQL. The index may be behind: what it lacks is looked through.
 */
export const foundIn = (agentId: string, q: string): string => {
  const query = `websearch_to_tsquery('simple', ${q})`
  return `
    select s.message_id from message_search s
     where s.words @@ ((quote_literal(${agentWord(agentId)}))::tsquery && ${query}) and numnode(${query}) > 0
    union all
    select m.id from unindexed_message u join message m on m.id = u.message_id where u.agent_id = ${agentId} and ${WORDS} @@ ${query}`
}

const INDEX = {
  name: 'index messages',
  text: `
    with
    taken as (
      delete from unindexed_message
       where message_id in (select message_id from unindexed_message limit $1 for update skip locked) returning message_id
    ),
    indexed as (
      insert into message_search (message_id, words)
      select m.id, ${WORDS} || array_to_tsvector(array[${agentWord('m.agent_id')}]) from message m join taken on taken.message_id = m.id
         for key share of m
      on conflict do nothing
    )
    select count(*)::int as count from taken`,
}

/** Messages of one statement: about 50 ms of the database's time. */
const MOST = 500
const EVERY_MS = 1_000

/** Puts messages that the index lacks into it. Returns how many there were, at most `most`. */
export const indexMessages = async ({ pool }: Pick<Db, 'pool'>, most = MOST): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>({ ...INDEX, values: [most] })
  return rows[0]!.count
}

/** The worker behind search. Any number of processes may run one. */
export class Indexer {
  readonly #deps: Db & { clock: Clock; log: Logger }
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(deps: Db & { clock: Clock; log: Logger }) {
    this.#deps = deps
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { clock, log } = this.#deps
    while (!signal.aborted) {
      try {
        while ((await indexMessages(this.#deps)) === MOST && !signal.aborted);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'messages could not be indexed for search; trying again')
      }
      await clock.sleep(EVERY_MS, signal)
    }
  }
}
