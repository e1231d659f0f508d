import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { invalidInput } from '../core/errors.ts'
import type { Db, RootDb } from '../db/client.ts'
import { type Apart, begin, type OpenTransaction, withinCurrent } from '../db/transaction.ts'
import { type Answer, type Attempt, IdempotencyRecord, KEPT_MS } from './idempotency-record.ts'
import type { Keyring } from './keyring.ts'
import type { Viewer } from './viewer.ts'

export type { Answer, Attempt }

export interface IdempotencyDeps extends Db {
  clock: Clock
  keyring: Keyring
}

/**
 * Reads the header, quoted (as the IETF draft has it) or bare. `asked` is all that the request asks. Throws
 * `invalid_input`.
 */
export const readAttempt = (header: string, asked: string): Attempt => {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalidInput('Idempotency-Key', 'must be 1 to 255 printable characters')
  return { key, hash: createHash('sha256').update(asked).digest() }
}

/** How long each transaction of the request behind a key may take, and how long it waits for a connection. */
const TRANSACTION = { timeout: 30_000, maxWait: 5_000 }

/**
 * One request under a key. What it makes and the key commit in one transaction. Where it does something
 * apart, that transaction ends before it has written anything: then the key is reserved for as long as a
 * lease runs, and another transaction goes on afterwards.
 */
class Once {
  readonly db: Db
  readonly #deps: IdempotencyDeps
  readonly #record: IdempotencyRecord
  #open: OpenTransaction | null = null

  constructor(deps: IdempotencyDeps, viewer: Viewer, attempt: Attempt) {
    this.#deps = deps
    this.#record = new IdempotencyRecord(deps, viewer, attempt)
    this.db = withinCurrent(() => this.#current.tx)
  }

  get #current(): OpenTransaction {
    if (!this.#open) throw new Error('the transaction of a request was used while it does something apart')
    return this.#open
  }

  /** Begins; the answer of the request that came first under the key, else null. */
  async begin(): Promise<Answer | null> {
    this.#open = await begin(this.#deps.prisma, TRANSACTION)
    const first = await this.#record.take(this.#open.tx)
    if (first) await this.#end().rollback()
    return first
  }

  readonly apart: Apart = async (work) => {
    await this.#record.reserve(this.#current.tx)
    await this.#end().commit()
    try {
      const { prisma, pool } = this.#deps
      return await work({ prisma, pool })
    } finally {
      this.#open = await begin(this.#deps.prisma, TRANSACTION)
      await this.#record.ensureReserved(this.#open.tx)
    }
  }

  async keep(answer: Answer): Promise<void> {
    await this.#record.keep(this.#current.tx, answer)
    await this.#end().commit()
  }

  /** Undoes what the request did; its key is free again. */
  async undo(): Promise<void> {
    if (this.#open) await this.#end().rollback()
    await this.#record.free()
  }

  #end(): OpenTransaction {
    const ending = this.#current
    this.#open = null
    return ending
  }
}

/**
 * Does what a request asks at most once. `work` does all of it through the database that it is given, or
 * apart (see `Apart`), and returns the answer to keep, or null when the request failed. The key is committed
 * in the transaction that makes what was asked for: a crash leaves both or neither, and a failed request
 * leaves the key free; one that crashed while it did something apart, after a minute. Returns the first
 * answer when there was one, else null.
 *
 * Throws `conflict` while a request with the key still runs, `invalid_input` when the key was used for
 * another request.
 */
export const once = async (
  deps: IdempotencyDeps,
  viewer: Viewer,
  attempt: Attempt,
  work: (db: Db, apart: Apart) => Promise<Answer | null>,
): Promise<Answer | null> => {
  // Later, others might wait with all connections for a row that this transaction has locked.
  await deps.keyring.load(viewer.workspaceId)
  const request = new Once(deps, viewer, attempt)
  try {
    const first = await request.begin()
    if (first) return first
    const answer = await work(request.db, request.apart)
    if (answer) await request.keep(answer)
    else await request.undo()
    return null
  } catch (error) {
    await request.undo()
    throw error
  }
}

/** Deletes keys past their time. Idempotent; any process may call it at any time. */
export const pruneIdempotencyKeys = async ({ pool }: RootDb, now: Date): Promise<number> => {
  const { rowCount } = await pool.query('delete from idempotency_key where created_at < $1', [
    new Date(now.getTime() - KEPT_MS),
  ])
  return rowCount ?? 0
}
