import type pg from 'pg'
import type { Db } from './client.ts'
import type { Prisma, PrismaClient } from './generated/prisma/client.ts'

interface Statement {
  text: string
  values?: unknown[]
}

const toNumbers = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]))

/** The one call of a pool that the operations make, answered inside the transaction. */
const poolOf = (tx: Prisma.TransactionClient): pg.Pool => {
  const query = async (statement: string | Statement, parameters: unknown[] = []) => {
    const { text, values = parameters } = typeof statement === 'string' ? { text: statement } : statement
    const rows = await tx.$queryRawUnsafe<Record<string, unknown>[]>(text, ...values)
    return { rows: rows.map(toNumbers), rowCount: rows.length }
  }
  return { query } as unknown as pg.Pool
}

/** A client whose own transactions are part of this one. */
const clientOf = (tx: Prisma.TransactionClient): PrismaClient =>
  new Proxy(tx, {
    get: (target, property, receiver) => {
      if (property !== '$transaction') return Reflect.get(target, property, receiver)
      return async (work: ((tx: Prisma.TransactionClient) => Promise<unknown>) | Promise<unknown>[]) => {
        if (typeof work === 'function') return work(tx)
        const results: unknown[] = []
        for (const one of work) results.push(await one)
        return results
      }
    },
  }) as PrismaClient

/** A database whose every statement is part of the transaction `tx`: what uses it is committed or undone with it. */
export const within = (tx: Prisma.TransactionClient): Db => ({ prisma: clientOf(tx), pool: poolOf(tx) })
