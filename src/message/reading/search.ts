import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { Routine } from '../../core/routine.ts'
import type { Db } from '../../db/client.ts'

type Range = readonly [from: number, to: number]

/** A set of characters as PostgreSQL's regular expressions and ours both read it. */
const oneOf = (ranges: readonly Range[]): string =>
  `[${ranges.map((range) => range.map((codePoint) => String.fromCodePoint(codePoint)).join('-')).join('')}]`

/**
 * What stands between words. PostgreSQL's parser asks the locale, and C takes all that isn't ASCII for
 * letters, “quotes” and dashes too.
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
 * Letters of scripts without spaces between words (Chinese, Japanese, Thai …) or with words that grow endings
 * (Korean), and emoji. Each counts as a word, and several in a row as a phrase: where a word ends, only a
 * dictionary knows.
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

/**
 * A text (in SQL) with spaces between all that counts as words. Most texts are ASCII, and spared the look.
 */
const spaced = (text: string) =>
  `case when octet_length(${text}) = length(${text}) then ${text} else regexp_replace(${text}, '(${UNSPACED})|${PUNCTUATION}', ' \\1 ', 'g') end`

/**
 * What search looks in. `simple` knows no language, so it finds words of all of them. Cut because PostgreSQL
 * refuses more than 1 MB of words in one text.
 */
const WORDS = `(
  select to_tsvector('simple', ${spaced('t')})
    from left(coalesce(m.subject, '') || ' ' || m.counterpart || ' ' || coalesce(m.counterpart_name, '') || ' ' || m.text, 100000) as t)`

const RUNS = new RegExp(`(?<=(.?))${UNSPACED}+`, 'gu')

/**
 * What a person asks for, as `foundIn` wants it: quotes are quotes however they are drawn, and letters in a
 * row are a phrase without them.
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
 * The agent as a word of its messages, so that the index finds no other's. With a space in it, which no word
 * of a text has.
 */
const agentWord = (agentId: string) => `'agent ' || ${agentId}::text`

/**
 * A statement for the ids of an agent's messages in which `q` is found, as a search box takes it: words, `"a
 * phrase"`, `or`, `-without`. Both are SQL; what `q` stands for went through `asPhrases`. The index may be
 * behind: what it lacks is looked through.
 */
export const foundIn = (agentId: string, q: string): string => {
  const query = `websearch_to_tsquery('simple', ${spaced(q)})`
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

/**
 * Messages of one statement: usually 10 ms of the database's time, 13 s (of the 30 that it has) when all are
 * as long as can be and Chinese.
 */
const MAX = 100
const EVERY_MS = 1_000

/** Puts messages that the index lacks into it. Returns how many there were, at most `most`. */
export const indexMessages = async ({ pool }: Pick<Db, 'pool'>, most = MAX): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>({ ...INDEX, values: [most] })
  return rows[0]!.count
}

/** The worker behind search. Any number of processes may run one. */
export const createIndexer = (deps: Db & { clock: Clock; log: Logger }): Routine =>
  new Routine(
    async (signal) => {
      while ((await indexMessages(deps)) === MAX && !signal.aborted);
    },
    {
      clock: deps.clock,
      log: deps.log,
      everyMs: EVERY_MS,
      failed: 'messages could not be indexed for search; trying again',
    },
  )
