import { COMMAND } from '../core/root.ts'
import type { Queryable } from './client.ts'
import { UnsuitableSchemaError } from './schema.ts'

/** The catalogue of Citus. It must exist before the next query can name it. */
const HAS_CITUS = `select to_regclass('pg_catalog.pg_dist_partition') is not null as answer`
const IS_DISTRIBUTED = `select exists (select from pg_dist_partition where logicalrelid = to_regclass('message')) as answer`

/** The last release that works with a distributed database. */
const LAST = '1.1.0'

/**
 * Throws when an earlier release has distributed the database with Citus, which refuses many statements of this one.
 * See docs/decisions.md#citus.
 */
export const refuseDistributed = async (client: Queryable): Promise<void> => {
  const read = async (query: string): Promise<boolean> =>
    (await client.query<{ answer: boolean }>(query)).rows[0]!.answer
  if (!(await read(HAS_CITUS)) || !(await read(IS_DISTRIBUTED))) return
  throw new UnsuitableSchemaError(
    `The database is distributed with Citus, with which this release cannot work: with version ${LAST}, dump it (${COMMAND} dump FILE) and restore the dump into an empty database of a PostgreSQL without Citus; this release then migrates that.`,
  )
}
