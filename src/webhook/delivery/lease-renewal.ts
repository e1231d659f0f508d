import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { readHeads } from '../../event/log.ts'
import type { Lane } from './lane.ts'
import type { LaneRegistry } from './lane-registry.ts'
import { type Lease, renewLeases } from './lease.ts'

export interface LeaseRenewalDeps extends Db {
  lease: Lease
  log: Logger
  /** How long a lane with nothing to do keeps its lease and its connection, in milliseconds. */
  idleMs: number
  lanes: LaneRegistry
  /** Called for a lane that had nothing to do for that long. */
  release(lane: Lane): void
  /** Called for a lane that is no longer this worker's. */
  lose(lane: Lane): void
  /** Called for a lane whose row was read, or whose log has grown. */
  proceed(lane: Lane): void
}

/**
 * Renews the leases of lanes with something to do, releases idle ones, and finds what no notification
 * announced. It runs in real time, as leases go by the database's clock.
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

  /** Finds events of idle lanes that no notification announced: the poll sees only lanes that nobody holds. */
  async #checkLogs(lanes: Lane[]): Promise<void> {
    if (this.#checkingLogs) return
    this.#checkingLogs = true
    try {
      const heads = await readHeads(this.#deps, [...new Set(lanes.map(({ agentId }) => agentId))])
      for (const lane of lanes) {
        if (!lane.isHeld || !lane.events.logGrewTo(heads.get(lane.agentId) ?? 0)) continue
        this.#deps.proceed(lane)
      }
    } catch (error) {
      this.#deps.log.warn(
        { error: messageOf(error), lanes: lanes.length },
        'could not look for events of webhooks',
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
      log.warn({ error: messageOf(error), lanes: due.length }, 'could not renew the leases of webhooks')
    } finally {
      this.#renewing = false
    }
  }
}
