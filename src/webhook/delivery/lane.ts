import type { Clock } from '../../core/clock.ts'
import type { Connection } from '../../outgoing-http/dial.ts'
import type { SigningKeys } from '../secret.ts'
import { EventQueue } from './event-queue.ts'
import { LaneLease } from './lane-lease.ts'
import type { LeasedLane, Renewed } from './lease.ts'
import { ManualQueue } from './manual-queue.ts'
import { type Policy, policyOf } from './policy.ts'
import type { Progress } from './progress.ts'
import type { Waiter } from './slots.ts'

/**
 * `held`: this worker's. `leaving`: its lease is being given back. `lost`: another worker's, or deleted. Only
 * a held lane posts, and none becomes held again.
 */
export type LaneState = 'held' | 'leaving' | 'lost'

/**
 * A webhook that this worker has leased. While it is held, events are announced and read, and one at a time
 * is posted: `queue`, `dequeue`, `attempting`, `attempted`, then what came of it (`completed`, `failed`,
 * `gaveUp`, `manualFinished`). Without anything to post it is `idle`. In the end it is `release`d or `lose`d.
 */
export class Lane implements Waiter {
  readonly id: string
  readonly workspaceId: string
  readonly agentId: string
  readonly url: string
  /** Null when the secret could not be opened. */
  readonly keys: SigningKeys | null
  readonly connection: Connection
  readonly policy: Policy
  /** What it has to deliver. Only the lane itself moves on in it. */
  readonly events: Omit<EventQueue, 'shift' | 'skipUnwanted' | 'close'>
  readonly manual: Omit<ManualQueue, 'shift' | 'written' | 'close'>
  readonly #events: EventQueue
  readonly #manual: ManualQueue
  readonly #lease: LaneLease
  #state: LaneState = 'held'
  /** `queued`: waits for a slot. */
  #activity: 'none' | 'queued' | 'posting' = 'none'
  #idleSince = performance.now()
  #siblings: number
  /** How often its first event has failed. */
  #failures: number
  /** Whether it has failed since it last took an event. */
  #failing: boolean
  #error: string | null
  #retryAt: Date | null

  constructor(row: LeasedLane, keys: SigningKeys | null, connection: Connection, leasedUntil: number) {
    this.id = row.id
    this.workspaceId = row.workspace_id
    this.agentId = row.agent_id
    this.url = row.url
    this.keys = keys
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

  /** Whether it waits for a slot or has one. */
  get isBusy(): boolean {
    return this.#activity !== 'none'
  }

  /** Whether it is held for nothing: there is nothing to post, and nothing to read. */
  get isIdle(): boolean {
    const { isReading, isBehind, size } = this.#events
    return this.isHeld && !this.isBusy && !isReading && !isBehind && size === 0 && this.#manual.isEmpty
  }

  get idleSince(): number {
    return this.#idleSince
  }

  /** How many webhooks the agent has. */
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

  /** Whether its first event must still wait. A lane is held meanwhile only for its manual deliveries. */
  awaitsRetry(clock: Clock): boolean {
    return this.#retryAt !== null && this.#retryAt > clock.now()
  }

  /** When its row was last read (`performance.now()`). */
  get checkedAt(): number {
    return this.#lease.checkedAt
  }

  /** Whether its lease lasts for `ms` more milliseconds. */
  isLeasedFor(ms: number): boolean {
    return this.#lease.covers(ms)
  }

  /** Whether it is to be given back now: its row is another one, or its subscription has ended. */
  mustRelease(clock: Clock): boolean {
    return !this.isPosting && (this.#lease.hasRowChanged || this.policy.hasEnded(clock.now()))
  }

  /**
   * Its lease had run out, and was taken again. If others had it meanwhile, its revision is another one, and
   * what was read here is outdated.
   */
  leasedAgain(row: LeasedLane, until: number): void {
    this.#lease.retaken(until)
    this.#events.markStale()
    this.#compare(row)
  }

  /** Its row was read at `at`, and its lease renewed for `ms` milliseconds unless the row was locked. */
  renewed(row: Renewed, at: number, ms: number): void {
    if (row.renewed) this.#lease.renewed(at, at + ms)
    this.#siblings = row.siblings
    this.#compare(row)
  }

  #compare(row: Pick<LeasedLane, 'revision' | 'secret' | 'asked'>): void {
    if (!this.#lease.matches(row)) this.rowChanged()
    this.#manual.compare(row.asked)
  }

  /** Its row has another secret or position: it is to be given back and leased anew. */
  rowChanged(): void {
    this.#lease.rowChanged()
    this.#events.markStale()
  }

  siblingAdded(): void {
    this.#siblings++
  }

  /** There is nothing to do for it here any more. Whoever leases it next reads its events again. */
  release(): void {
    if (this.isHeld) this.#leave('leaving')
  }

  /** Another worker has it, or it was deleted. */
  lose(): void {
    this.#leave('lost')
  }

  #leave(state: 'leaving' | 'lost'): void {
    if (!this.#manual.isEmpty) this.#events.markStale()
    this.#state = state
    this.#events.close()
    this.#manual.close()
  }

  /** A manual delivery was requested. */
  manualRequested(): void {
    this.#manual.markStale()
    if (!this.isHeld) this.#events.markStale()
  }

  /** It waits for a slot. */
  queue(): void {
    this.#activity = 'queued'
  }

  dequeue(): void {
    this.#activity = 'none'
  }

  /** A POST to it begins. */
  attempting(): void {
    this.#activity = 'posting'
  }

  attempted(): void {
    this.#activity = 'none'
  }

  /** There is nothing to post for now. Returns whether there is progress to write. */
  idle(): boolean {
    this.#idleSince = performance.now()
    return (!this.#events.isBehind && this.#events.skipUnwanted()) || this.#manual.hasUnwritten
  }

  /**
   * The receiver took the first event, or it is too large for it: the next one's turn. Returns whether that
   * ended a series of failures.
   */
  completed(): boolean {
    const wasFailing = this.#failing
    this.#failing = false
    this.#error = null
    this.#shift()
    return wasFailing
  }

  /** The first event failed; it is due again at `retryAt`, or is to be given up. */
  failed(error: string, retryAt: Date | null): void {
    const { givenUp } = this.policy
    this.#failures++
    this.#failing = true
    this.#error = this.#error?.startsWith(givenUp) ? `${givenUp}: ${error}` : error
    this.#retryAt = retryAt
  }

  /** The first event's time is over. Its error says so until the webhook takes an event again. */
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

  /** The first manual delivery was tried. It says nothing about the events. */
  manualFinished(): void {
    this.#manual.shift()
  }

  /** What to write of it now. A lane that is leaving gives its lease back whatever is written of it. */
  progress(change: Partial<Progress> = {}): Progress {
    return {
      lane: this.id,
      agentId: this.agentId,
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

  /** Its progress was written, which renewed its lease until `leasedUntil`. */
  progressWritten({ answered }: Progress, leasedUntil: number): void {
    this.#manual.written(answered)
    this.#lease.written(leasedUntil)
  }

  /** A write of its progress did not find its lease. Returns whether the write before did not either. */
  progressMissed(): boolean {
    return this.#lease.missed()
  }
}
