import { type Clock, systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { LoggedEvent } from '../../event/index.ts'
import type { Dialler } from '../../outgoing-http/dial.ts'
import type { Keyring } from '../../workspace/index.ts'
import { openFormat } from '../format/format.ts'
import { readManualDeliveries } from '../manual-delivery.ts'
import { openKeys } from '../secret.ts'
import { type AgentBatch, AgentsWithEvents } from './agents-with-events.ts'
import { Lane } from './lane/lane.ts'
import { manualDeliveryOf } from './lane/lane-job.ts'
import { type Lease, type LeasedLane, leaseOfAgents } from './lane/lease.ts'
import { addJobs, type Read, type ReadRequest, readAhead } from './lane/read-ahead.ts'
import { LaneCapacity, type LaneCapacityDeps } from './lane-capacity.ts'

export interface LaneReaderDeps extends Db, LaneCapacityDeps {
  lease: Lease
  clock: Clock
  keyring: Keyring
  dialler: Dialler
  log: Logger
  /** Called for a lane that was leased, or for which a read has ended. */
  proceed(lane: Lane): void
  /** Called for a lane that was deleted. */
  lose(lane: Lane): void
}

const MAX_AGENTS_PER_LEASE = 500
const MAX_JOBS_PER_READ = 8192

/**
 * Minimum time in milliseconds between two statements that lease lanes. Most events belong to agents without
 * webhooks, and at thousands of messages per second a statement would run for each of them.
 */
const LEASE_INTERVAL_MS = 5

const BACKOFF_MS = { first: 50, max: 2000 }

/**
 * Gets from the database what lanes need: leases for agents with new events, more events for lanes that run
 * low, and manual deliveries. It runs one statement at a time, each for all lanes that need it by then.
 */
export class LaneReader {
  readonly #deps: LaneReaderDeps
  readonly #capacity: LaneCapacity
  readonly #agents = new AgentsWithEvents()
  /** Lanes whose events, and lanes whose manual deliveries, must be read. */
  readonly #lowLanes = new Set<Lane>()
  readonly #manualLanes = new Set<Lane>()
  readonly #stopping = new AbortController()
  /** Number of leases in progress, and the ids of webhooks and tokens that were deleted meanwhile. */
  #leasing = 0
  readonly #deleted = new Set<string>()
  #working: Promise<void> | null = null
  #running = false
  /** Time of the last lease statement, and the timer until the next one may run. */
  #leasedAt = 0
  #leaseTimer: NodeJS.Timeout | null = null

  constructor(deps: LaneReaderDeps) {
    this.#deps = deps
    this.#capacity = new LaneCapacity(deps)
  }

  /** Number of lanes that are retrying that may be leased now. */
  get availableForRetrying(): number {
    return this.#capacity.availableForRetrying
  }

  start(): void {
    this.#running = true
  }

  /** Starts no more statements; resolves when none is in progress. */
  async stop(): Promise<void> {
    this.#running = false
    this.#stopping.abort()
    if (this.#leaseTimer) clearTimeout(this.#leaseTimer)
    while (this.#working) await this.#working
  }

  /** Leases the free lanes of an agent that has a new event; null when the event is only in the log. */
  leaseLanesOf(agentId: string, event: LoggedEvent | null = null): void {
    this.#agents.add(agentId, event)
    this.#work()
  }

  /** Schedules a read of the lane's next events. */
  readEvents(lane: Lane): void {
    if (lane.events.isReading) return
    this.#lowLanes.add(lane)
    this.#work()
  }

  /** Schedules a read of the lane's manual deliveries. */
  readManual(lane: Lane): void {
    if (lane.manual.isReading) return
    this.#manualLanes.add(lane)
    this.#work()
  }

  drop(lane: Lane): void {
    this.#deps.lanes.delete(lane)
    this.#lowLanes.delete(lane)
    this.#manualLanes.delete(lane)
  }

  /**
   * Leases as many lanes as there is capacity for, with the given statement. Returns whether that used up the
   * capacity.
   */
  async lease(pick: (limit: number) => Promise<LeasedLane[]>, batch?: AgentBatch): Promise<boolean> {
    this.#capacity.releaseIdle()
    const limit = this.#capacity.available
    if (limit <= 0) return true
    const from = performance.now()
    this.#leasing++
    try {
      const rows = await pick(limit)
      for (const row of rows) await this.#add(row, from + this.#deps.lease.ms, batch?.get(row.agent_id) ?? [])
      return rows.length >= limit
    } finally {
      if (--this.#leasing === 0) this.#deleted.clear()
    }
  }

  /** Adds no lane of a webhook or token that was deleted after its lanes were leased and before they were added. */
  noteDeleted(id: string): void {
    if (this.#leasing > 0) this.#deleted.add(id)
  }

  async #add(row: LeasedLane, leasedUntil: number, events: readonly LoggedEvent[]): Promise<void> {
    const { lanes, dialler, proceed } = this.#deps
    const known = lanes.get(row.id)
    if (known) {
      known.leasedAgain(row, leasedUntil)
      return proceed(known)
    }
    const keys = await openKeys(this.#deps, row)
    const format = await openFormat(this.#deps, row)
    if ([row.id, row.token_id].some((id) => id !== null && this.#deleted.has(id))) return
    const lane = new Lane(row, { keys, format }, dialler.connectionOf(row.id, row.url), leasedUntil)
    lanes.add(lane)
    if (row.read) this.#takeFirst(lane, row.read)
    for (const event of events) lane.events.announce(event)
    proceed(lane)
  }

  /** Queues the events that were read with the lease. Those that miss a job are read again, which adds it. */
  #takeFirst({ events }: Lane, read: Read): void {
    if (read.jobs.some((job) => events.misses(job))) return
    const { limit } = events.beginReading()
    events.endReading(read, limit, this.#deps.clock.now())
  }

  get #hasWork(): boolean {
    return this.#lowLanes.size > 0 || this.#manualLanes.size > 0 || this.#mayLease
  }

  get #mayLease(): boolean {
    return (
      this.#agents.size > 0 &&
      this.#capacity.available > 0 &&
      performance.now() - this.#leasedAt >= LEASE_INTERVAL_MS
    )
  }

  #work(): void {
    if (this.#working || !this.#running) return
    if (this.#hasWork) {
      this.#working = this.#workOff().finally(() => {
        this.#working = null
        this.#work()
      })
    } else if (this.#agents.size > 0) {
      this.#leaseTimer ??= setTimeout(() => {
        this.#leaseTimer = null
        this.#capacity.releaseIdle()
        this.#work()
      }, LEASE_INTERVAL_MS)
    }
  }

  async #workOff(): Promise<void> {
    let wait = BACKOFF_MS.first
    while (this.#running && this.#hasWork) {
      try {
        if (this.#mayLease) await this.#leaseBatch()
        if (this.#lowLanes.size > 0) await this.#readEventsOfLanes()
        if (this.#manualLanes.size > 0) await this.#readManualOfLanes()
        wait = BACKOFF_MS.first
      } catch (error) {
        this.#deps.log.warn({ error: messageOf(error) }, 'could not read webhook jobs; retrying')
        await systemClock.sleep(wait, this.#stopping.signal)
        wait = Math.min(wait * 2, BACKOFF_MS.max)
      }
    }
  }

  async #leaseBatch(): Promise<void> {
    const { lease, clock } = this.#deps
    const batch = this.#agents.take(MAX_AGENTS_PER_LEASE)
    const agentIds = [...batch.keys()]
    const events = [...batch.values()].includes(null)
    try {
      const full = await this.lease(
        (limit) => leaseOfAgents(this.#deps, { lease, now: clock.now(), agentIds, limit, events }),
        batch,
      )
      if (full) this.#agents.putBack(batch)
    } catch (error) {
      this.#agents.putBack(batch)
      throw error
    } finally {
      this.#leasedAt = performance.now()
    }
  }

  #takeLowLanes(): Map<Lane, ReadRequest> {
    const batch = new Map<Lane, ReadRequest>()
    let available = MAX_JOBS_PER_READ
    for (const lane of this.#lowLanes) {
      if (available <= 0) break
      this.#lowLanes.delete(lane)
      if (!lane.isHeld) continue
      const request = lane.events.beginReading()
      batch.set(lane, request)
      available -= request.limit
    }
    return batch
  }

  async #readEventsOfLanes(): Promise<void> {
    const batch = this.#takeLowLanes()
    if (batch.size === 0) return
    try {
      const reads = await readAhead(this.#deps, [...batch.values()])
      await this.#addMissingJobs(reads)
      for (const [lane, { limit }] of batch) this.#endReading(lane, reads.get(lane.id), limit)
    } catch (error) {
      for (const lane of batch.keys()) {
        lane.events.readFailed()
        this.#lowLanes.add(lane)
      }
      throw error
    }
  }

  #endReading(lane: Lane, read: Read | undefined, limit: number): void {
    const { clock, proceed, lose } = this.#deps
    if (!read) return void (lane.isHeld && lose(lane)) // deleted with its agent
    lane.events.endReading(read, limit, clock.now())
    proceed(lane)
  }

  async #readManualOfLanes(): Promise<void> {
    const lanes = [...this.#manualLanes].filter(({ isHeld }) => isHeld)
    this.#manualLanes.clear()
    for (const lane of lanes) lane.manual.beginReading()
    try {
      const reads = await readManualDeliveries(this.#deps, lanes)
      for (const { id, agentId, manual } of lanes) {
        const { jobs, asked } = reads.get(id) ?? { jobs: [], asked: 0 }
        const deliveries = jobs.map((row) => manualDeliveryOf(agentId, row))
        manual.endReading(deliveries, asked)
      }
    } catch (error) {
      for (const lane of lanes) lane.manual.readFailed()
      throw error
    } finally {
      for (const lane of lanes) this.#deps.proceed(lane)
    }
  }

  /** Adds jobs for events that were being stored while the webhook was added. */
  async #addMissingJobs(reads: Map<string, Read>): Promise<void> {
    const missing = []
    for (const [id, { jobs }] of reads) {
      const lane = this.#deps.lanes.get(id)
      for (const job of jobs) {
        if (lane?.events.misses(job))
          missing.push({ lane: id, agentId: lane.agentId, seq: job.seq, createdAt: job.created_at })
      }
    }
    if (missing.length > 0) await addJobs(this.#deps, missing)
  }
}
