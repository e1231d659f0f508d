import type { Queryable } from '../../src/db/client.ts'

/** What happens to rows while a test goes on: tables that refuse them, and sessions that wait for them. */

/** Runs `work` while no rows can be inserted into a table. */
export const whileRefusing = async <Result>(
  { pool }: { pool: Queryable },
  table: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  await pool.query(`alter table ${table} add constraint refuses_rows check (false) not valid`)
  try {
    return await work()
  } finally {
    await pool.query(`alter table ${table} drop constraint refuses_rows`)
  }
}

const WAITING =
  "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ $1"

/** Tests whether this many sessions wait for a lock, with a statement that matches a regular expression of PostgreSQL. */
export const waitsForLock = async (
  { pool }: { pool: Queryable },
  statement: string,
  sessions = 1,
): Promise<boolean> => (await pool.query(WAITING, [statement])).rows.length === sessions
