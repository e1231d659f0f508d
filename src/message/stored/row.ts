import { type Message, Prisma } from '../../db/generated/prisma/client.ts'
import { joined, type Rows, raw, type Sql, sql } from '../../db/sql/sql.ts'

/** The columns of messages, as Prisma's model names them. */
const FIELDS = Object.values(Prisma.MessageScalarFieldEnum)

/** The name of a column in the database, which the model maps to it. */
const nameOf = (field: keyof Message): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The columns of messages `m`. */
const COLUMNS = new Map(FIELDS.map((field) => [field, raw(`m."${nameOf(field)}"`)]))

type Nullable = { [Field in keyof Message]: null extends Message[Field] ? Field : never }[keyof Message]
type Defaulted = Nullable | 'labels' | 'handled' | 'codes' | 'bcc' | 'metadata'

/** What a new message is made of: what is left out is null, and it has no labels, codes, blind copies and metadata, and is not handled. */
export type NewMessage = Omit<Message, Defaulted> & Partial<Pick<Message, Defaulted>>

const DEFAULTS = {
  ...(Object.fromEntries(FIELDS.map((field) => [field, null])) as Record<Nullable, null>),
  labels: [],
  handled: false,
  codes: [],
  bcc: [],
  metadata: {},
}

/** Returns a new message with all of its columns. */
export const newMessage = <Of extends NewMessage | UnplacedNew>(given: Of) => ({ ...DEFAULTS, ...given })

/** A message whose address and thread are determined by the statement that stores it. */
export type Unplaced = Omit<Message, 'addressId' | 'threadId'> & {
  addressId: string | null
  threadId: string | null
}
type UnplacedNew = Omit<NewMessage, 'addressId' | 'threadId'> & Pick<Unplaced, 'addressId' | 'threadId'>

/** Changed only afterwards. */
const UNWRITTEN: readonly (keyof Message)[] = ['labels', 'readAt']
const WRITTEN = FIELDS.filter((field) => !UNWRITTEN.includes(field))
const WRITTEN_NAMES = WRITTEN.map((field) => [field, nameOf(field)] as const)
const TEXTS: readonly (keyof Message)[] = ['text', 'replyText']
const NAMES_WITHOUT_TEXTS = WRITTEN_NAMES.filter(([field]) => !TEXTS.includes(field))

const toColumn = (value: unknown): unknown =>
  value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value

const rowOf = (message: Unplaced, names: typeof WRITTEN_NAMES): Record<string, unknown> => {
  const row: Record<string, unknown> = {}
  for (const [field, name] of names) if (message[field] !== null) row[name] = toColumn(message[field])
  return row
}

/**
 * A message keyed by column names, as `json_populate_record(null::message, …)` reads it: what is left out is null, as most
 * columns are.
 */
export const toRow = (message: Unplaced) => rowOf(message, WRITTEN_NAMES)

/** The same for a statement that is given the message's texts beside it. */
export const toRowWithoutTexts = (message: Unplaced) => rowOf(message, NAMES_WITHOUT_TEXTS)

/**
 * Inserts rows `m` in the format of `toRow`; must be followed by a `from`. It lists the columns, so that
 * columns added by a newer version's schema get their defaults, not nulls. `instead` has expressions that replace
 * the value from `m`.
 */
export const insertMessages = (instead: Partial<Record<keyof Message, Sql>> = {}): Sql => {
  const names = WRITTEN.map((field) => raw(`"${nameOf(field)}"`))
  return sql`insert into message (${joined(names)}) select ${joined(WRITTEN.map((field) => instead[field] ?? columnOf(field)))}`
}

/** The part of a statement that queues the messages that it has stored for the search index. */
export const noteUnindexed = (stored: Rows<'id' | 'agent_id'>): Sql => sql`
    unindexed as (
      insert into unindexed_message (agent_id, message_id) select agent_id, id from ${stored}
    )`

export interface AttachmentView {
  name: string
  type: string
  size: number
}

/** What a message is read with. */
interface Read {
  attachments: AttachmentView[]
  /** Whether its sender may instruct the agent, as the agent's settings are now. */
  mayInstruct: boolean
}

/** Long, or for the service alone: not read with a message. */
const UNREAD = [
  'html',
  'proven',
  'instructor',
  'fingerprint',
  'signedContent',
  'handled',
] as const satisfies readonly (keyof Message)[]

/** A message as it is read, with its attachments' metadata. */
export type MessageWithFiles = Omit<Message, (typeof UNREAD)[number]> & Read

/** The agent is looked up for messages whose sender is proven alone. */
const MAY_INSTRUCT = sql`case when m.instructor is null then false
  else coalesce(m.instructor <= (select g.instructors from agent g where g.id = m.agent_id), false) end`

/** A JSON array of the attachments of a message `m`, each with these members. */
const attachmentsWith = (members: string): Sql => sql`coalesce((
  select json_agg(json_build_object(${raw(members)}) order by f.index)
    from attachment f where f.message_id = m.id and f.agent_id = m.agent_id), '[]')`
const MEMBERS = `'name', f.name, 'type', split_part(f.type, ';', 1), 'size', f.size`

/** Fields that a list can read of each message. */
export type ReadableField = keyof Message | keyof Read

/** `attachments` include what their links are built from. */
const READABLE = new Map<ReadableField, Sql>([
  ...COLUMNS,
  [
    'attachments',
    attachmentsWith(
      `'messageId', f.message_id, 'index', f.index, ${MEMBERS}, 'message', json_build_object('agentId', m.agent_id)`,
    ),
  ],
  ['mayInstruct', MAY_INSTRUCT],
])

export const isReadableField = (name: string): name is ReadableField => READABLE.has(name as ReadableField)

/** A field of messages `m`. */
const columnOf = (field: ReadableField): Sql => READABLE.get(field)!

/** Selects these fields of messages `m` under the model's names, each as `read` reads it; must be followed by a `from`. */
export const columnsOf = (
  fields: readonly ReadableField[],
  read = (column: Sql, _field: ReadableField): Sql => column,
): Sql => joined(fields.map((field) => sql`${read(columnOf(field), field)} as "${raw(field)}"`))

const isUnread = (field: keyof Message): boolean => UNREAD.some((unread) => unread === field)

/** Reads messages `m` as `MessageWithFiles`, in one statement; must be followed by a `where`. */
export const SELECT_MESSAGE: Sql = sql`
  select ${columnsOf([...FIELDS.filter((field) => !isUnread(field)), 'mayInstruct'])}, ${attachmentsWith(MEMBERS)} as attachments
    from message m`
