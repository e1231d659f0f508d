import type { Db } from '../../db/client.ts'
import { type Author, authorOf } from '../stored/author.ts'
import type { ThreadKey } from './state.ts'

/** Somebody who writes a reply that was not sent yet. */
export interface ThreadWriter {
  draftId: string
  by: Author
  updatedAt: Date
}

const MAX_WRITERS = 20

interface Row {
  id: string
  agent_id: string
  thread_id: string
  saved_by_member_id: string | null
  saved_by_name: string
  updated_at: Date
}

/** Returns who saved the unsent drafts of replies in each of these threads last, newest first, with one statement. */
export const readWriters = async (
  { pool }: Pick<Db, 'pool'>,
  threads: readonly ThreadKey[],
): Promise<ThreadWriter[][]> => {
  const { rows } = await pool.query<Row>({
    name: 'writers in threads',
    text: `select d.id, d.agent_id, m.thread_id, d.saved_by_member_id, d.saved_by_name, d.updated_at
             from draft d join message m on m.id = d.reply_to_id and m.agent_id = d.agent_id
            where d.agent_id = any($1::uuid[]) and m.agent_id = any($1::uuid[]) and m.thread_id = any($2::uuid[]) and d.saved_by_name is not null
            order by d.updated_at desc, d.id desc`,
    values: [threads.map(({ agentId }) => agentId), threads.map(({ threadId }) => threadId)],
  })
  return threads.map(({ agentId, threadId }) =>
    rows
      .filter((row) => row.agent_id === agentId && row.thread_id === threadId)
      .slice(0, MAX_WRITERS)
      .map((row) => ({
        draftId: row.id,
        by: authorOf(agentId, { memberId: row.saved_by_member_id, name: row.saved_by_name })!,
        updatedAt: row.updated_at,
      })),
  )
}
