import { AsyncLocalStorage } from 'node:async_hooks'
import type { Db } from '../../db/client.ts'
import { begin, type OpenTransaction, withinCurrent } from '../../db/transaction.ts'

/** Longest time in milliseconds that a request's transaction may be open, and wait for a connection. */
const LIMITS = { timeout: 10_000, maxWait: 5_000 }

interface Unit {
  opening: Promise<OpenTransaction> | null
}

/**
 * Makes what a request writes after `begin` one transaction: a refresh token that is used up is committed with
 * the tokens that replace it, so that a crash in between does not cost the client its connection. Nothing is
 * open before `begin`, because a request may first wait for the client's own server.
 */
export class UnitOfWork {
  readonly #root: Db
  readonly #units = new AsyncLocalStorage<Unit>()

  constructor({ prisma, pool, afterCommit }: Db) {
    this.#root = { prisma, pool, afterCommit, inTransaction: false }
  }

  /** Runs a request. Commits when it returns, and rolls back when it throws. */
  async run(request: () => Promise<void>): Promise<void> {
    const unit: Unit = { opening: null }
    try {
      await this.#units.run(unit, request)
    } catch (error) {
      await (await unit.opening)?.rollback()
      throw error
    }
    await (await unit.opening)?.commit()
  }

  /** Returns the request's transaction, which begins with the first call; outside a request, the database. */
  async begin(): Promise<Db> {
    const unit = this.#units.getStore()
    if (!unit) return this.#root
    unit.opening ??= begin(this.#root.prisma, LIMITS)
    const opened = await unit.opening
    return withinCurrent(() => opened)
  }

  /** Returns the request's transaction if it has begun, else the database. */
  async current(): Promise<Db> {
    return this.#units.getStore()?.opening ? this.begin() : this.#root
  }

  /** Rolls the request's transaction back; what follows is not part of it. */
  async abandon(): Promise<void> {
    const unit = this.#units.getStore()
    const opened = await unit?.opening
    if (unit) unit.opening = null
    await opened?.rollback()
  }
}
