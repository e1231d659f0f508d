import type { LoggedEvent, PayloadEvent } from '../../../event/index.ts'
import { gapJob, hasNoJob, isDue, jobOf, type LaneJob } from './lane-job.ts'
import type { LeasedLane } from './lease.ts'
import type { Policy } from './policy.ts'
import { FIRST_READ, type PendingDelivery, type Read, type ReadRequest } from './read-ahead.ts'

const MAX_READ = 256

/** While this many jobs are queued, further events stay in the log until they are read from it. */
const MAX_QUEUED = 1024

/**
 * Time in milliseconds after a webhook was added in which events are read from the log: a statement that began before does
 * not see the webhook, and its event has no job until a read adds it. An event is dated before its statement, and by the
 * clock of another machine.
 */
const MAY_MISS_MS = 10_000

/** A lane's events: its position, the jobs that were read ahead, and how much of the log is known. */
export class EventQueue {
  readonly #lane: string
  readonly #agentId: string
  readonly #policy: Policy
  readonly #addedAt: number
  #position: number
  #readTo: number
  #lastId: number
  /** Whether the log may have events after `#lastId`. */
  #stale = false
  #reading = false
  #closed = false
  #readLimit = FIRST_READ
  #jobs: LaneJob[] = []
  #next = 0

  constructor(row: LeasedLane, policy: Policy) {
    this.#lane = row.id
    this.#agentId = row.agent_id
    this.#policy = policy
    this.#addedAt = row.added_at.getTime()
    this.#position = row.position
    this.#readTo = row.position
    this.#lastId = row.last_id
  }

  /** The last event that is finished, like all events before it. */
  get position(): number {
    return this.#position
  }

  /** The newest event in the log that is known. */
  get lastId(): number {
    return this.#lastId
  }

  get isReading(): boolean {
    return this.#reading
  }

  get isStale(): boolean {
    return this.#stale
  }

  get first(): LaneJob | undefined {
    return this.#jobs[this.#next]
  }

  /** Number of jobs that are ready. */
  get size(): number {
    return this.#jobs.length - this.#next
  }

  /** Whether the log has, or may have, events that were not read. */
  get isBehind(): boolean {
    return this.#stale || this.#readTo < this.#lastId
  }

  /** Whether to read more now, before the last jobs are delivered. */
  get runsLow(): boolean {
    return this.isBehind && this.size <= this.#readLimit >> 2
  }

  /** Records that the log may have new events, so that it is read. */
  markStale(): void {
    this.#stale = true
  }

  /**
   * Receives a committed event, or null when the new events are only in the log. The event is queued without
   * a read when it directly follows the last one read. A `url` event is always read: its text is in the job,
   * and there is no job when it is not for this webhook.
   */
  announce(event: LoggedEvent | null): void {
    if (event && event.id <= this.#readTo) return
    if (!this.#continues(event) || this.#closed || this.#reading || this.#stale || this.size >= MAX_QUEUED) {
      this.#stale = true
      return
    }
    if (this.#policy.wants(event)) this.#push(event as PayloadEvent)
    this.#readTo = event.id
    this.#lastId = Math.max(this.#lastId, event.id)
  }

  /** Whether an event directly follows the last one read, and is all that a read would find. */
  #continues(event: LoggedEvent | null): event is LoggedEvent {
    return (
      event?.agentName !== undefined &&
      event.id === this.#readTo + 1 &&
      event.channel !== 'url' &&
      event.createdAt.getTime() > this.#addedAt + MAY_MISS_MS
    )
  }

  #push(event: PayloadEvent): void {
    this.#jobs.push({ seq: event.id, event, attempts: 0, payload: null, since: event.createdAt })
  }

  /** Records that the log reaches `lastId`. Returns whether that is new. */
  logGrewTo(lastId: number): boolean {
    if (lastId <= this.#lastId) return false
    this.#lastId = lastId
    return true
  }

  /** Returns what to read next. Events that are announced during the read need another read. */
  beginReading(): ReadRequest {
    this.#reading = true
    this.#stale = false
    return { lane: this.#lane, agentId: this.#agentId, after: this.#readTo, limit: this.#readLimit }
  }

  readFailed(): void {
    this.#reading = false
    this.#stale = true
  }

  /**
   * Queues what a read of at most `limit` events returned. Skips jobs that are already finished, and `url`
   * events that are not for this webhook.
   */
  endReading({ lastId, horizon, jobs }: Read, limit: number, now: Date): void {
    this.#reading = false
    if (this.#closed) return
    if (this.#next > 0) {
      this.#jobs = this.#jobs.slice(this.#next)
      this.#next = 0
    }
    if (this.#policy.kind === 'mcp' && horizon > this.#readTo) this.#jobs.push(gapJob(horizon, now))
    for (const row of jobs)
      if (isDue(row) && this.#policy.wants(row)) this.#jobs.push(jobOf(this.#agentId, row))
    this.#lastId = Math.max(this.#lastId, lastId)
    // A short read reached the end of the log: no other events up to `lastId` exist or will be added.
    this.#readTo = Math.max(this.#readTo, jobs.length < limit ? lastId : 0, jobs.at(-1)?.seq ?? 0)
    if (jobs.length === limit) this.#readLimit = Math.min(this.#readLimit * 2, MAX_READ)
  }

  /** Whether an event is for this webhook and has no job. */
  misses(row: PendingDelivery): boolean {
    return hasNoJob(row) && this.#policy.wants(row)
  }

  /** Removes the first job, which is finished, and moves the position to it. */
  shift(): void {
    this.#position = this.first!.seq
    this.#next++
    if (this.#next === this.#jobs.length) this.#clear()
    this.skipUnwanted()
  }

  /** Moves the position past events that were read but are not for this webhook. Returns whether it moved. */
  skipUnwanted(): boolean {
    if (this.size > 0 || this.#position >= this.#readTo) return false
    this.#position = this.#readTo
    return true
  }

  /** Drops the jobs that were read: the lane's next holder reads them again. */
  close(): void {
    this.#closed = true
    this.#clear()
  }

  #clear(): void {
    this.#jobs = []
    this.#next = 0
  }
}
