import type { Db, Queryable, Statement } from './client.ts'
import type { Prisma, PrismaClient } from './generated/prisma/client.ts'

const toNumbers = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]),
  )

/** Raw SQL inside the transaction. */
const queryableOf = (current: () => Prisma.TransactionClient): Queryable => ({
  async query<Row extends object>(statement: string | Statement, parameters: unknown[] = []) {
    const { text, values = parameters }: Statement =
      typeof statement === 'string' ? { text: statement } : statement
    const rows = await current().$queryRawUnsafe<Record<string, unknown>[]>(text, ...values)
    return { rows: rows.map(toNumbers) as Row[] }
  },
})

/** A client whose own transactions are part of this one. */
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

/** A database whose every statement is part of the transaction that is `current` at that moment. */
export const withinCurrent = (current: () => Prisma.TransactionClient): Db => ({
  prisma: clientOf(current),
  pool: queryableOf(current),
})

/**
 * A database whose every statement is part of the transaction `tx`: what uses it is committed or undone with
 * it.
 */
export const within = (tx: Prisma.TransactionClient): Db => withinCurrent(() => tx)

/** A transaction that a call ends, not the return of a function. */
export interface OpenTransaction {
  readonly tx: Prisma.TransactionClient
  /** Throws when it can't be committed: then nothing is. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

class RolledBack extends Error {}

/** Begins a transaction. It is rolled back by itself once it has been open for `timeout` ms. */
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
  return {
    tx,
    commit: () => {
      end?.resolve()
      return done
    },
    rollback: async () => {
      end?.reject(new RolledBack())
      // Whatever else ended it, nothing of it is committed.
      await done.catch(() => undefined)
    },
  }
}

/**
 * Runs what is no part of a request's transaction: what waits for something outside, which must hold no
 * connection meanwhile, and what must stay whatever becomes of the request. The work gets a database of its
 * own. With an `Idempotency-Key` the request's transaction ends before it and another begins after it, so
 * nothing may have been written until then.
 */
export type Apart = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>

/** Of a request without a transaction of its own: nothing has to end before it. */
export const apartFrom =
  (db: Db): Apart =>
  (work) =>
    work(db)
