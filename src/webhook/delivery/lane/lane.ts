import type { Clock } from '../../../core/clock.ts'
import type { Connection } from '../../../outgoing-http/dial.ts'
import type { Format } from '../../format/format.ts'
import type { SigningKeys } from '../../secret.ts'
import { EventQueue } from './event-queue.ts'
import { LaneLease } from './lane-lease.ts'
import type { LeasedLane, Renewed } from './lease.ts'
import { ManualQueue } from './manual-queue.ts'
import { type Policy, policyOf } from './policy.ts'
import type { Progress } from './progress.ts'
import type { Waiter } from './slots.ts'

/**
 * `held`: this worker has the lease. `leaving`: the lease is being released. `lost`: another worker has it,
 * or the webhook was deleted. Only a held lane posts, and a lane never becomes held again.
 */
export type LaneState = 'held' | 'leaving' | 'lost'

/** What of a webhook's row had to be decrypted. */
type Opened = Pick<Lane, 'keys' | 'format'>

/**
 * A webhook that this worker has leased. While it is held, events are announced and read, and posted one at a
 * time: `queue`, `dequeue`, `attempting`, `attempted`, then the result (`completed`, `failed`, `gaveUp`,
 * `manualFinished`). `idle` is called when there is nothing to post, and `release` or `lose` at the end.
 */
export class Lane implements Waiter {
  readonly id: string
  readonly workspaceId: string
  readonly agentId: string
  readonly url: string
  /** Null when the secret could not be decrypted. */
  readonly keys: SigningKeys | null
  /** Null when its headers could not be decrypted. */
  readonly format: Format | null
  readonly connection: Connection
  readonly policy: Policy
  /** The events to deliver. Only the lane itself removes events and changes the position. */
  readonly events: Omit<EventQueue, 'shift' | 'skipUnwanted' | 'close'>
  readonly manual: Omit<ManualQueue, 'shift' | 'written' | 'close'>
  readonly #events: EventQueue
  readonly #manual: ManualQueue
  readonly #lease: LaneLease
  #state: LaneState = 'held'
  /** `queued`: waits for a slot. */
  #activity: 'none' | 'queued' | 'posting' = 'none'
  /** Null while it has something to do. */
  #idleSince: number | null = null
  #siblings: number
  /** Number of failed attempts at the first event. */
  #failures: number
  /** Whether an attempt has failed since the receiver last accepted an event. */
  #failing: boolean
  #error: string | null
  #retryAt: Date | null

  constructor(row: LeasedLane, { keys, format }: Opened, connection: Connection, leasedUntil: number) {
    this.id = row.id
    this.workspaceId = row.workspace_id
    this.agentId = row.agent_id
    this.url = row.url
    this.keys = keys
    this.format = format
    this.connection = connection
    this.policy = policyOf(row)
    this.events = this.#events = new EventQueue(row, this.policy)
    this.manual = this.#manual = new ManualQueue(row)
    this.#lease = new LaneLease(row, leasedUntil)
    this.#siblings = row.siblings
    this.#failures = row.attempts
    this.#failing = row.failing_since !== null
    this.#error = row.error
    this.#retryAt = row.retry_at
  }

  get state(): LaneState {
    return this.#state
  }

  get isHeld(): boolean {
    return this.#state === 'held'
  }

  get isPosting(): boolean {
    return this.#activity === 'posting'
  }

  /** Whether the lane waits for a slot or is posting. */
  get isBusy(): boolean {
    return this.#activity !== 'none'
  }

  /** Whether the lane is held without anything to post or read. */
  get isIdle(): boolean {
    const { isReading, isBehind, size } = this.#events
    return this.isHeld && !this.isBusy && !isReading && !isBehind && size === 0 && this.#manual.isEmpty
  }

  get idleSince(): number {
    return this.#idleSince ?? performance.now()
  }

  /** Number of webhooks of the agent. */
  get siblings(): number {
    return this.#siblings
  }

  get failures(): number {
    return this.#failures
  }

  get error(): string | null {
    return this.#error
  }

  get retryAt(): Date | null {
    return this.#retryAt
  }

  get isRetrying(): boolean {
    return this.#failures > 0
  }

  /** Returns whether the first event is not due yet. Meanwhile a lane is held only for manual deliveries. */
  awaitsRetry(clock: Clock): boolean {
    return this.#retryAt !== null && this.#retryAt > clock.now()
  }

  /** Time when the row was last read, on the clock of `performance.now()`. */
  get checkedAt(): number {
    return this.#lease.checkedAt
  }

  /** Returns whether the lease lasts for `ms` more milliseconds. */
  isLeasedFor(ms: number): boolean {
    return this.#lease.covers(ms)
  }

  /** Returns whether to release the lane now: its row has changed, or its subscription has ended. */
  mustRelease(clock: Clock): boolean {
    return !this.isPosting && (this.#lease.hasRowChanged || this.policy.hasEnded(clock.now()))
  }

  /**
   * Records that the lease had expired and was acquired again. If another worker had it meanwhile, the
   * revision has changed, and what was read here is outdated.
   */
  leasedAgain(row: LeasedLane, until: number): void {
    this.#lease.retaken(until)
    this.#events.markStale()
    this.#compare(row)
  }

  /** Records a row read at `at`; its lease was renewed for `ms` milliseconds unless the row was locked. */
  renewed(row: Renewed, at: number, ms: number): void {
    if (row.renewed) this.#lease.renewed(at, at + ms)
    this.#siblings = row.siblings
    this.#compare(row)
  }

  #compare(row: Pick<LeasedLane, 'revision' | 'secret' | 'format' | 'asked'>): void {
    if (!this.#lease.matches(row)) this.rowChanged()
    this.#manual.compare(row.asked)
  }

  /** Records that the row's secret, format or position changed: the lane must be released and leased again. */
  rowChanged(): void {
    this.#lease.rowChanged()
    this.#events.markStale()
  }

  siblingAdded(): void {
    this.#siblings++
  }

  /** Stops work on the lane. The worker that leases it next reads its events again. */
  release(): void {
    if (this.isHeld) this.#leave('leaving')
  }

  /** Stops work on a lane that another worker holds or that was deleted. */
  lose(): void {
    this.#leave('lost')
  }

  #leave(state: 'leaving' | 'lost'): void {
    if (!this.#manual.isEmpty) this.#events.markStale()
    this.#state = state
    this.#events.close()
    this.#manual.close()
  }

  /** Records that a manual delivery was requested. */
  manualRequested(): void {
    this.#manual.markStale()
    if (!this.isHeld) this.#events.markStale()
  }

  /** Records that the lane waits for a slot. */
  queue(): void {
    this.#activity = 'queued'
    this.#idleSince = null
  }

  dequeue(): void {
    this.#activity = 'none'
  }

  /** Records that a POST begins. */
  attempting(): void {
    this.#activity = 'posting'
  }

  attempted(): void {
    this.#activity = 'none'
  }

  /** Records that there is nothing to post for now. Returns whether there is progress to write. */
  idle(): boolean {
    const hasMoved = !this.#events.isBehind && this.#events.skipUnwanted()
    if (hasMoved) this.#idleSince = null
    // Not anew at each call: a renewal of its lease, as often as a lane may be idle, would keep it for ever.
    this.#idleSince ??= performance.now()
    return hasMoved || this.#manual.hasUnwritten
  }

  /**
   * Moves to the next event after the receiver accepted the first one, or found it too large. Returns whether
   * that ended a series of failures.
   */
  completed(): boolean {
    const wasFailing = this.#failing
    this.#failing = false
    this.#error = null
    this.#shift()
    return wasFailing
  }

  /** Records that the first event failed; it is retried at `retryAt`, or given up when that is null. */
  failed(error: string, retryAt: Date | null): void {
    const { givenUp } = this.policy
    this.#failures++
    this.#failing = true
    this.#error = this.#error?.startsWith(givenUp) ? `${givenUp}: ${error}` : error
    this.#retryAt = retryAt
  }

  /** Gives up the first event. The error says so until the receiver accepts an event. */
  gaveUp(): void {
    const { givenUp } = this.policy
    if (!this.#error?.startsWith(givenUp)) this.#error = this.#error ? `${givenUp}: ${this.#error}` : givenUp
    this.#shift()
  }

  #shift(): void {
    this.#events.shift()
    this.#failures = 0
    this.#retryAt = null
  }

  /** Removes the first manual delivery, which was attempted. Its result does not affect the events. */
  manualFinished(): void {
    this.#manual.shift()
  }

  /** Returns the progress to write now. For a lane that is leaving, every write releases the lease. */
  progress(change: Partial<Progress> = {}): Progress {
    return {
      lane: this.id,
      agentId: this.agentId,
      workspaceId: this.workspaceId,
      position: this.#events.position,
      attempts: this.#failures,
      error: this.#error,
      retryAt: this.#retryAt,
      lastDeliveredAt: null,
      release: this.#state === 'leaving',
      revision: this.#lease.revision,
      answered: this.#manual.finished,
      ...change,
    }
  }

  /** Records that progress was written, which renewed the lease until `leasedUntil`. */
  progressWritten({ answered }: Progress, leasedUntil: number): void {
    this.#manual.written(answered)
    this.#lease.written(leasedUntil)
  }

  /**
   * Records that a write of progress did not find the lease. Returns whether the write before also did not.
   */
  progressMissed(): boolean {
    return this.#lease.missed()
  }
}
