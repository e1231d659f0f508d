import { type Message, Prisma } from '../db/generated/prisma/client.ts'

export interface AttachmentView {
  name: string
  type: string
  size: number
}

export interface MessageWithFiles extends Message {
  attachments: AttachmentView[]
  /** Whether its sender may instruct the agent, as the agent's settings are now. */
  mayInstruct: boolean
}

/** For messages `m`. */
const MAY_INSTRUCT =
  'coalesce(m.instructor <= (select g.instructors from agent g where g.id = m.agent_id), false)'

/** A message whose address and thread are determined by the statement that stores it. */
export type Unplaced = Omit<Message, 'addressId' | 'threadId'> & {
  addressId: string | null
  threadId: string | null
}

/** Columns that a new message leaves at their defaults: they change only afterwards. */
export const UNMARKED = { labels: [], readAt: null, handled: false } satisfies Partial<Message>

/** A message keyed by column names, as `json_populate_record(null::message, …)` reads it. */
export const toRow = <Of extends Message | Unplaced>(message: Of) => ({
  id: message.id,
  workspace_id: message.workspaceId,
  agent_id: message.agentId,
  address_id: message.addressId as Of['addressId'],
  channel: message.channel,
  direction: message.direction,
  status: message.status,
  refusal: message.refusal,
  admission: message.admission,
  proven: message.proven,
  instructor: message.instructor,
  error: message.error,
  counterpart: message.counterpart,
  counterpart_name: message.counterpartName,
  reply_address: message.replyAddress,
  to: message.to,
  cc: message.cc,
  subject: message.subject,
  text: message.text,
  html: message.html,
  reply_text: message.replyText,
  internet_message_id: message.internetMessageId,
  thread_message_id: message.threadMessageId,
  thread_references: message.threadReferences,
  thread_id: message.threadId as Of['threadId'],
  reply_to_id: message.replyToId,
  forward_of_id: message.forwardOfId,
  checks: message.checks,
  fingerprint: message.fingerprint && `\\x${Buffer.from(message.fingerprint).toString('hex')}`,
  signed_content: message.signedContent && `\\x${Buffer.from(message.signedContent).toString('hex')}`,
  hold_reason: message.holdReason,
  hold_until: message.holdUntil,
  hold_by: message.holdBy,
  send_at: message.sendAt,
  handled: message.handled,
  sent_by_member_id: message.sentByMemberId,
  sent_by_name: message.sentByName,
  created_at: message.createdAt,
})

/** A message with its attachments' metadata, as `SELECT_MESSAGE` reads it. */
export interface MessageRow
  extends Omit<
    ReturnType<typeof toRow<Message>>,
    'fingerprint' | 'signed_content' | 'proven' | 'instructor' | 'html' | 'handled'
  > {
  labels: string[]
  read_at: Date | null
  may_instruct: boolean
  attachments: AttachmentView[]
}

const COLUMNS = `id, workspace_id, agent_id, address_id, channel, direction, status, refusal, admission, error, counterpart, counterpart_name, reply_address,
  "to", cc, subject, text, reply_text, internet_message_id, thread_message_id, thread_references, thread_id, reply_to_id, forward_of_id,
  checks, hold_reason, hold_until, hold_by, send_at, sent_by_member_id, sent_by_name, created_at`

const ofM = (columns: string) => columns.replace(/[a-z_"]+/g, (column) => `m.${column}`)
const WRITTEN = `${COLUMNS}, html, proven, instructor, fingerprint, signed_content, handled`
const READ = `${COLUMNS}, labels, read_at`

/**
 * Inserts rows `m` in the format of `toRow`; must be followed by a `from`. It lists the columns, so that
 * columns added by a newer version's schema get their defaults, not nulls. `instead` maps columns to
 * expressions that replace the value from `m`.
 */
export const insertMessages = (instead: Record<string, string> = {}): string =>
  `insert into message (${WRITTEN}) select ${ofM(WRITTEN).replace(/m\.(\w+)/g, (ofRow, column) => instead[column] ?? ofRow)}`

/** The columns of a message that nobody of the workspace sent. */
export const NOT_SENT = { sentByMemberId: null, sentByName: null }

/** The part of a statement that queues the messages of `stored (id, agent_id)` for the search index. */
export const noteUnindexed = (stored: string): string => `
    unindexed as (
      insert into unindexed_message (agent_id, message_id) select agent_id, id from ${stored}
    )`

/** The columns of a message that was not held back. */
export const NOT_HELD = { holdReason: null, holdUntil: null, holdBy: null, sendAt: null }

/** Selected columns of messages `m`, with their attachments; must be followed by a `from`. */
const SELECTED = `${ofM(READ)}, ${MAY_INSTRUCT} as may_instruct,
  coalesce((select json_agg(json_build_object('name', f.name, 'type', split_part(f.type, ';', 1), 'size', f.size) order by f.index)
              from attachment f where f.message_id = m.id and f.agent_id = m.agent_id), '[]') as attachments`

/** Reads messages `m` in one statement; must be followed by a `where`. */
export const SELECT_MESSAGE = `select ${SELECTED} from message m`

export const fromRow = (row: MessageRow): MessageWithFiles => ({
  id: row.id,
  workspaceId: row.workspace_id,
  agentId: row.agent_id,
  addressId: row.address_id,
  channel: row.channel,
  direction: row.direction,
  status: row.status,
  refusal: row.refusal,
  admission: row.admission,
  proven: null,
  instructor: null,
  mayInstruct: row.may_instruct,
  error: row.error,
  counterpart: row.counterpart,
  counterpartName: row.counterpart_name,
  replyAddress: row.reply_address,
  to: row.to,
  cc: row.cc,
  subject: row.subject,
  text: row.text,
  html: null,
  replyText: row.reply_text,
  internetMessageId: row.internet_message_id,
  threadMessageId: row.thread_message_id,
  threadReferences: row.thread_references,
  threadId: row.thread_id,
  replyToId: row.reply_to_id,
  forwardOfId: row.forward_of_id,
  checks: row.checks,
  labels: row.labels,
  readAt: row.read_at,
  fingerprint: null,
  signedContent: null,
  holdReason: row.hold_reason,
  holdUntil: row.hold_until,
  holdBy: row.hold_by,
  sendAt: row.send_at,
  handled: false,
  sentByMemberId: row.sent_by_member_id,
  sentByName: row.sent_by_name,
  createdAt: row.created_at,
  attachments: row.attachments,
})

/**
 * Fields that a list can read of each message: the columns, under the model's names, and the attachments
 * without their content.
 */
export type ReadableField = keyof MessageWithFiles

export const isReadableField = (name: string): name is ReadableField =>
  name in Prisma.MessageScalarFieldEnum || columns.has(name as ReadableField)

/** The attachments' metadata, including what their links are built from. */
const ATTACHMENTS = `coalesce((
  select json_agg(json_build_object('messageId', f.message_id, 'index', f.index, 'name', f.name, 'type', split_part(f.type, ';', 1),
                                    'size', f.size, 'message', json_build_object('agentId', m.agent_id)) order by f.index)
    from attachment f where f.message_id = m.id and f.agent_id = m.agent_id), '[]')`

const columns = new Map<ReadableField, string>([
  ['attachments', ATTACHMENTS],
  ['mayInstruct', MAY_INSTRUCT],
])

/** The column of messages `m` with this name in the model. */
export const columnOf = (field: ReadableField): string => {
  const known = columns.get(field)
  if (known !== undefined) return known
  const column = `m."${field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`
  columns.set(field, column)
  return column
}

/** Selects these fields of messages `m` under the model's names; must be followed by a `from`. */
export const columnsOf = (fields: readonly ReadableField[]): string =>
  fields.map((field) => `${columnOf(field)} as "${field}"`).join(', ')
