import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from '../core/logger.ts'
import { COMMAND } from '../core/root.ts'

/** How often it is looked whether processes of earlier releases have ended, and how often that is said. */
const LOOK_MS = 500
const LOG_MS = 10_000

/**
 * A service's sessions, which are named after the newest migration that it knows; those of 1.0.0, which does not look
 * whether it is excluded, after none.
 */
const EARLIER = `FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'ams-listen%'
  AND application_name COLLATE "C" < 'ams-listen/' || $1`
const COUNT = `SELECT count(*)::int AS count ${EARLIER}`
/** Named as a schema: only the processes of 1.0.0 are earlier. */
export const FIRST = ''

/** All sessions of those processes: a stuck one may hold a transaction in any. No process of this release has one yet. */
const END_ALL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND (application_name = 'ams' OR pid IN (SELECT pid ${EARLIER}))`

/**
 * Waits until the processes of releases before `schema` have ended, which they do when they see what was announced
 * (1.0.0: when they are stopped). With `fence`, ends their sessions instead.
 */
export async function waitForEarlierReleases(
  client: pg.Client,
  schema: string,
  { log, fence }: { log: Logger; fence: boolean },
): Promise<void> {
  for (let loggedAt = Number.NEGATIVE_INFINITY; ; ) {
    const { count } = (await client.query<{ count: number }>(COUNT, [schema])).rows[0]!
    if (fence && (count > 0 || schema !== FIRST)) await client.query(END_ALL, [schema])
    if (count === 0 || fence) return
    if (performance.now() - loggedAt >= LOG_MS) {
      loggedAt = performance.now()
      log.warn(
        { processes: count },
        `waiting for processes of an earlier release to end; ${COMMAND} migrate --fence does not wait`,
      )
    }
    await setTimeout(LOOK_MS)
  }
}
