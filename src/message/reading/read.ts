import { authorizeAgent } from '../../agent/permission.ts'
import { notFound } from '../../core/errors.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { fromRow, type MessageRow, SELECT_MESSAGE } from '../row.ts'
import type { MessageWithFiles } from './present.ts'

/**
 * The agents and, where they have them, the messages: what reads need to know, in one round trip for all that
 * are asked at once; with `more` columns out of what `joins` joins.
 */
export const byIds = (name: string, more = '', joins = '') => ({
  name,
  text: `select a.workspace_id as agent_workspace_id, a.created_by_agent_id, message.*${more}
           from unnest($1::uuid[], $2::uuid[]) with ordinality as asked(agent_id, message_id, place)
           left join agent a on a.id = asked.agent_id
           left join lateral (${SELECT_MESSAGE} where m.id = asked.message_id and m.agent_id = a.id) as message on true ${joins}
          order by asked.place`,
})
const BY_IDS = byIds('messages by id')

export interface Asked {
  agentId: string
  messageId: string
}
export type Found = Partial<MessageRow> & {
  agent_workspace_id: string | null
  created_by_agent_id: string | null
}

/** Where reads of a message gather: half of what one costs is its round trip, and 16 at once share it. */
export type MessageReads = Batch<Asked, Found>

export const createMessageReads = (db: Db): MessageReads => createReads<Found>(db, BY_IDS)

/** Reads of one statement, which takes the ids of agents and messages. */
export const createReads = <Row extends Found>(
  { pool }: Db,
  statement: { name: string; text: string },
): Batch<Asked, Row> =>
  createBatch(
    async (asked) => {
      const values = [asked.map(({ agentId }) => agentId), asked.map(({ messageId }) => messageId)]
      return (await pool.query<Row>({ ...statement, values })).rows
    },
    { most: 16, parallel: 4, patienceMs: 5, isUnavailable },
  )

/** The message of what was found, if there is one. */
export const messageOf = (found: Found): MessageWithFiles | null =>
  found.id ? fromRow(found as MessageRow) : null

export interface ReadDeps extends Db {
  reads: MessageReads
}

/** One message of the agent. */
export const readMessage = async (
  { reads }: ReadDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<MessageWithFiles> => {
  return ensureReadable(viewer, agentId, await reads.add({ agentId, messageId }))
}

/**
 * The message of what was found, for a viewer who may read it. Throws `not_found` and `forbidden` as every
 * read does.
 */
export const ensureReadable = (viewer: Viewer, agentId: string, found: Found): MessageWithFiles => {
  const { agent_workspace_id: workspaceId, created_by_agent_id: createdByAgentId } = found
  authorizeAgent(viewer, workspaceId === null ? null : { id: agentId, workspaceId, createdByAgentId })
  const message = messageOf(found)
  if (!message) throw notFound('message')
  return message
}

/** The email as it came, byte for byte. Throws `not_found` for a message that has no such form. */
export const readRaw = async (
  deps: ReadDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<Uint8Array<ArrayBuffer>> => {
  await readMessage(deps, viewer, agentId, messageId)
  const raw = await deps.prisma.messageRaw.findUnique({ where: { messageId } })
  if (!raw) throw notFound('raw message')
  return raw.content
}

/** One attachment with its content. */
export const readAttachment = async (
  deps: ReadDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
  index: number,
) => {
  await readMessage(deps, viewer, agentId, messageId)
  const attachment = await deps.prisma.attachment.findUnique({
    where: { messageId_index: { messageId, index } },
  })
  if (!attachment) throw notFound('attachment', 'number')
  return attachment
}
