import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { within } from '../db/transaction.ts'
import { skipLostIds } from '../event/index.ts'
import { holdDue } from '../message/index.ts'
import { endChangePositions } from '../workspace/index.ts'

export interface AfterRestore {
  /** Number of messages that wait for approval now. */
  held: number
}

/** One update of each agent's log, in one transaction. */
const LONG_MS = 600_000

/** The sessions of services that run on this database (see db/listening.ts). */
const SERVICES = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and application_name like 'ams-listen/%'`

/**
 * Prepares a database that was restored to an earlier moment for the clients that have seen more than it has. `hold`:
 * messages that are due wait for a member's approval instead of being sent again. Throws `conflict` while services run.
 */
export const prepareRestored = ({ prisma }: Db, { hold }: { hold: boolean }): Promise<AfterRestore> =>
  prisma.$transaction(
    async (tx) => {
      const db = within(tx)
      await db.pool.query('set local statement_timeout = 0')
      const { count } = (await db.pool.query<{ count: number }>(SERVICES)).rows[0]!
      if (count > 0)
        throw new AppError(
          'conflict',
          `Services run on this database (${count}): stop them first, and start them afterwards.`,
        )
      await skipLostIds(db)
      await endChangePositions(db)
      return { held: hold ? await holdDue(db) : 0 }
    },
    { timeout: LONG_MS, maxWait: LONG_MS },
  )
