import type { Db } from '../db/client.ts'
import { dialect } from '../db/dialect.ts'

/** More events than an agent's log gets between two restores. Ids remain exact numbers through nine million of these. */
const STEP = 1_000_000_000

/** With Citus, ids above the horizon must have no gaps (see log.ts): readers before one are told to read everything again. */
const BEFORE_GAP = `greatest(horizon, last_id / ${STEP} * ${STEP})`

/**
 * Lets the ids of all logs go on at the next multiple of `STEP`, after a restore to an earlier moment. Events that the
 * database no longer has were given to clients and webhooks: new ones with their ids would be taken for those, and lost.
 */
export const skipLostIds = async ({ pool }: Pick<Db, 'pool'>): Promise<void> => {
  await pool.query(`update event_log set last_id = (last_id / ${STEP} + 1) * ${STEP}`)
  await pool.query(dialect('select', `update event_log set horizon = ${BEFORE_GAP}`))
}

/** Does for a database that is now distributed what `skipLostIds` does for one that was. */
export const coverGaps = async ({ pool }: Pick<Db, 'pool'>): Promise<void> => {
  await pool.query(`update event_log set horizon = ${BEFORE_GAP} where last_id >= ${STEP}`)
}
