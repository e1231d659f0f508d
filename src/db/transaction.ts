import type { Db, Queryable, Statements } from './client.ts'
import type { Prisma, PrismaClient } from './generated/prisma/client.ts'
import type { Statement } from './sql/statement.ts'
import { isDeadlock } from './unavailable.ts'

const toNumbers = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]),
  )

type Transaction = Pick<Prisma.TransactionClient, '$queryRawUnsafe'>

/** Returns raw SQL access inside the transaction that is `current` at that moment. */
const queryableOf = (current: () => Transaction): Queryable => ({
  async query<Row extends object>(statement: string | Statement, parameters: unknown[] = []) {
    const { text, values = parameters }: Statement =
      typeof statement === 'string' ? { text: statement } : statement
    const rows = await current().$queryRawUnsafe<Record<string, unknown>[]>(text, ...values)
    return { rows: rows.map(toNumbers) as Row[] }
  },
})

/** Returns raw SQL access inside a transaction. */
export const rawIn = (tx: Transaction): Queryable => queryableOf(() => tx)

/** Returns a client whose own transactions are part of this one. */
const clientOf = (current: () => Prisma.TransactionClient): PrismaClient =>
  new Proxy({} as Prisma.TransactionClient, {
    has: (_target, property) => Reflect.has(current(), property),
    get: (_target, property) => {
      const tx = current()
      if (property !== '$transaction') return Reflect.get(tx, property)
      return async (work: ((tx: Prisma.TransactionClient) => Promise<unknown>) | Promise<unknown>[]) => {
        if (typeof work === 'function') return work(tx)
        const results: unknown[] = []
        for (const one of work) results.push(await one)
        return results
      }
    },
  }) as PrismaClient

/** What is to happen once a transaction is committed, in order. */
type Effects = (() => void)[]

const run = (effects: Effects): void => {
  for (const effect of effects) effect()
}

/** Returns the statements of the transaction `tx`, for work inside it that has no effects elsewhere. */
export const within = (tx: Prisma.TransactionClient): Statements => ({
  prisma: clientOf(() => tx),
  pool: queryableOf(() => tx),
  inTransaction: true,
})

/** Returns a database whose statements and effects are part of the transaction that is `current` at that moment. */
export const withinCurrent = (current: () => OpenTransaction): Db => ({
  prisma: clientOf(() => current().tx),
  pool: queryableOf(() => current().tx),
  inTransaction: true,
  afterCommit: (effect) => void current().effects.push(effect),
})

/**
 * Runs work in one transaction, or in the one that `deps` are part of. Everything is committed or rolled back
 * together; effects follow the commit.
 */
export const atomically = async <Given extends Db, Result>(
  deps: Given,
  work: (deps: Given) => Promise<Result>,
): Promise<Result> => {
  if (deps.inTransaction) return work(deps)
  const effects: Effects = []
  const result = await deps.prisma.$transaction((tx) =>
    work({ ...deps, ...within(tx), afterCommit: (effect) => void effects.push(effect) }),
  )
  run(effects)
  return result
}

/** How often a transaction is repeated that was ended to resolve a deadlock. */
const MAX_REPEATS = 3

/**
 * Repeats a transaction that PostgreSQL has ended to resolve a deadlock, unless it is a part of another. For those that
 * cannot lock in the order in which others do. `work` must be safe to repeat.
 */
export const despiteDeadlocks = async <Result>(
  { inTransaction }: Pick<Db, 'inTransaction'>,
  work: () => Promise<Result>,
): Promise<Result> => {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work()
    } catch (error) {
      if (inTransaction || repeats === MAX_REPEATS || !isDeadlock(error)) throw error
    }
  }
}

/** A transaction that is ended by a call instead of the return of a function. */
export interface OpenTransaction {
  readonly tx: Prisma.TransactionClient
  readonly effects: Effects
  /** Runs the effects once it is committed. Throws when it cannot be committed; then nothing is. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

class RolledBack extends Error {}

/** Begins a transaction. It is rolled back automatically once it has been open for `timeout` ms. */
export const begin = async (
  prisma: PrismaClient,
  options: { timeout: number; maxWait: number },
): Promise<OpenTransaction> => {
  let end: { resolve(): void; reject(reason: Error): void } | undefined
  const ended = new Promise<void>((resolve, reject) => {
    end = { resolve, reject }
  })
  let done: Promise<void> = Promise.resolve()
  const tx = await new Promise<Prisma.TransactionClient>((opened, failed) => {
    const work = (made: Prisma.TransactionClient): Promise<void> => {
      opened(made)
      return ended
    }
    done = prisma.$transaction(work, options)
    done.catch(failed)
  })
  const effects: Effects = []
  return {
    ...{ tx, effects },
    commit: async () => {
      end?.resolve()
      await done
      run(effects)
    },
    rollback: async () => {
      end?.reject(new RolledBack())
      // However it ended, nothing of it is committed.
      await done.catch(() => undefined)
    },
  }
}

/**
 * Runs work outside a request's transaction: work that waits for something external, which must not hold a
 * connection meanwhile, and work that must persist whatever happens to the request. The work gets its own
 * database. With an `Idempotency-Key`, the request's transaction ends before it and another begins after it,
 * so nothing may have been written before. `changesNothing`: the work only waits, so the key is not reserved
 * meanwhile, and after a crash the request can be repeated at once.
 */
export type OutsideTransaction = <Result>(
  work: (db: Db) => Promise<Result>,
  options?: { changesNothing: boolean },
) => Promise<Result>

/**
 * Runs work that must persist although the request fails: once its transaction is rolled back, or at once without one.
 * Not run if the request succeeds after all.
 */
export type AfterFailure = (work: (db: Db) => Promise<void>) => Promise<void>

/** For a request without its own transaction: nothing has to end first. */
export const outsideTransactionOf =
  (db: Db): OutsideTransaction =>
  (work) =>
    work(db)
