import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { invalidInput } from '../core/errors.ts'
import type { Db, RootDb } from '../db/client.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import {
  type AfterFailure,
  begin,
  type OpenTransaction,
  type OutsideTransaction,
  withinCurrent,
} from '../db/transaction.ts'
import type { Keyring } from './encryption/keyring.ts'
import { type Answer, type Attempt, IdempotencyRecord, KEPT_MS, stillRunning } from './idempotency-record.ts'
import type { Viewer } from './token/viewer.ts'

export type { Answer, Attempt }

export interface IdempotencyDeps extends Db {
  clock: Clock
  keyring: Keyring
  outsideTransaction: OutsideTransaction
  afterFailure: AfterFailure
}

/**
 * Parses the header, quoted (as in the IETF draft) or bare. `contents` is everything that the request
 * contains. Throws `invalid_input`.
 */
export const readAttempt = (header: string, contents: string): Attempt => {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x20-\x7e]{1,255}$/.test(key))
    throw invalidInput('Idempotency-Key', 'must be 1 to 255 printable characters')
  return { key, hash: createHash('sha256').update(contents).digest() }
}

/**
 * Time limits in milliseconds of each transaction of a request with a key, and of its wait for a connection.
 */
const TRANSACTION = { timeout: 30_000, maxWait: 5_000 }

/**
 * A request with a key. Its changes and the key commit in one transaction. If it runs work outside it, that
 * transaction ends before anything is written; the key is then reserved for the time of a lease, and another
 * transaction continues afterwards.
 */
class Once {
  readonly db: Db
  readonly #deps: IdempotencyDeps
  readonly #record: IdempotencyRecord
  #open: OpenTransaction | null = null
  #afterFailure: ((db: Db) => Promise<void>)[] = []
  #answered: Answer | null = null

  constructor(deps: IdempotencyDeps, viewer: Viewer, attempt: Attempt) {
    this.#deps = deps
    this.#record = new IdempotencyRecord(deps, viewer, attempt)
    this.db = withinCurrent(() => this.#current)
  }

  get #current(): OpenTransaction {
    if (!this.#open) throw new Error('the transaction of a request was used while work runs outside it')
    return this.#open
  }

  /** Begins the transaction. Returns the response of the first request with the key, else null. */
  async begin(): Promise<Answer | null> {
    this.#open = await begin(this.#deps.prisma, TRANSACTION)
    const first = await this.#record.take(this.#open.tx)
    if (first) await this.#end().rollback()
    return first
  }

  /** The response of another request with the key that ended while this one waited. */
  get answered(): Answer | null {
    return this.#answered
  }

  readonly outsideTransaction: OutsideTransaction = async (
    work,
    { changesNothing } = { changesNothing: false },
  ) => {
    if (changesNothing) await this.#record.ensureUnwritten(this.#current.tx)
    else await this.#record.reserve(this.#current.tx)
    await this.#end().commit()
    try {
      return await work(this.#outside)
    } finally {
      this.#open = await begin(this.#deps.prisma, TRANSACTION)
      await (changesNothing ? this.#goOn(this.#open) : this.#record.ensureReserved(this.#open.tx))
    }
  }

  /** Throws when another request with the key was answered meanwhile: its response is that of this one too. */
  async #goOn({ tx }: OpenTransaction): Promise<void> {
    this.#answered = await this.#record.take(tx, { waits: true })
    if (this.#answered) throw stillRunning()
  }

  readonly afterFailure: AfterFailure = async (work) => {
    this.#afterFailure.push(work)
  }

  get #outside(): Db {
    const { prisma, pool, afterCommit } = this.#deps
    return { prisma, pool, afterCommit, inTransaction: false }
  }

  async keep(answer: Answer): Promise<void> {
    await this.#record.keep(this.#current.tx, answer)
    await this.#end().commit()
  }

  /** Rolls back the request, runs what follows a failure, and releases its key. */
  async undo(): Promise<void> {
    if (this.#open) await this.#end().rollback()
    for (const work of this.#afterFailure.splice(0)) await work(this.#outside)
    await this.#record.free()
  }

  #end(): OpenTransaction {
    const ending = this.#current
    this.#open = null
    return ending
  }
}

/**
 * Runs a request at most once. `work` does everything through the given dependencies, in one transaction or outside
 * it (see `OutsideTransaction`), and returns the response to store, or null when the request failed. The key commits in the
 * same transaction as the request's changes, so a crash leaves both or neither. A failed request releases the
 * key; after a crash during work outside the transaction, the key is released after a minute. Returns the
 * stored response if there is one, else null.
 *
 * Throws `conflict` while a request with the key is running, `invalid_input` when the key was used for
 * another request.
 */
export const once = async <Given extends IdempotencyDeps>(
  deps: Given,
  viewer: Viewer,
  attempt: Attempt,
  work: (deps: Given) => Promise<Answer | null>,
): Promise<Answer | null> => {
  // Loaded first: later, other requests might hold all connections while they wait for a row that this
  // transaction has locked.
  await deps.keyring.load(viewer.workspaceId)
  const request = new Once(deps, viewer, attempt)
  try {
    const first = await request.begin()
    if (first) return first
    const answer = await work({
      ...deps,
      ...request.db,
      outsideTransaction: request.outsideTransaction,
      afterFailure: request.afterFailure,
    })
    if (answer && !request.answered) await request.keep(answer)
    else await request.undo()
    return request.answered
  } catch (error) {
    await request.undo()
    if (request.answered) return request.answered
    throw error
  }
}

const DELETE_OLD = `
  with old as materialized (
    select token_id, key from idempotency_key where created_at < $1 order by created_at limit $2 for update skip locked
  ),
  gone as (delete from idempotency_key d using old where d.token_id = old.token_id and d.key = old.key returning 1)
  select count(*)::int as count from gone`

/** Deletes expired keys, in small batches. Idempotent; safe to run in any process at any time. */
export const pruneIdempotencyKeys = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - KEPT_MS), signal)
