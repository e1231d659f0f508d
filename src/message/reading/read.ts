import { authorizeAgent } from '../../agent/permission.ts'
import type { Blobs } from '../../blob/index.ts'
import { notFound } from '../../core/errors.ts'
import { createDbBatch, type DbBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { dialect } from '../../db/dialect.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { fromRow, type MessageRow, type MessageWithFiles, SELECT_MESSAGE } from '../row.ts'

const ASKED = `unnest((select $1::uuid[]), (select $2::uuid[])) with ordinality as asked(agent_id, message_id, place)`

/**
 * Reads agents together with messages they have, in one round trip for all pairs of ids. `more` adds columns
 * from the joins in `joins`. The parameters are inside `(select …)` for the same reason as in a list: so that
 * PostgreSQL keeps one plan, whatever their number.
 */
export const byIds = (name: string, more = '', joins = '') => ({
  name,
  text: `select a.workspace_id as agent_workspace_id, a.created_by_agent_id, message.*${more}
           from ${ASKED}
           left join agent a on a.id = asked.agent_id
           left join ${dialect(
             `lateral (${SELECT_MESSAGE} where m.id = asked.message_id and m.agent_id = a.id) as message on true`,
             // Citus takes no outer join with a query for each row.
             `(${SELECT_MESSAGE} join ${ASKED} on m.id = asked.message_id and m.agent_id = asked.agent_id) as message
                   on message.id = asked.message_id and message.agent_id = a.id`,
           )} ${joins}
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

/**
 * Collects reads of single messages into batches: up to 16 concurrent reads share a round trip.
 * See docs/decisions.md#batched-reads.
 */
export type MessageReads = DbBatch<Asked, Found>

export const createMessageReads = (db: Db): MessageReads => createReads<Found>(db, BY_IDS)

/** Batches the reads of one statement, which takes the ids of agents and messages. */
export const createReads = <Row extends Found>(
  root: Db,
  statement: { name: string; text: string },
): DbBatch<Asked, Row> =>
  createDbBatch<Asked, Row>(
    root,
    async ({ pool }, asked) => {
      const values = [asked.map(({ agentId }) => agentId), asked.map(({ messageId }) => messageId)]
      return (await pool.query<Row>({ ...statement, values })).rows
    },
    { most: 16, parallel: 4, patienceMs: 5, isUnavailable },
  )

/** Returns the message in what was found, or null. */
export const messageOf = (found: Found): MessageWithFiles | null =>
  found.id ? fromRow(found as MessageRow) : null

export interface ReadDeps extends Db {
  reads: MessageReads
}

/** For reading contents, which may be in the object store. */
export interface FileDeps extends ReadDeps {
  blobs: Blobs
}

/** Reads one message of the agent. */
export const readMessage = async (
  deps: ReadDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<MessageWithFiles> => {
  return ensureReadable(viewer, agentId, await deps.reads.add(deps, { agentId, messageId }))
}

/**
 * Returns the message in what was found, if the viewer may read it. Throws `not_found` and `forbidden` like
 * every read.
 */
export const ensureReadable = (viewer: Viewer, agentId: string, found: Found): MessageWithFiles => {
  const { agent_workspace_id: workspaceId, created_by_agent_id: createdByAgentId } = found
  authorizeAgent(viewer, workspaceId === null ? null : { id: agentId, workspaceId, createdByAgentId })
  const message = messageOf(found)
  if (!message) throw notFound('message')
  return message
}

/** Reads one message through `db`, which may be a transaction that has changed it. Throws `not_found`. */
export const readFresh = async (
  { pool }: Db,
  agentId: string,
  messageId: string,
): Promise<MessageWithFiles> => {
  const { rows } = await pool.query<MessageRow>({
    name: 'message by id',
    text: `${SELECT_MESSAGE} where m.id = $1::uuid and m.agent_id = $2::uuid`,
    values: [messageId, agentId],
  })
  if (!rows[0]) throw notFound('message')
  return fromRow(rows[0])
}

/** Returns the email as received, byte for byte. Throws `not_found` for a message without a raw form. */
export const readRaw = async (
  deps: FileDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<Uint8Array<ArrayBuffer>> => {
  await readMessage(deps, viewer, agentId, messageId)
  const raw = await deps.prisma.messageRaw.findUnique({
    where: { messageId_agentId: { messageId, agentId } },
  })
  if (!raw) throw notFound('raw message')
  return deps.blobs.contentOf(raw)
}

/** Reads one attachment with its content. */
export const readAttachment = async (
  deps: FileDeps,
  viewer: Viewer,
  agentId: string,
  { messageId, index }: { messageId: string; index: number },
) => {
  await readMessage(deps, viewer, agentId, messageId)
  const attachment = await deps.prisma.attachment.findUnique({
    where: { messageId_index_agentId: { messageId, index, agentId } },
  })
  if (!attachment) throw notFound('attachment', 'number')
  return deps.blobs.filled(attachment)
}
