import type { Db, RootDb } from './client.ts'
import type { Statement } from './sql/statement.ts'

const BATCH = 1_000

/**
 * Runs a statement that deletes at most $2 rows from before $1 and returns their number as `count`, until
 * fewer are left: no batch holds its locks for long, and what was deleted before a crash stays deleted. Returns
 * the number of rows deleted.
 */
export const deleteInBatches = async (
  { pool }: Pick<RootDb, 'pool'>,
  statement: string | Statement,
  before: Date,
  signal?: AbortSignal,
): Promise<number> => {
  const given = typeof statement === 'string' ? { text: statement } : statement
  let deleted = 0
  while (!signal?.aborted) {
    const { rows } = await pool.query<{ count: number }>({ ...given, values: [before, BATCH] })
    deleted += rows[0]!.count
    if (rows[0]!.count < BATCH) break
  }
  return deleted
}

/** Runs a statement that deletes at most $2 rows of the agent $1 and returns their number as `count`. */
export const deleteOfAgent = async (
  { pool }: Pick<Db, 'pool'>,
  statement: Statement,
  agentId: string,
  limit: number,
): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>({ ...statement, values: [agentId, limit] })
  return rows[0]!.count
}
