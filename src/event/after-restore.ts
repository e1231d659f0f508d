import type { Db } from '../db/client.ts'
import { adaptable } from '../db/dialect.ts'
import { sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'

/** More events than an agent's log gets between two restores. Ids remain exact numbers through nine million of these. */
const STEP = 1_000_000_000

const BEFORE_GAP = sql`greatest(horizon, last_id / ${STEP} * ${STEP})`
const COVER_GAPS = composedOf(
  adaptable('cover gaps', { cover: sql`update event_log set horizon = ${BEFORE_GAP}` }, sql`select`),
)

/**
 * Lets the ids of all logs go on at the next multiple of `STEP`, after a restore to an earlier moment. Events that the
 * database no longer has were given to clients and webhooks: new ones with their ids would be taken for those, and lost.
 */
export const skipLostIds = async ({ pool }: Pick<Db, 'pool'>): Promise<void> => {
  await pool.query(`update event_log set last_id = (last_id / ${STEP} + 1) * ${STEP}`)
  await pool.query(COVER_GAPS)
}

/** Does for a database that is now distributed what `skipLostIds` does for one that was. */
export const coverGaps = async ({ pool }: Pick<Db, 'pool'>): Promise<void> => {
  await pool.query(composedOf(sql`update event_log set horizon = ${BEFORE_GAP} where last_id >= ${STEP}`))
}
