import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import { within } from '../db/transaction.ts'
import type { Keyring } from './keyring.ts'
import type { Viewer } from './viewer.ts'

export interface IdempotencyDeps extends Db {
  clock: Clock
  keyring: Keyring
}

/** A request that may come twice: the key that its sender gave it, and a SHA-256 of all that it asks. */
export interface Attempt {
  key: string
  hash: Buffer
}

/** Reads the header, quoted (as the IETF draft has it) or bare. `asked` is all that the request asks. Throws `invalid_input`. */
export const readAttempt = (header: string, asked: string): Attempt => {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalidInput('Idempotency-Key', 'must be 1 to 255 printable characters')
  return { key, hash: createHash('sha256').update(asked).digest() }
}

export interface Answer {
  status: number
  body: string
}

const KEPT_MS = 24 * 3_600_000
/** How long the request behind a key may take. */
const TIMEOUT_MS = 30_000

type Tx = Prisma.TransactionClient

/** Thrown to undo the transaction of a request that failed: its key is free again. */
class Undo extends Error {}

const boundTo = (viewer: Viewer, key: string) => `idempotency:${viewer.tokenId}:${key}`

/** Takes the key for this transaction; throws `conflict` while another request has it. */
const lock = async (tx: Tx, viewer: Viewer, key: string): Promise<void> => {
  const [row] = await tx.$queryRaw<
    { free: boolean }[]
  >`select pg_try_advisory_xact_lock(hashtextextended(${boundTo(viewer, key)}, 0)) as free`
  if (!row?.free) throw new AppError('conflict', 'A request with this Idempotency-Key is still running.')
}

const firstAnswer = async ({ clock, keyring }: IdempotencyDeps, tx: Tx, viewer: Viewer, { key, hash }: Attempt): Promise<Answer | null> => {
  const where = { tokenId_key: { tokenId: viewer.tokenId, key } }
  const found = await tx.idempotencyKey.findUnique({ where })
  if (!found) return null
  if (found.createdAt.getTime() + KEPT_MS <= clock.now().getTime()) {
    await tx.idempotencyKey.delete({ where })
    return null
  }
  if (!hash.equals(found.requestHash)) throw invalidInput('Idempotency-Key', 'was used for another request')
  const body = await keyring.open(viewer.workspaceId, found.body, boundTo(viewer, key))
  return { status: found.status, body: body.toString() }
}

const keep = async (deps: IdempotencyDeps, tx: Tx, viewer: Viewer, { key, hash }: Attempt, { status, body }: Answer): Promise<void> => {
  const sealed = Uint8Array.from(await deps.keyring.seal(viewer.workspaceId, body, boundTo(viewer, key)))
  const createdAt = deps.clock.now()
  await tx.idempotencyKey.create({
    data: { tokenId: viewer.tokenId, key, requestHash: Uint8Array.from(hash), status, body: sealed, createdAt },
  })
}

/**
 * Does what a request asks at most once. `work` does all of it through the database that it is given, and returns the answer to keep, or
 * null when the request failed. The key is committed in the transaction that makes what was asked for: a crash leaves both or neither,
 * and a failed request leaves the key free. Returns the first answer when there was one, else null.
 *
 * Throws `conflict` while a request with the key still runs, `invalid_input` when the key was used for another request.
 */
export const once = async (
  deps: IdempotencyDeps,
  viewer: Viewer,
  attempt: Attempt,
  work: (db: Db) => Promise<Answer | null>,
): Promise<Answer | null> => {
  const transaction = async (tx: Tx): Promise<Answer | null> => {
    await lock(tx, viewer, attempt.key)
    const first = await firstAnswer(deps, tx, viewer, attempt)
    if (first) return first
    const answer = await work(within(tx))
    if (!answer) throw new Undo()
    await keep(deps, tx, viewer, attempt, answer)
    return null
  }
  // Later, others might wait with all connections for a row that this transaction has locked.
  await deps.keyring.load(viewer.workspaceId)
  try {
    return await deps.prisma.$transaction(transaction, { timeout: TIMEOUT_MS, maxWait: 5_000 })
  } catch (error) {
    if (error instanceof Undo) return null
    throw error
  }
}

/** Deletes keys past their time. Idempotent; any process may call it at any time. */
export const pruneIdempotencyKeys = async ({ pool }: Db, now: Date): Promise<number> => {
  const { rowCount } = await pool.query('delete from idempotency_key where created_at < $1', [new Date(now.getTime() - KEPT_MS)])
  return rowCount ?? 0
}
