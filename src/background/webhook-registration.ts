import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { DONE, Routine } from '../core/routine.ts'

/**
 * Has a provider call where `PUBLIC_URL` is. Resolves with whether all of it does; rejects when it could not
 * look.
 */
export type RegisterWebhooks = (signal: AbortSignal) => Promise<boolean>

/** After a round in which something failed. */
const AGAIN_MS = 5 * 60_000

/** Sees to it that providers call where `PUBLIC_URL` is: at the start, and again until each is through. */
export const createWebhookRegistrations = (
  follows: readonly RegisterWebhooks[],
  deps: { clock: Clock; log: Logger },
): Routine[] =>
  follows.map(
    (follow) =>
      new Routine(async (signal) => ((await follow(signal)) ? DONE : null), {
        ...deps,
        everyMs: AGAIN_MS,
        failed: 'could not update the webhook URL at a provider',
      }),
  )
