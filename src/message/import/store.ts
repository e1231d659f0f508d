import { createHash } from 'node:crypto'
import type { Blobs } from '../../blob/index.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import { within } from '../../db/transaction.ts'
import { isUnstorable } from '../../db/unavailable.ts'
import { ensureRoomToStore } from '../../workspace/index.ts'
import { type Arrival, placeArrival, storeBatch } from '../receiving/store.ts'
import type { SkippedMail } from './mail.ts'
import { findThreads, mergeThreads, threadMails } from './threads.ts'

export interface StoreDeps extends Db {
  clock: Clock
  blobs: Blobs
}

/** A mail that is ready to be stored. */
export interface Prepared {
  /** Names it in the list of those that were skipped. */
  name: string
  message: Message
  raw: Buffer
  attachments: InboundAttachment[]
  blobs?: Arrival['blobs']
}

/** What identifies a mail: by how it is imported, and by how it was received. */
export interface Identity {
  fingerprint: Uint8Array<ArrayBuffer>
  raw: Buffer
}

const KNOWN = {
  name: 'known mails',
  text: `select fingerprint from message where agent_id = $1::uuid and fingerprint is not null and fingerprint = any($2::bytea[])`,
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Returns for each mail whether the agent has it, imported or received with the same bytes. */
export const findKnown = async (
  { pool }: Pick<Db, 'pool'>,
  agentId: string,
  mails: readonly Identity[],
): Promise<boolean[]> => {
  const asReceived = mails.map(({ raw }) => createHash('sha256').update(raw).digest())
  const both = mails.flatMap(({ fingerprint }, n) => [Buffer.from(fingerprint), asReceived[n]!])
  const { rows } = await pool.query<{ fingerprint: Uint8Array }>({ ...KNOWN, values: [agentId, both] })
  const known = new Set(rows.map(({ fingerprint }) => hexOf(fingerprint)))
  return mails.map(
    ({ fingerprint }, n) => known.has(hexOf(fingerprint)) || known.has(asReceived[n]!.toString('hex')),
  )
}

/**
 * Returns the Message-IDs of these that messages have which the agent sent itself: the copies in a mailbox are
 * the same messages.
 */
export const findSent = async (
  { pool }: Pick<Db, 'pool'>,
  agentId: string,
  ids: readonly string[],
): Promise<Set<string>> => {
  const { rows } = await pool.query<{ id: string }>({
    name: 'sent mails',
    text: `select internet_message_id as id from message
            where agent_id = $1::uuid and internet_message_id = any($2::text[]) and direction = 'outbound' and status <> 'imported'`,
    values: [agentId, ids],
  })
  return new Set(rows.map(({ id }) => id))
}

/** How long the transaction may take, in milliseconds, with its wait for a connection. */
const TRANSACTION = { timeout: 60_000, maxWait: 10_000 }

/** In one order: two imports of the same mails would otherwise each wait for a mail that the other has stored first. */
const inOrder = (mails: readonly Prepared[]): Prepared[] =>
  mails.toSorted(({ message: one }, { message: other }) =>
    Buffer.compare(one.fingerprint ?? NONE, other.fingerprint ?? NONE),
  )
const NONE = Buffer.alloc(0)

/** Stores mails of one agent with their threads. Returns how many were not stored before. Throws `plan_limit`. */
const commit = (deps: StoreDeps, mails: readonly Prepared[]): Promise<number> =>
  deps.prisma.$transaction(async (tx) => {
    const { agentId, workspaceId } = mails[0]!.message
    await ensureRoomToStore(tx, deps.clock, workspaceId, mails.length)
    const { pool } = within(tx)
    const messages = mails.map(({ message }) => message)
    const { threads, merged } = threadMails(messages, await findThreads(pool, agentId, messages))
    const stored = await storeBatch(
      { pool },
      inOrder(mails).map(({ message, name: _, ...rest }) => ({
        ...rest,
        message: { ...message, threadId: threads.get(message.id)! },
        event: null,
        wakeLimits: null,
      })),
    )
    await mergeThreads(pool, agentId, merged)
    return stored.size
  }, TRANSACTION)

const isPlanLimit = (error: unknown): boolean => error instanceof AppError && error.code === 'plan_limit'

/** What became of a part of a batch. */
interface Outcome {
  stored(mails: number, isNew: number): void
  skipped(mail: SkippedMail): void
}

/**
 * Stores a batch of mails of one agent, all of them or, when the plan's limit is reached, as many as fit. A mail
 * that cannot be stored is skipped, and the others are stored. Throws `plan_limit`.
 */
export const storeMails = async (
  deps: StoreDeps,
  mails: readonly Prepared[],
  outcome: Outcome,
): Promise<void> => {
  if (mails.length === 0) return
  const placed = await Promise.all(mails.map((mail) => placeArrival(deps.blobs, mail)))
  try {
    outcome.stored(placed.length, await commit(deps, placed))
  } catch (error) {
    if (isUnstorable(error) && placed.length === 1)
      outcome.skipped({ name: placed[0]!.name, reason: 'contains something that cannot be stored' })
    else if (placed.length > 1 && (isPlanLimit(error) || isUnstorable(error)))
      for (const mail of placed) await storeMails(deps, [mail], outcome)
    else throw error
  }
}
