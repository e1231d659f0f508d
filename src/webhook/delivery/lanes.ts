import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Tracer } from '../../core/tracer.ts'
import type { Db } from '../../db/client.ts'
import type { Notifier } from '../../db/notify.ts'
import type { Feed } from '../../event/index.ts'
import type { Dialler } from '../../outgoing-http/dial.ts'
import type { OwnedParts } from '../../worker/index.ts'
import type { Keyring } from '../../workspace/index.ts'
import { ATTEMPT_MS } from '../post/post.ts'

export interface LaneOptions {
  /**
   * Duration of a lease without renewal. Other workers take over the lanes of a worker that hangs, or whose
   * machine is gone, after this, `LATE_MS` and a poll; those of a killed one sooner (see `LiveWorkers`).
   */
  leaseMs: number
  /**
   * Interval of the poll for lanes with events that no notification announced. These are guaranteed to be
   * delivered within 2 s.
   */
  pollMs: number
  /** Time for which a lane with nothing to do keeps its lease. */
  idleMs: number
  /** Maximum number of concurrent POSTs, besides slow ones (see `Slots`). */
  slots: number
  /** Maximum number of leased lanes (see `LaneCapacity`). */
  maxLanes: number
  attemptMs: number
}

export const DEFAULTS: LaneOptions = {
  leaseMs: 15_000,
  pollMs: 1500,
  idleMs: 5000,
  slots: 512,
  maxLanes: 4096,
  attemptMs: ATTEMPT_MS,
}

export interface LanesDeps extends Db {
  keyring: Keyring
  /** Clock for the schedule of attempts. Leases use the database's clock. */
  clock: Clock
  log: Logger
  feed: Pick<Feed, 'onNews'>
  notifier: Pick<Notifier, 'publish' | 'subscribe'>
  dialler: Dialler
  /**
   * Key of the advisory lock that this process holds while it is connected (see `Notifier`): when it is gone,
   * other workers take over the lanes within seconds. Without it, they wait until the leases end.
   */
  session?: string
  /** The agents' parts that this worker is to own, while there are others. Without it, it works for all agents. */
  parts?: OwnedParts
  metrics?: Metrics
  tracer?: Tracer
  /** Called when it was recorded that an event was given up. */
  onGivenUp?: () => void
  /** Returns the jitter, from 0 to below 1. */
  random?: () => number
  options?: Partial<LaneOptions>
}

/** A worker that delivers events to webhooks. Any number of workers, in any processes, share the lanes. */
export interface Lanes {
  /** Number of lanes that this worker has leased. */
  readonly held: number
  start(): void
  /**
   * Accepts no new work and releases the leases: immediately for lanes without a POST in progress, otherwise
   * when the POST has ended or after `graceMs` milliseconds. Takes at most 2 s longer than that, even if the
   * database does not respond.
   */
  stop(graceMs: number): Promise<void>
}
