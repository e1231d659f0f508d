import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { DONE, Routine } from '../core/routine.ts'

/**
 * Makes a provider call `PUBLIC_URL`. Resolves with whether everything is up to date; rejects when it could
 * not be checked.
 */
export type RegisterWebhooks = (signal: AbortSignal) => Promise<boolean>

/** Interval after a round in which something failed. */
const RETRY_MS = 5 * 60_000

/**
 * Creates routines that register the current `PUBLIC_URL` with providers at start, and retry until each
 * succeeds.
 */
export const createWebhookRegistrations = (
  follows: readonly RegisterWebhooks[],
  deps: { clock: Clock; log: Logger },
): Routine[] =>
  follows.map(
    (follow) =>
      new Routine(async (signal) => ((await follow(signal)) ? DONE : null), {
        ...deps,
        everyMs: RETRY_MS,
        failed: 'could not update the webhook URL at a provider',
      }),
  )
