import { v7 as newId } from 'uuid'
import { createDbBatch, type DbBatch, PartlyWritten } from '../../db/batch.ts'
import { byteaArray } from '../../db/bytea.ts'
import { type Db, isUnavailable, type Statements } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { type AppendedRow, type LoggedEvent, toAppended } from '../../event/index.ts'
import { toRow } from '../stored/row.ts'
import { type Compared, type Decided, decideHolds, withoutApproval } from './decide-holds.ts'
import type { Outgoing } from './outgoing.ts'
import { STORE, STORE_BARE, STORE_LOGGED, type Stored } from './storing-statement.ts'

/** Columns whose values are determined when it is stored. */
export type Placed = Pick<Message, 'addressId' | 'threadId' | 'conversation' | 'holdReason' | 'holdUntil'> & {
  /** Whether it marked the message that it answers as read. */
  marksRead: boolean
  /** The event that it waits, if it raised one. */
  events: LoggedEvent[]
}

type PlacedRow = Omit<Placed, 'events'> & { outgoing_id: string } & AppendedRow

const placedOf = (row: PlacedRow): Placed => {
  const { addressId, threadId, conversation, holdReason, holdUntil, marksRead } = row
  return { addressId, threadId, conversation, holdReason, holdUntil, marksRead, events: toAppended([row]) }
}

const write = async (
  { pool }: Statements,
  store: typeof STORE,
  outgoing: readonly Decided[],
): Promise<Map<string, Placed>> => {
  const recipients = outgoing.flatMap(({ message, recipients }) =>
    recipients.map((address) => ({ id: message.id, address })),
  )
  const files = outgoing.flatMap(({ message, attachments, blobs }) =>
    attachments.map((file, index) => ({ id: message.id, index, file, blobId: blobs?.[index] ?? null })),
  )
  const byMembers = outgoing.flatMap(({ message, sentWith }) =>
    sentWith ? [{ id: message.id, ...sentWith }] : [],
  )
  const stored: Stored = {
    messages: JSON.stringify(
      outgoing.map(({ message, hold, guarded: { held } }) =>
        toRow({ ...message, ...hold, checks: held ? [{ ...held }] : message.checks }),
      ),
    ),
    decided: outgoing.map(({ message }) => message.id),
    approvals: outgoing.map(({ approval }) => approval),
    guards: outgoing.map(({ guarded }) => guarded.guardVersion),
    recipients: recipients.map(({ id }) => id),
    addresses: recipients.map(({ address }) => address),
    files: files.map(({ id }) => id),
    indexes: files.map(({ index }) => index),
    names: files.map(({ file }) => file.name),
    types: files.map(({ file }) => file.type),
    contents: byteaArray(files.map(({ file, blobId }) => (blobId === null ? file.content : null))),
    sizes: files.map(({ file }) => file.content.byteLength),
    blobs: files.map(({ blobId }) => blobId),
    answered: outgoing.flatMap(({ message: { replyToId } }) => replyToId ?? []).sort(),
    byMembers: byMembers.map(({ id }) => id),
    entries: byMembers.map(() => newId()),
    tokens: byMembers.map(({ tokenId }) => tokenId),
    requests: byMembers.map(({ requestId }) => requestId ?? null),
  }
  const { rows } = await pool.query<PlacedRow>(store(stored))
  return new Map(rows.map((row) => [row.outgoing_id, placedOf(row)]))
}

const isBare = ({ message, attachments }: Outgoing): boolean =>
  message.replyToId === null && message.conversation === null && attachments.length === 0

/** How often it is decided what a message waits for, while a member changes the setting again and again. */
const MAX_DECISIONS = 5

/** Of a message that must be compared with its agent's secrets again. */
export const OUTDATED = 'outdated'

/** What became of a message: null if it was skipped. */
export type StoredAs = Placed | typeof OUTDATED | null

/**
 * Stores outgoing messages, with one statement for the agents that log new messages alone and need no approval. For all
 * others, one reads what decides whether they wait, and another stores them, unless the setting has changed meanwhile:
 * then it is decided anew. Throws `PartlyWritten` when some of them are stored.
 */
export const storeOutgoing = async (db: Statements, outgoing: readonly Compared[]): Promise<StoredAs[]> => {
  const store = outgoing.every(isBare) ? STORE_BARE : STORE
  const done = new Map<string, Placed | typeof OUTDATED>(await write(db, store, withoutApproval(outgoing)))
  try {
    for (let decisions = 0; decisions < MAX_DECISIONS && done.size < outgoing.length; decisions++) {
      const others = outgoing.filter(({ message }) => !done.has(message.id))
      const { decided, outdated } = await decideHolds(db, others)
      for (const id of outdated) done.set(id, OUTDATED)
      if (decided.length === 0) break
      for (const [id, place] of await write(db, STORE_LOGGED, decided)) done.set(id, place)
    }
  } catch (error) {
    if (done.size === 0) throw error
    throw new PartlyWritten(
      outgoing.map(({ message: { id } }) => done.get(id)),
      error,
    )
  }
  return outgoing.map(({ message: { id } }) => done.get(id) ?? null)
}

/** Maximum size of attachments in one statement; a larger message is stored alone. */
const MAX_BYTES = 4 * 1024 * 1024
const sizeOf = ({ files, blobs }: Outgoing) =>
  files.reduce((sum, { size }, index) => sum + (blobs?.[index] ? 0 : size), 0)

/** Collects messages to send so that they are committed in batches. */
export type OutgoingStore = DbBatch<Compared, StoredAs>

export const createOutgoingStore = (db: Db): OutgoingStore =>
  createDbBatch(db, storeOutgoing, {
    most: 100,
    parallel: 1,
    maxBytes: MAX_BYTES,
    sizeOf,
    isUnavailable,
  })
