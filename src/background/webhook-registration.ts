import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { Routine } from '../core/routine.ts'
import type { Notifier } from '../db/notify.ts'
import { WORKSPACE_MOVES } from '../workspace/index.ts'

/**
 * Makes a provider call `PUBLIC_URL`. Resolves with whether everything is up to date; rejects when it could
 * not be checked.
 */
export type RegisterWebhooks = (signal: AbortSignal) => Promise<boolean>

/** Time after a round in which something failed until the next one. */
const RETRY_MS = 5 * 60_000
/** Interval at which a routine sees that there is something to do. */
const LOOK_MS = 1_000

interface Deps {
  clock: Clock
  log: Logger
  notifier: Pick<Notifier, 'subscribe'>
}

const createRegistration = (follow: RegisterWebhooks, { notifier, ...deps }: Deps): Routine => {
  let due = Number.NEGATIVE_INFINITY
  notifier.subscribe(WORKSPACE_MOVES, () => {
    due = Number.NEGATIVE_INFINITY
  })
  const round = async (signal: AbortSignal): Promise<void> => {
    const now = deps.clock.now().getTime()
    if (now < due) return
    due = now + RETRY_MS
    if ((await follow(signal)) && due > now) due = Number.POSITIVE_INFINITY
  }
  const failed = 'could not update the webhook URL at a provider'
  return new Routine(round, { ...deps, everyMs: LOOK_MS, failed })
}

/**
 * Creates routines that register the current `PUBLIC_URL` with providers: at start, when a workspace has come from another
 * installation, and again until each succeeds.
 */
export const createWebhookRegistrations = (follows: readonly RegisterWebhooks[], deps: Deps): Routine[] =>
  follows.map((follow) => createRegistration(follow, deps))
