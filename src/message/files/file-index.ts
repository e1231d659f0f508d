import type { Clock } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type Led, Routine } from '../../core/routine.ts'
import { tsvectorArray } from '../../db/bytea.ts'
import type { Db } from '../../db/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { TEXT } from '../reading/search.ts'
import { INSERT_WORDS } from '../reading/search-index.ts'
import { tsvectorOf } from '../reading/words.ts'
import type { FileTexts } from './file-texts.ts'

/** Characters of a message's files, together, whose words a search finds. @limit Messages */
const MAX_SEARCHED = 50_000
/** Characters of a message's own text that are searched. */
const MAX_OWN = 100_000

const EVERY_MS = 1_000
/** When a message is tried again whose reader was killed or could not reach the object store; after that often, no more. */
const AGAIN_MS = 5 * 60_000
const MAX_ATTEMPTS = 3

/** What most files without text are: nothing of them is loaded. */
const WITHOUT_TEXT = ['image/%', 'audio/%', 'video/%', 'font/%']

/**
 * Takes the first message of the next agent after $1, whose turn it is. Others leave it alone until $3. A message that another
 * process takes at this moment is no longer due, and the next call finds another one.
 */
const TAKE_NEXT = {
  name: 'take unread files',
  ...composedOf(sql`
    with next as materialized (
      select agent_id, message_id from unread_file
       where agent_id > $1::uuid and due_at <= $2::timestamptz order by agent_id, message_id limit 1
    ),
    taken as (
      update unread_file u set attempts = attempts + 1, due_at = $3::timestamptz from next n
       where u.message_id = n.message_id and u.agent_id = n.agent_id and u.due_at <= $2::timestamptz
      returning u.message_id, u.attempts
    )
    select n.agent_id as "agentId", n.message_id as "messageId", t.attempts
      from next n left join taken t on t.message_id = n.message_id`),
}

const FINISH = {
  name: 'finish unread files',
  text: 'delete from unread_file where message_id = $1::uuid and agent_id = $2::uuid',
}

/** The message $1 of the agent $2 with its files, of which $3 have no text. */
const READ = {
  name: 'read a message with files',
  ...composedOf(sql`
    select m.workspace_id as "workspaceId", ${TEXT} as text,
           array(select f.index from attachment f where f.message_id = m.id and f.agent_id = m.agent_id
                    and f.type not like all ($3::text[]) order by f.index) as indexes
      from message m where m.id = $1::uuid and m.agent_id = $2::uuid`),
}

interface Taken {
  agentId: string
  messageId: string
  attempts: number
}

interface Found {
  workspaceId: string
  text: string
  indexes: number[]
}

interface Deps extends Db {
  fileTexts: FileTexts
  clock: Clock
  log: Logger
}

/** Returns the beginning of the texts of a message's files. */
const textsOf = async (
  { fileTexts, log }: Deps,
  { agentId, messageId }: Taken,
  { workspaceId, indexes }: Found,
): Promise<string> => {
  let texts = ''
  for (const index of indexes) {
    if (texts.length >= MAX_SEARCHED) break
    const { text, problem } = await fileTexts.readLater({ agentId, messageId, index, workspaceId })
    if (problem) log.debug({ agent: agentId, message: messageId, index, problem }, 'a file has no text')
    texts += `\n${text.slice(0, MAX_SEARCHED - texts.length)}`
  }
  return texts
}

/** Adds the words of a message's files to its own. */
const addWords = async (deps: Deps, taken: Taken): Promise<void> => {
  const { agentId, messageId } = taken
  const { rows } = await deps.pool.query<Found & Record<string, unknown>>({
    ...READ,
    values: [messageId, agentId, WITHOUT_TEXT],
  })
  const found = rows[0]
  const texts = found && found.indexes.length > 0 ? await textsOf(deps, taken, found) : ''
  if (texts.trim() === '') return
  const words = await tsvectorOf(`${found!.text}\n${texts}`, `agent ${agentId}`, MAX_OWN + MAX_SEARCHED)
  const values = [[messageId], [agentId], tsvectorArray([words])]
  await deps.pool.query({ ...INSERT_WORDS, values })
}

const finish = ({ pool }: Deps, { agentId, messageId }: Taken) =>
  pool.query({ ...FINISH, values: [messageId, agentId] })

/** Reads the files of one message. What fails is tried again later, a few times. */
const readOne = async (deps: Deps, taken: Taken): Promise<void> => {
  try {
    await addWords(deps, taken)
    await finish(deps, taken)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable' && taken.attempts < MAX_ATTEMPTS) return
    await finish(deps, taken)
    const about = { message: taken.messageId, agent: taken.agentId, error: messageOf(error) }
    deps.log.warn(about, 'could not read the files of a message for search, which does not find their words')
  }
}

const FIRST = '00000000-0000-0000-0000-000000000000'

/** What is taken; without `attempts` where another process was faster. */
type Next = Omit<Taken, 'attempts'> & { attempts: number | null }

/** Reads the files of the next message. Returns whether there was one; `turn` is the agent after which it is looked for. */
const indexNextFiles = async (deps: Deps, turn = { after: FIRST }): Promise<boolean> => {
  const now = deps.clock.now()
  const values = [turn.after, now, new Date(now.getTime() + AGAIN_MS)]
  const { rows } = await deps.pool.query<Next & Record<string, unknown>>({ ...TAKE_NEXT, values })
  const next = rows[0]
  const isFromStart = turn.after === FIRST
  turn.after = next?.agentId ?? FIRST
  if (!next) return !isFromStart && indexNextFiles(deps, turn)
  const { attempts, ...message } = next
  if (attempts === null) return true
  const taken = { ...message, attempts }
  await (attempts > MAX_ATTEMPTS ? finish(deps, taken) : readOne(deps, taken))
  return true
}

/** The worker that adds the words of files to the search index, beside the one that indexes messages. */
export const createFileIndexer = (deps: Deps & Led): Routine => {
  const turn = { after: FIRST }
  const round = async (signal: AbortSignal): Promise<void> => {
    const stopped = new Promise<false>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true })
    })
    // A file may take longer than the service may take to stop. It is read again then.
    while (!signal.aborted && (await Promise.race([indexNextFiles(deps, turn), stopped])));
  }
  return new Routine(round, {
    ...{ clock: deps.clock, log: deps.log, everyMs: EVERY_MS, isOurs: deps.isOurs },
    failed: 'could not read files for search; retrying',
  })
}
