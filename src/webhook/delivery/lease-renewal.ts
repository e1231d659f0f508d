import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { readGrown } from '../../event/index.ts'
import type { Lane } from './lane/lane.ts'
import { type Lease, renewLeases } from './lane/lease.ts'
import type { LaneRegistry } from './lane-registry.ts'

export interface LeaseRenewalDeps extends Db {
  lease: Lease
  log: Logger
  /** Time in milliseconds for which a lane with nothing to do keeps its lease. */
  idleMs: number
  lanes: LaneRegistry
  /** Called for a lane that had nothing to do for that long. */
  release(lane: Lane): void
  /** Called for a lane that this worker no longer holds. */
  lose(lane: Lane): void
  /** Called for a lane whose row was read, or whose log has grown. */
  proceed(lane: Lane): void
}

/**
 * Renews the leases of lanes, releases lanes that have been idle for too long, and finds what no notification
 * announced. It runs in real time, because leases use the database's clock.
 */
export class LeaseRenewal {
  readonly #deps: LeaseRenewalDeps
  #timer: NodeJS.Timeout | undefined
  #renewing = false
  #checkingLogs = false

  constructor(deps: LeaseRenewalDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), Math.min(1000, this.#deps.lease.ms / 5))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const { lanes, lease, idleMs, release } = this.#deps
    const now = performance.now()
    const due: Lane[] = []
    const idle: Lane[] = []
    for (const lane of lanes) {
      if (!lane.isHeld) continue
      if (lane.isIdle && now - lane.idleSince > idleMs) {
        release(lane)
        continue
      }
      if (now - lane.checkedAt > lease.ms / 3) due.push(lane)
      if (lane.isIdle) idle.push(lane)
    }
    if (due.length > 0) void this.#renew(due)
    if (idle.length > 0) void this.#checkLogs(idle)
  }

  /** Finds events of idle lanes that no notification announced: the poll finds only lanes without a lease. */
  async #checkLogs(lanes: Lane[]): Promise<void> {
    if (this.#checkingLogs) return
    this.#checkingLogs = true
    try {
      const known = lanes.map(({ agentId, events }) => ({ agentId, after: events.lastId }))
      const grown = await readGrown(this.#deps, known)
      const lastIds = new Map(grown.map(({ agentId, lastId }) => [agentId, lastId]))
      for (const lane of lanes) {
        if (!lane.isHeld || !lane.events.logGrewTo(lastIds.get(lane.agentId) ?? 0)) continue
        this.#deps.proceed(lane)
      }
    } catch (error) {
      this.#deps.log.warn(
        { error: messageOf(error), lanes: lanes.length },
        'could not check for new events of idle webhooks; retrying',
      )
    } finally {
      this.#checkingLogs = false
    }
  }

  async #renew(due: Lane[]): Promise<void> {
    if (this.#renewing) return
    this.#renewing = true
    const { lanes, lease, log, lose, proceed } = this.#deps
    const from = performance.now()
    try {
      const renewed = await renewLeases(this.#deps, lease, due)
      for (const { id } of due) {
        const lane = lanes.get(id)
        const row = renewed.get(id)
        if (!lane?.isHeld) continue
        if (!row) {
          lose(lane)
          continue
        }
        lane.renewed(row, from, lease.ms)
        proceed(lane)
      }
    } catch (error) {
      log.warn({ error: messageOf(error), lanes: due.length }, 'could not renew webhook leases; retrying')
    } finally {
      this.#renewing = false
    }
  }
}
