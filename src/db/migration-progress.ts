import pg from 'pg'
import type { Logger } from '../core/logger.ts'

/** How often is said how far it is. */
const TELL_MS = 10_000

/** How much of an index is built: of the blocks of its table, or afterwards of its entries. */
const BUILT = `SELECT phase, CASE WHEN tuples_total > 0 THEN round(100.0 * tuples_done / tuples_total)::int
    WHEN blocks_total > 0 THEN round(100.0 * blocks_done / blocks_total)::int END AS percent
  FROM pg_stat_progress_create_index WHERE datname = current_database()`

/** Logs how far it is, and with what, every ten seconds: an index of a large table takes minutes. */
export const followProgress = (
  url: string,
  log: Logger,
  at: () => { migration: string; done: number; of: number },
) => {
  const began = performance.now()
  const tell = async () => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5000,
      query_timeout: 5000,
    })
    client.on('error', () => undefined) // then progress is not reported
    const built = await client
      .connect()
      .then(() => client.query<{ phase: string; percent: number | null }>(BUILT))
      .then(({ rows }) => rows[0] && { index: rows[0] })
      .catch(() => undefined)
    void client.end().catch(() => undefined)
    const seconds = Math.round((performance.now() - began) / 1000)
    log.info({ ...at(), seconds, ...built }, 'migrating the database')
  }
  const timer = setInterval(() => void tell(), TELL_MS)
  return () => clearInterval(timer)
}
