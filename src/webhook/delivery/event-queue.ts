import type { LoggedEvent, PayloadEvent } from '../../event/event.ts'
import { gapJob, hasNoJob, isDue, jobOf, type LaneJob } from './lane-job.ts'
import type { LeasedLane } from './lease.ts'
import type { Policy } from './policy.ts'
import type { PendingDelivery, Read, ReadRequest } from './read-ahead.ts'

/**
 * The first read is small, because most lanes have one event to deliver; each full one makes the next larger.
 */
const FIRST_READ = 16
const MAX_READ = 256

/** Committed events that are queued without reading the log; the rest of a longer queue stays in the log. */
const MAX_QUEUED = 1024

/** A lane's events: how far they were delivered, which were read ahead, and how far the log is known. */
export class EventQueue {
  readonly #lane: string
  readonly #agentId: string
  readonly #policy: Policy
  #position: number
  #readTo: number
  #lastId: number
  /** Whether the log may have more than `#lastId` says. */
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
    this.#position = row.position
    this.#readTo = row.position
    this.#lastId = row.last_id
  }

  /** All events up to it are done with. */
  get position(): number {
    return this.#position
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

  /** How many jobs are ready. */
  get size(): number {
    return this.#jobs.length - this.#next
  }

  /** Whether the log has more than was read. */
  get isBehind(): boolean {
    return this.#stale || this.#readTo < this.#lastId
  }

  /** Whether to read on now, before the last jobs are delivered. */
  get runsLow(): boolean {
    return this.isBehind && this.size <= this.#readLimit >> 2
  }

  /** The log may have more: only a read tells. */
  markStale(): void {
    this.#stale = true
  }

  /**
   * A committed event, or null when only the log knows what is new. The event is queued without a read when
   * it is the very next one. A `url` event is always read: its text is in the job, and there is no job when
   * it is not for this webhook.
   */
  announce(event: LoggedEvent | null): void {
    if (event && event.id <= this.#readTo) return
    const isNext = event?.agentName !== undefined && event.id === this.#readTo + 1 && event.channel !== 'url'
    if (!isNext || this.#closed || this.#reading || this.#stale || this.size >= MAX_QUEUED) {
      this.#stale = true
      return
    }
    if (this.#policy.wants(event)) this.#push(event as PayloadEvent)
    this.#readTo = event.id
    this.#lastId = Math.max(this.#lastId, event.id)
  }

  #push(event: PayloadEvent): void {
    this.#jobs.push({ seq: event.id, event, attempts: 0, payload: null, since: event.createdAt })
  }

  /** The log goes up to `lastId`. Returns whether that was unknown. */
  logGrewTo(lastId: number): boolean {
    if (lastId <= this.#lastId) return false
    this.#lastId = lastId
    return true
  }

  /** Returns what to read next. From here on, whatever is announced needs another read. */
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
   * Queues what a read of at most `limit` events returned. Jobs that are done already, and `url` events that
   * are not for this webhook, are passed over.
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
    // A short read saw the end of the log: up to `lastId` there is nothing else, and there never will be.
    this.#readTo = Math.max(this.#readTo, jobs.length < limit ? lastId : 0, jobs.at(-1)?.seq ?? 0)
    if (jobs.length === limit) this.#readLimit = Math.min(this.#readLimit * 2, MAX_READ)
  }

  /** Whether an event is for this webhook and has no job. */
  misses(row: PendingDelivery): boolean {
    return hasNoJob(row) && this.#policy.wants(row)
  }

  /** The first job is done with. */
  shift(): void {
    this.#position = this.first!.seq
    this.#next++
    if (this.#next === this.#jobs.length) this.#clear()
    this.skipUnwanted()
  }

  /** Moves the position past what was read and is not for this webhook. Returns whether it moved. */
  skipUnwanted(): boolean {
    if (this.size > 0 || this.#position >= this.#readTo) return false
    this.#position = this.#readTo
    return true
  }

  /** Drops what was read: the lane's next holder reads it again. */
  close(): void {
    this.#closed = true
    this.#clear()
  }

  #clear(): void {
    this.#jobs = []
    this.#next = 0
  }
}
