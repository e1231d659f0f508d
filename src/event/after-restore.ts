import type { Db } from '../db/client.ts'

/** More events than an agent's log gets between two restores. Ids remain exact numbers through nine million of these. */
const STEP = 1_000_000_000

/**
 * Lets the ids of all logs go on at the next multiple of `STEP`, after a restore to an earlier moment. Events that the
 * database no longer has were given to clients and webhooks: new ones with their ids would be taken for those, and lost.
 */
export const skipLostIds = async ({ pool }: Pick<Db, 'pool'>): Promise<void> => {
  await pool.query(`update event_log set last_id = (last_id / ${STEP} + 1) * ${STEP}`)
}
