import { type Clock, systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { LoggedEvent } from '../../event/event.ts'
import type { Dialler } from '../../outgoing-http/dial.ts'
import type { Keyring } from '../../workspace/keyring.ts'
import { readManualDeliveries } from '../manual-delivery.ts'
import { openKeys } from '../secret.ts'
import { AgentsWithEvents, type Batch } from './agents-with-events.ts'
import { Lane } from './lane.ts'
import { LaneCapacity, type LaneCapacityDeps } from './lane-capacity.ts'
import { manualDeliveryOf } from './lane-job.ts'
import { type Lease, type LeasedLane, leaseOfAgents } from './lease.ts'
import { addJobs, type Read, readAhead } from './read-ahead.ts'

export interface LaneReaderDeps extends Db, Omit<LaneCapacityDeps, 'lanes'> {
  lease: Lease
  clock: Clock
  keyring: Keyring
  dialler: Dialler
  log: Logger
  /** Called for a lane whose situation has changed. */
  turn(lane: Lane): void
}

/** Most agents that one statement asks for, and most jobs that one reads. */
const AGENTS = 500
const JOBS = 8192

/**
 * Least time between two statements that ask for leases: most news is of agents without webhooks, and at
 * thousands of messages a second every one of them would be asked for.
 */
const PACE_MS = 5

const BACKOFF_MS = { first: 50, most: 2000 }
const NONE: ReadonlySet<Lane> = new Set()

/**
 * The lanes that this worker has leased, and what they need from the database: leases for agents with news,
 * and jobs for lanes that ran low. One statement at a time of each, for all lanes that asked meanwhile.
 */
export class LaneReader {
  readonly #deps: LaneReaderDeps
  readonly #room: LaneCapacity
  readonly #lanes = new Map<string, Lane>()
  readonly #byAgent = new Map<string, Set<Lane>>()
  readonly #news = new AgentsWithEvents()
  readonly #hungry = new Set<Lane>()
  readonly #asking = new Set<Lane>()
  readonly #stopping = new AbortController()
  #working: Promise<void> | null = null
  #running = false
  /** When leases were last asked for, and the timer that waits to ask again. */
  #askedAt = 0
  #pacing: NodeJS.Timeout | null = null

  constructor(deps: LaneReaderDeps) {
    this.#deps = deps
    this.#room = new LaneCapacity({ ...deps, lanes: this })
  }

  /** How many lanes it has. */
  get size(): number {
    return this.#lanes.size
  }

  /** How many lanes that failed the last time it may lease now. */
  get roomForSuspects(): number {
    return this.#room.availableForSuspects
  }

  get lanes(): Iterable<Lane> {
    return this.#lanes.values()
  }

  lane(id: string): Lane | undefined {
    return this.#lanes.get(id)
  }

  lanesOf(agentId: string): ReadonlySet<Lane> {
    return this.#byAgent.get(agentId) ?? NONE
  }

  start(): void {
    this.#running = true
  }

  /** Asks for nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#running = false
    this.#stopping.abort()
    if (this.#pacing) clearTimeout(this.#pacing)
    while (this.#working) await this.#working
  }

  /** The agent has news: its free lanes are to be leased. */
  news(agentId: string, event: LoggedEvent | null): void {
    this.#news.add(agentId, event)
    this.#work()
  }

  /** The lane is to read on. */
  want(lane: Lane): void {
    if (lane.reading) return
    this.#hungry.add(lane)
    this.#work()
  }

  /** The lane is to read what was asked for. */
  ask(lane: Lane): void {
    if (lane.asking) return
    this.#asking.add(lane)
    this.#work()
  }

  drop(lane: Lane): void {
    if (this.#lanes.get(lane.id) === lane) this.#lanes.delete(lane.id)
    this.#hungry.delete(lane)
    this.#asking.delete(lane)
    const group = this.#byAgent.get(lane.agentId)
    group?.delete(lane)
    if (group?.size === 0) this.#byAgent.delete(lane.agentId)
  }

  /**
   * Leases what `ask` picks, as much as there is room for, and takes it to work. Returns whether that was all
   * the room.
   */
  async lease(ask: (most: number) => Promise<LeasedLane[]>, inHand?: Batch): Promise<boolean> {
    this.#room.releaseIdle()
    const most = this.#room.available
    if (most <= 0) return true
    const from = performance.now()
    const rows = await ask(most)
    for (const row of rows)
      await this.#adopt(row, from + this.#deps.lease.ms, inHand?.get(row.agent_id) ?? [])
    return rows.length >= most
  }

  async #adopt(row: LeasedLane, leasedUntil: number, events: readonly LoggedEvent[]): Promise<void> {
    const known = this.#lanes.get(row.id)
    if (known) {
      // Its lease had run out. If others had it meanwhile, its revision is another one, and what was read
      // here counts no more.
      known.leasedUntil = leasedUntil
      known.stale = true
      known.compare(row)
      return this.#deps.turn(known)
    }
    const lane = new Lane(
      row,
      await openKeys(this.#deps, row),
      this.#deps.dialler.connectionTo(row.url),
      leasedUntil,
    )
    this.#lanes.set(lane.id, lane)
    this.#byAgent.set(lane.agentId, (this.#byAgent.get(lane.agentId) ?? new Set()).add(lane))
    for (const event of events) lane.hear(event)
    this.#deps.turn(lane)
  }

  get #wanted(): boolean {
    return this.#hungry.size > 0 || this.#asking.size > 0 || this.#newsDue
  }

  get #newsDue(): boolean {
    return this.#news.size > 0 && this.#room.available > 0 && performance.now() - this.#askedAt >= PACE_MS
  }

  #work(): void {
    if (this.#working || !this.#running) return
    if (this.#wanted) {
      this.#working = this.#workOff().finally(() => {
        this.#working = null
        this.#work()
      })
    } else if (this.#news.size > 0) {
      this.#pacing ??= setTimeout(() => {
        this.#pacing = null
        this.#room.releaseIdle()
        this.#work()
      }, PACE_MS)
    }
  }

  async #workOff(): Promise<void> {
    let wait = BACKOFF_MS.first
    while (this.#running && this.#wanted) {
      try {
        if (this.#newsDue) await this.#leaseNews()
        if (this.#hungry.size > 0) await this.#read()
        if (this.#asking.size > 0) await this.#readAsked()
        wait = BACKOFF_MS.first
      } catch (error) {
        this.#deps.log.warn({ error: messageOf(error) }, 'could not read the jobs of webhooks; trying again')
        await systemClock.sleep(wait, this.#stopping.signal)
        wait = Math.min(wait * 2, BACKOFF_MS.most)
      }
    }
  }

  async #leaseNews(): Promise<void> {
    const { lease, clock } = this.#deps
    const batch = this.#news.take(AGENTS)
    try {
      const full = await this.lease(
        (most) => leaseOfAgents(this.#deps, lease, clock.now(), [...batch.keys()], most),
        batch,
      )
      if (full) this.#news.putBack(batch)
    } catch (error) {
      this.#news.putBack(batch)
      throw error
    } finally {
      this.#askedAt = performance.now()
    }
  }

  #takeHungry(): Map<Lane, number> {
    const batch = new Map<Lane, number>()
    let room = JOBS
    for (const lane of this.#hungry) {
      if (room <= 0) break
      this.#hungry.delete(lane)
      if (lane.state !== 'held') continue
      lane.reading = true
      lane.stale = false
      batch.set(lane, lane.want.most)
      room -= lane.want.most
    }
    return batch
  }

  async #read(): Promise<void> {
    const batch = this.#takeHungry()
    if (batch.size === 0) return
    try {
      const reads = await readAhead(
        this.#deps,
        [...batch.keys()].map((lane) => lane.want),
      )
      await this.#addMissing(reads)
      for (const [lane, most] of batch) this.#serve(lane, reads.get(lane.id), most)
    } catch (error) {
      for (const lane of batch.keys()) {
        lane.reading = false
        this.#hungry.add(lane)
      }
      throw error
    }
  }

  async #readAsked(): Promise<void> {
    const lanes = [...this.#asking].filter(({ state }) => state === 'held')
    this.#asking.clear()
    for (const lane of lanes) {
      lane.asking = true
      lane.asks = false
    }
    try {
      const ids = lanes.map(({ id }) => id)
      const reads = await readManualDeliveries(this.#deps, ids)
      for (const lane of lanes) {
        const { jobs, asked } = reads.get(lane.id) ?? { jobs: [], asked: 0 }
        lane.takeAsked(
          jobs.map((row) => manualDeliveryOf(lane.agentId, row)),
          asked,
        )
      }
    } catch (error) {
      for (const lane of lanes) lane.asks = true
      throw error
    } finally {
      for (const lane of lanes) {
        lane.asking = false
        this.#deps.turn(lane)
      }
    }
  }

  #serve(lane: Lane, read: Read | undefined, most: number): void {
    lane.reading = false
    if (lane.state !== 'held') return
    if (read) {
      lane.append(read, most, this.#deps.clock.now())
      this.#deps.turn(lane)
      return
    }
    lane.leave('lost') // with its agent
    this.drop(lane)
  }

  /** A webhook that was added while an event was being stored has no job for it, though it is to hear it. */
  async #addMissing(reads: Map<string, Read>): Promise<void> {
    const missing = []
    for (const [id, { jobs }] of reads) {
      const lane = this.#lanes.get(id)
      for (const job of jobs) {
        if (lane?.misses(job))
          missing.push({ lane: id, agentId: lane.agentId, seq: job.seq, createdAt: job.created_at })
      }
    }
    if (missing.length > 0) await addJobs(this.#deps, missing)
  }
}
