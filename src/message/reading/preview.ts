import type { Db } from '../../db/client.ts'

/** Number of characters of a preview. */
const LENGTH = 140
/** Number of characters that are read for it: newsletters begin with lines of spaces and invisible characters. */
const READ_LENGTH = 600

/** White space, with the invisible characters that senders put after their own preview to push other text out of it. */
const GAP = /\s(?:[\s\u00ad\u200b-\u200f\u2060\ufeff]|\u034f)*/g

/** Returns the beginning of a text as one line. */
const previewOf = (text: string): string =>
  [...text.replace(GAP, ' ').trim()].slice(0, LENGTH).join('').trimEnd()

/** A message by its key. */
interface MessageRef {
  id: string
  agentId: string
}

/**
 * Returns the beginning of each message's text without quoted history, as one line; empty for one that no longer
 * exists. Reads them with one statement, and of a long text only its beginning.
 */
export const readPreviews = async (
  { pool }: Pick<Db, 'pool'>,
  messages: readonly MessageRef[],
): Promise<string[]> => {
  const { rows } = await pool.query<{ id: string; text: string }>({
    name: 'message previews',
    text: `select m.id, left(coalesce(m.reply_text, m.text), ${READ_LENGTH}) as text
             from unnest($1::uuid[], $2::uuid[]) as k(id, agent_id)
             join message m on m.id = k.id and m.agent_id = k.agent_id`,
    values: [messages.map(({ id }) => id), messages.map(({ agentId }) => agentId)],
  })
  const byId = new Map(rows.map(({ id, text }) => [id, previewOf(text)]))
  return messages.map(({ id }) => byId.get(id) ?? '')
}
