import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Db } from '../../db/client.ts'
import type { Notifier } from '../../db/notify.ts'
import type { Feed } from '../../event/feed.ts'
import type { Dialler } from '../../outgoing-http/dial.ts'
import type { Keyring } from '../../workspace/keyring.ts'
import { LaneWorker } from './lane-worker.ts'
import { ATTEMPT_MS } from './post.ts'

export interface LaneOptions {
  /** How long a lease lasts without renewal. A killed worker's lanes move on after this and one poll. */
  leaseMs: number
  /**
   * How often to look for lanes with events that no notification announced. It is promised that these arrive
   * within 2 s.
   */
  pollMs: number
  /** How long a lane with nothing to do keeps its lease and its connection. */
  idleMs: number
  /** How many POSTs at once. */
  slots: number
  /** How many lanes are leased at once. */
  maxLanes: number
  attemptMs: number
}

const DEFAULTS: LaneOptions = {
  leaseMs: 15_000,
  pollMs: 1500,
  idleMs: 5000,
  slots: 512,
  maxLanes: 4096,
  attemptMs: ATTEMPT_MS,
}

export interface LanesDeps extends Db {
  keyring: Keyring
  /** For the schedule of attempts. Leases go by the database's clock. */
  clock: Clock
  log: Logger
  feed: Pick<Feed, 'onNews'>
  notifier: Pick<Notifier, 'publish' | 'subscribe'>
  dialler: Dialler
  metrics?: Metrics
  /** Called when it is written that an event was given up. */
  onGivenUp?: () => void
  /** For the jitter; from 0 to below 1. */
  random?: () => number
  options?: Partial<LaneOptions>
}

/**
 * The worker that delivers events to webhooks. Any number of them, in any number of processes, share the
 * lanes.
 */
export interface Lanes {
  /** How many lanes this worker has leased. */
  readonly held: number
  start(): void
  /**
   * Takes no new work and gives the leases back: those of lanes without a POST under way at once, the others
   * when their POST has ended, or after `graceMs` milliseconds. Takes at most 2 s more than that, even if the
   * database does not respond.
   */
  stop(graceMs: number): Promise<void>
}

export const createLanes = (deps: LanesDeps): Lanes => new LaneWorker(deps, { ...DEFAULTS, ...deps.options })
