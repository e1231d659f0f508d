import { authorizeAgent } from '../../agent/index.ts'
import type { Blobs } from '../../blob/index.ts'
import { notFound } from '../../core/errors.ts'
import { createDbBatch, type DbBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { empty, sql } from '../../db/sql/sql.ts'
import { composedOf, statement } from '../../db/sql/statement.ts'
import type { Viewer } from '../../workspace/index.ts'
import { type MessageWithFiles, SELECT_MESSAGE } from '../stored/row.ts'

/**
 * Reads agents together with messages they have, in one round trip for all pairs of ids. `more` adds columns
 * from the joins in `joins`; the message is `message` there, under the model's names. The parameters are inside `(select …)` for the same reason as in a list: so that
 * PostgreSQL keeps one plan, whatever their number.
 */
export const byIds = (name: string, more = empty, joins = empty) =>
  statement<{ agents: readonly string[]; messages: readonly string[] }>(name, ({ agents, messages }) => {
    const asked = sql`unnest((select ${agents}::uuid[]), (select ${messages}::uuid[])) with ordinality as asked(agent_id, message_id, place)`
    return sql`
      select a.workspace_id as agent_workspace_id, a.created_by_agent_id, message.*${more}
        from ${asked} left join agent a on a.id = asked.agent_id left join lateral (
             ${SELECT_MESSAGE} where m.id = asked.message_id and m.agent_id = a.id
           ) as message on true ${joins}
       order by asked.place`
  })
const BY_IDS = byIds('messages by id')

export interface Asked {
  agentId: string
  messageId: string
}
export type Found = Partial<MessageWithFiles> & {
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
  read: ReturnType<typeof byIds>,
): DbBatch<Asked, Row> =>
  createDbBatch<Asked, Row>(
    root,
    async ({ pool }, asked) => {
      const agents = asked.map(({ agentId }) => agentId)
      const messages = asked.map(({ messageId }) => messageId)
      return (await pool.query<Row>(read({ agents, messages }))).rows
    },
    { most: 16, parallel: 4, patienceMs: 5, isUnavailable },
  )

/** Returns the message in what was found, or null. */
export const messageOf = ({
  agent_workspace_id: _,
  created_by_agent_id: __,
  ...found
}: Found): MessageWithFiles | null => (found.id ? (found as MessageWithFiles) : null)

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
  const { rows } = await pool.query<MessageWithFiles>({
    name: 'message by id',
    ...composedOf(sql`${SELECT_MESSAGE} where m.id = $1::uuid and m.agent_id = $2::uuid`),
    values: [messageId, agentId],
  })
  if (!rows[0]) throw notFound('message')
  return rows[0]
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
