import type { Clock } from '../../core/clock.ts'
import type { LoggedEvent, PayloadEvent } from '../../event/event.ts'
import type { Connection } from '../../outgoing-http/dial.ts'
import type { SigningKeys } from '../secret.ts'
import { gapJob, isDue, isMissing, jobOf, type LaneJob, type ManualDelivery } from './lane-job.ts'
import type { LeasedLane } from './lease.ts'
import { type Policy, policyOf } from './policy.ts'
import type { Progress } from './progress.ts'
import type { PendingDelivery, Read, ReadRequest } from './read-ahead.ts'
import type { Waiter } from './slots.ts'

/**
 * `held`: ours to work on. `leaving`: done with, its lease is being given back. `lost`: another worker's, or
 * deleted.
 */
export type LaneState = 'held' | 'leaving' | 'lost'

/**
 * The first read is small, because most lanes have one event to deliver; each full one makes the next larger.
 */
const FIRST_READ = 16
const LARGEST_READ = 256

/** Committed events that it takes without reading; a longer queue stays in the log. */
const IN_HAND = 1024

/**
 * A webhook that this worker has leased: what it delivered, what it has read ahead, and how far it knows the
 * log.
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
  /** How many webhooks the agent has. */
  siblings: number
  state: LaneState = 'held'
  /** Whether a POST is under way; whether it waits for a slot; whether its next jobs are being read. */
  busy = false
  queued = false
  reading = false
  /** Whether there is news that it has not read. */
  stale = false
  /** Whether deliveries were asked for that it has not read; whether they are being read. */
  asks: boolean
  asking = false
  /** Its row changed under it (a new secret, another position): it is to be given back and leased anew. */
  recalled = false
  /** Whether it has failed since it last took an event. */
  failing: boolean
  /** Its event is tried again then; a lane that is held before has something else to do. */
  retryAt: Date | null
  /** How many of the deliveries that were asked for are done with, as the database knows. */
  answeredWritten: number
  readonly revision: number
  readonly #sealed: Buffer
  /** Until when the lease lasts for sure, and when its row was last looked at, by `performance.now()`. */
  leasedUntil: number
  checkedAt = performance.now()
  /** Whether a write of its progress found it lost; the next one decides. */
  doubted = false
  idleSince = performance.now()
  failures: number
  error: string | null
  #position: number
  #readTo: number
  #lastId: number
  #batch = FIRST_READ
  #jobs: LaneJob[] = []
  #next = 0
  #asked: ManualDelivery[] = []
  #askedIds = new Set<string>()
  /** How many asked for were read, and are done with. */
  #askedTo: number
  #answered: number

  constructor(row: LeasedLane, keys: SigningKeys | null, connection: Connection, leasedUntil: number) {
    this.id = row.id
    this.workspaceId = row.workspace_id
    this.agentId = row.agent_id
    this.url = row.url
    this.keys = keys
    this.connection = connection
    this.policy = policyOf(row)
    this.siblings = row.siblings
    this.leasedUntil = leasedUntil
    this.failures = row.attempts
    this.error = row.error
    this.retryAt = row.retry_at
    this.failing = row.failing_since !== null
    this.revision = row.revision
    this.#sealed = row.secret
    this.asks = row.asked > row.answered
    this.answeredWritten = row.answered
    this.#askedTo = row.answered
    this.#answered = row.answered
    this.#position = row.position
    this.#readTo = row.position
    this.#lastId = row.last_id
  }

  /** Hears how its row stands now: whether it changed under it, and what was asked for. */
  compare({ revision, secret, asked }: Pick<LeasedLane, 'revision' | 'secret' | 'asked'>): void {
    if (revision !== this.revision || !secret.equals(this.#sealed)) this.recall()
    if (asked > this.#askedTo) this.asks = true
  }

  /** Whether its event must still wait. */
  restsAt(clock: Clock): boolean {
    return this.retryAt !== null && this.retryAt > clock.now()
  }

  /** Its row changed under it. */
  recall(): void {
    this.recalled = true
    this.stale = true
  }

  /** A delivery was asked for. */
  hearAsked(): void {
    this.asks = true
    if (this.state !== 'held') this.stale = true
  }

  get suspect(): boolean {
    return this.failures > 0
  }

  /** How many jobs are ready. */
  get waiting(): number {
    return this.#jobs.length - this.#next
  }

  /** Whether the log has more than was read. */
  get behind(): boolean {
    return this.stale || this.#readTo < this.#lastId
  }

  /** Whether to read on now, before the last jobs are delivered. */
  get runsLow(): boolean {
    return this.behind && this.waiting <= this.#batch >> 2
  }

  get head(): LaneJob | undefined {
    return this.#jobs[this.#next]
  }

  /** What to read next. */
  get want(): ReadRequest {
    return { lane: this.id, agentId: this.agentId, after: this.#readTo, most: this.#batch }
  }

  /**
   * Hears of a committed event, or of news that only the log knows. Takes the event without reading it when
   * it is the very next one. A `url` event is always read: its text is in the job, and there is none when
   * this webhook is not to hear it.
   */
  hear(event: LoggedEvent | null): void {
    if (event && event.id <= this.#readTo) return
    const next = event?.agentName !== undefined && event.id === this.#readTo + 1 && event.channel !== 'url'
    if (!next || this.state !== 'held' || this.reading || this.stale || this.waiting >= IN_HAND) {
      this.stale = true
      return
    }
    if (this.policy.wants(event)) this.#take(event as PayloadEvent)
    this.#readTo = event.id
    this.#lastId = Math.max(this.#lastId, event.id)
  }

  #take(event: PayloadEvent): void {
    this.#jobs.push({ seq: event.id, event, attempts: 0, payload: null, since: event.createdAt })
  }

  /** Hears how far the log goes. Returns whether that is news. */
  grew(lastId: number): boolean {
    if (lastId <= this.#lastId) return false
    this.#lastId = lastId
    return true
  }

  /**
   * Takes what was read for `want`. Jobs that are done already, and `url` events that are not for this
   * webhook, are passed over.
   */
  append({ lastId, horizon, jobs }: Read, most: number, now: Date): void {
    if (this.#next > 0) {
      this.#jobs = this.#jobs.slice(this.#next)
      this.#next = 0
    }
    if (this.policy.kind === 'mcp' && horizon > this.#readTo) this.#jobs.push(gapJob(horizon, now))
    for (const row of jobs)
      if (isDue(row) && this.policy.wants(row)) this.#jobs.push(jobOf(this.agentId, row))
    this.#lastId = Math.max(this.#lastId, lastId)
    // A short read saw the end of the log: up to `lastId` there is nothing else, and there never will be.
    this.#readTo = Math.max(this.#readTo, jobs.length < most ? lastId : 0, jobs.at(-1)?.seq ?? 0)
    if (jobs.length === most) this.#batch = Math.min(this.#batch * 2, LARGEST_READ)
  }

  /** Whether it is to hear an event that it has no job for. */
  misses(row: PendingDelivery): boolean {
    return isMissing(row) && this.policy.wants(row)
  }

  /** The next delivery that was asked for. */
  get askedHead(): ManualDelivery | undefined {
    return this.#asked[0]
  }

  /**
   * Takes what was asked for, `upTo` that many in all. What it took before is still pending until its
   * progress is written.
   */
  takeAsked(jobs: readonly ManualDelivery[], upTo: number): void {
    for (const job of jobs) if (!this.#askedIds.has(job.id)) this.#asked.push(job)
    for (const { id } of jobs) this.#askedIds.add(id)
    if (this.#asked.length === 0) this.#answered = Math.max(this.#answered, upTo)
    this.#askedTo = Math.max(this.#askedTo, upTo)
  }

  /** The first one that was asked for is done with. */
  answer(): void {
    this.#asked.shift()
    if (this.#asked.length === 0) this.#answered = this.#askedTo
  }

  /** Whether nothing keeps it from being given back. */
  get isIdle(): boolean {
    const works = this.busy || this.queued || this.reading || this.asking || this.asks
    return !works && this.#asked.length === 0 && !this.behind && this.waiting === 0
  }

  /** The first job is done with, however. */
  advance(): void {
    const job = this.#jobs[this.#next]!
    this.#position = job.seq
    this.#next++
    this.failures = 0
    this.retryAt = null
    if (this.#next === this.#jobs.length) this.#forget()
    this.catchUp()
  }

  /** Moves over what was read and is not for this webhook. Returns whether that moved it. */
  catchUp(): boolean {
    if (this.waiting > 0 || this.#position >= this.#readTo) return false
    this.#position = this.#readTo
    return true
  }

  /** Forgets what it read: somebody will read it again. */
  leave(state: 'leaving' | 'lost'): void {
    if (this.asks || this.asking || this.#asked.length > 0) this.stale = true // somebody is to look again
    this.state = state
    this.#asked = []
    this.#forget()
  }

  #forget(): void {
    this.#jobs = []
    this.#next = 0
  }

  /** Whether its row does not know yet that all that was asked for is done with. */
  get hasAnswered(): boolean {
    return this.#answered > this.answeredWritten
  }

  /** What to write of it now. A lane that is leaving gives its lease back whatever is written of it. */
  progress(change: Partial<Progress> = {}): Progress {
    return {
      lane: this.id,
      position: this.#position,
      attempts: this.failures,
      error: this.error,
      retryAt: this.retryAt,
      lastDeliveredAt: null,
      release: this.state === 'leaving',
      revision: this.revision,
      answered: this.#answered,
      ...change,
    }
  }
}
