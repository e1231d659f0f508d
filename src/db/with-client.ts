import type pg from 'pg'
import { isUnavailable } from './unavailable.ts'

/**
 * Runs a transaction of several statements on a connection of its own; `run` begins and commits it. It is rolled back
 * if that fails, and a connection that is lost is not used again.
 */
export const withClient = async <Result>(
  pool: pg.Pool,
  run: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> => {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    return await run(client)
  } catch (error) {
    failure = error as Error
    await client.query('rollback').catch(() => undefined)
    throw error
  } finally {
    client.release(failure && isUnavailable(failure) ? failure : undefined)
  }
}
