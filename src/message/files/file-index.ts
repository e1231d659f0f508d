import type { Clock } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import { START_BYTES } from '../../core/file-text.ts'
import type { Logger } from '../../core/logger.ts'
import { type Led, Routine } from '../../core/routine.ts'
import { withResolvers } from '../../core/with-resolvers.ts'
import { tsvectorArray } from '../../db/bytea.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { raw, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { TEXT } from '../reading/search.ts'
import { chosenInTurn, INSERT_WORDS } from '../reading/search-index.ts'
import { tsvectorOf } from '../reading/words.ts'
import type { FileTexts } from './file-texts.ts'

/** Characters of a message's files, together, whose words a search finds. @limit Messages */
const MAX_SEARCHED = 50_000
/**
 * Time in milliseconds after which no other of a message's files is read for search: a mail may have 1,000 that each take as long as
 * they may, and the messages after it wait. @limit Messages
 */
const MAX_READING_MS = 60_000
/** Characters of a message's own text that are searched. */
const MAX_OWN = 100_000

const EVERY_MS = 1_000
/** When a message is tried again whose reader was killed or could not reach the object store; after that often, no more. */
const AGAIN_MS = 5 * 60_000
const MAX_ATTEMPTS = 3

/** What most files without text are: nothing of them is loaded. */
const WITHOUT_TEXT = ['image/%', 'audio/%', 'video/%', 'font/%']

/** Messages whose files are read one after the other, and whose words are then written together. */
const MAX = 8

/** Messages of the next agents after $1, whose turn it is, that are due at $2. Others leave them alone until $3. `attempts` begun so far. */
const TAKE_NEXT = {
  name: 'take unread files',
  ...composedOf(sql`
    with recursive ${chosenInTurn(raw('unread_file'), raw('$1::uuid'), raw(`${MAX}`), raw('due_at <= $2::timestamptz'))}
    update unread_file u set due_at = $3::timestamptz from chosen c
     where u.message_id = c.message_id and u.agent_id = c.agent_id
    returning u.agent_id as "agentId", u.message_id as "messageId", u.attempts`),
}

/** An attempt counts when it is begun: a file that kills its reader costs the messages that were taken with it none. */
const BEGIN = {
  name: 'begin unread files',
  text: 'update unread_file set attempts = attempts + 1, due_at = $3 where message_id = $1 and agent_id = $2',
}

const FINISH = {
  name: 'finish unread files',
  text: 'delete from unread_file where (message_id, agent_id) in (select * from unnest($1::uuid[], $2::uuid[]) as f(message_id, agent_id))',
}

/** The messages $1 of the agents $2 with the beginnings of their files, of which those of the types $3 have no text. */
const READ = {
  name: 'read messages with files',
  ...composedOf(sql`
    select m.id as "messageId", m.workspace_id as "workspaceId", ${TEXT} as text, f.*
      from unnest($1::uuid[], $2::uuid[]) as g(id, agent_id) join message m on m.id = g.id and m.agent_id = g.agent_id
     cross join lateral (
       select coalesce(array_agg(index order by index), '{}') as indexes, array_agg(name order by index) as names,
              array_agg(type order by index) as types,
              array_agg(substring(content from 1 for ${START_BYTES}) order by index) as starts
         from attachment where message_id = m.id and agent_id = m.agent_id and type not like all ($3::text[])) f`),
}

interface Taken {
  agentId: string
  messageId: string
  attempts: number
}

interface Found {
  messageId: string
  workspaceId: string
  text: string
  indexes: number[]
  /** Of each of these files; null without any. `starts` are null for contents in the object store. */
  names: string[] | null
  types: string[] | null
  starts: (Buffer | null)[] | null
}

interface Deps extends Db {
  fileTexts: FileTexts
  clock: Clock
  log: Logger
}

const againAt = ({ clock }: Deps): Date => new Date(clock.now().getTime() + AGAIN_MS)

/**
 * Returns the numbers of the files that may have a text. The others cost no statement and no process
 * (docs/decisions.md#files-without-text).
 */
const readableIn = ({ fileTexts }: Deps, { indexes, names, types, starts }: Found): number[] =>
  indexes.filter((_, at) => {
    const content = starts?.[at]
    return !content || fileTexts.mayHaveText({ name: names![at]!, type: types![at]!, content })
  })

/** Returns the beginning of the texts of these files of a message, of as many as can be read in time. */
const textsOf = async (
  { fileTexts, clock, log }: Deps,
  { agentId, messageId }: Taken,
  workspaceId: string,
  indexes: readonly number[],
): Promise<string> => {
  let texts = ''
  const until = clock.now().getTime() + MAX_READING_MS
  for (const index of indexes) {
    if (texts.length >= MAX_SEARCHED || clock.now().getTime() >= until) break
    const { text, problem } = await fileTexts.readLater({ agentId, messageId, index, workspaceId })
    if (problem) log.debug({ agent: agentId, message: messageId, index, problem }, 'a file has no text')
    texts += `\n${text.slice(0, MAX_SEARCHED - texts.length)}`
  }
  return texts
}

/** Returns the words of a message with those of its files; null if these have none. */
const wordsOf = async (deps: Deps, taken: Taken, found: Found | undefined): Promise<Buffer | null> => {
  const indexes = found ? readableIn(deps, found) : []
  if (!found || indexes.length === 0) return null
  if (taken.attempts >= MAX_ATTEMPTS) throw new Error(`its reader did not end, ${MAX_ATTEMPTS} times`)
  await deps.pool.query({ ...BEGIN, values: [taken.messageId, taken.agentId, againAt(deps)] })
  const texts = await textsOf(deps, taken, found.workspaceId, indexes)
  if (texts.trim() === '') return null
  return tsvectorOf(`${found.text}\n${texts}`, `agent ${taken.agentId}`, MAX_OWN + MAX_SEARCHED)
}

const keysOf = (messages: readonly Taken[]): string[][] => [
  messages.map(({ messageId }) => messageId),
  messages.map(({ agentId }) => agentId),
]

const finish = async ({ pool }: Deps, messages: readonly Taken[]): Promise<void> => {
  if (messages.length > 0) await pool.query({ ...FINISH, values: keysOf(messages) })
}

/** A message that is not tried again. */
const giveUp = async (deps: Deps, message: Taken, error: unknown): Promise<void> => {
  await finish(deps, [message])
  const about = { message: message.messageId, agent: message.agentId, error: messageOf(error) }
  deps.log.warn(about, 'could not read the files of a message for search, which does not find their words')
}

interface Read {
  message: Taken
  words: Buffer | null
}

/** Adds the words of messages' files to their own. What cannot be written together is written alone. */
const write = async (deps: Deps, read: readonly Read[]): Promise<void> => {
  const withWords = read.filter(({ words }) => words !== null)
  const values = [
    ...keysOf(withWords.map(({ message }) => message)),
    tsvectorArray(withWords.map(({ words }) => words)),
  ]
  try {
    if (withWords.length > 0) await deps.pool.query({ ...INSERT_WORDS, values })
    await finish(
      deps,
      read.map(({ message }) => message),
    )
  } catch (error) {
    if (isUnavailable(error)) throw error
    if (read.length === 1) return giveUp(deps, read[0]!.message, error)
    for (const one of read) await write(deps, [one])
  }
}

/** Reads the files of messages. What fails is tried again later, a few times. */
const readAll = async (deps: Deps, taken: readonly Taken[]): Promise<void> => {
  const { rows } = await deps.pool.query<Found & Record<string, unknown>>({
    ...READ,
    values: [...keysOf(taken), WITHOUT_TEXT],
  })
  const found = new Map(rows.map((row) => [row.messageId, row]))
  const read: Read[] = []
  for (const message of taken) {
    try {
      read.push({ message, words: await wordsOf(deps, message, found.get(message.messageId)) })
    } catch (error) {
      if (isUnavailable(error)) throw error
      const mayHelp = error instanceof AppError && error.code === 'unavailable'
      if (!mayHelp || message.attempts + 1 >= MAX_ATTEMPTS) await giveUp(deps, message, error)
    }
  }
  await write(deps, read)
}

const FIRST = '00000000-0000-0000-0000-000000000000'

/** Reads the files of the next messages. Returns whether there were some; `turn` is the agent after which they are looked for. */
const indexNextFiles = async (deps: Deps, turn = { after: FIRST }): Promise<boolean> => {
  const values = [turn.after, deps.clock.now(), againAt(deps)]
  const { rows } = await deps.pool.query<Taken & Record<string, unknown>>({ ...TAKE_NEXT, values })
  const isFromStart = turn.after === FIRST
  turn.after =
    rows
      .map(({ agentId }) => agentId)
      .sort()
      .at(-1) ?? FIRST
  if (rows.length === 0) return !isFromStart && indexNextFiles(deps, turn)
  await readAll(deps, rows)
  return true
}

/** The worker that adds the words of files to the search index, beside the one that indexes messages. */
export const createFileIndexer = (deps: Deps & Led): Routine => {
  const turn = { after: FIRST }
  const round = async (signal: AbortSignal): Promise<void> => {
    const { promise: stopped, resolve: stop } = withResolvers<false>()
    const onStop = () => stop(false)
    signal.addEventListener('abort', onStop)
    try {
      // A file may take longer than the service may take to stop. It is read again then.
      while (!signal.aborted && (await Promise.race([indexNextFiles(deps, turn), stopped])));
    } finally {
      signal.removeEventListener('abort', onStop)
    }
  }
  return new Routine(round, {
    ...{ clock: deps.clock, log: deps.log, everyMs: EVERY_MS, isOurs: deps.isOurs },
    failed: 'could not read files for search; retrying',
  })
}
