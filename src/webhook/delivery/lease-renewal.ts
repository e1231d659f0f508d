import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { readHeads } from '../../event/log.ts'
import type { Lane } from './lane.ts'
import type { LaneReader } from './lane-reader.ts'
import { type Lease, renewLeases } from './lease.ts'

export interface LeaseRenewalDeps extends Db {
  lease: Lease
  log: Logger
  /** How long a lane with nothing to do keeps its lease and its connection, in milliseconds. */
  idleMs: number
  reader: Pick<LaneReader, 'lanes' | 'lane'>
  /** Called for a lane that had nothing to do for that long. */
  rest(lane: Lane): void
  /** Called for a lane that is no longer ours. */
  lose(lane: Lane): void
  /** Called for a lane whose lease goes on. */
  turn(lane: Lane): void
}

/**
 * Renews the leases of what is worked on and gives back what has nothing to do; hears on the way what no
 * notification told of a lane. In real time: the database's clock, by which leases run, is no test's.
 */
export class LeaseRenewal {
  readonly #deps: LeaseRenewalDeps
  #timer: NodeJS.Timeout | undefined
  #renewing = false
  #looking = false

  constructor(deps: LeaseRenewalDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => this.#tend(), Math.min(1000, this.#deps.lease.ms / 5))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #tend(): void {
    const { reader, lease, idleMs, rest } = this.#deps
    const now = performance.now()
    const old: string[] = []
    const idle: Lane[] = []
    for (const lane of reader.lanes) {
      if (lane.state !== 'held') continue
      if (lane.isIdle && now - lane.idleSince > idleMs) rest(lane)
      else if (now - lane.checkedAt > lease.ms / 3) old.push(lane.id)
      if (lane.isIdle) idle.push(lane)
    }
    if (old.length > 0) void this.#renew(old)
    if (idle.length > 0) void this.#look(idle)
  }

  /**
   * The net under the notifications: whether the logs of lanes with nothing to do have grown. The poll sees
   * only lanes that nobody holds.
   */
  async #look(lanes: Lane[]): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const heads = await readHeads(this.#deps, [...new Set(lanes.map(({ agentId }) => agentId))])
      for (const lane of lanes) {
        if (lane.state !== 'held' || !lane.grew(heads.get(lane.agentId) ?? 0)) continue
        this.#deps.turn(lane)
      }
    } catch (error) {
      this.#deps.log.warn(
        { error: messageOf(error), lanes: lanes.length },
        'could not look for events of webhooks',
      )
    } finally {
      this.#looking = false
    }
  }

  async #renew(ids: string[]): Promise<void> {
    if (this.#renewing) return
    this.#renewing = true
    const { reader, lease, log, lose, turn } = this.#deps
    const from = performance.now()
    try {
      const renewed = await renewLeases(this.#deps, lease, ids)
      for (const id of ids) {
        const lane = reader.lane(id)
        const row = renewed.get(id)
        if (lane?.state !== 'held') continue
        if (!row) {
          lose(lane)
          continue
        }
        if (row.renewed) {
          lane.leasedUntil = from + lease.ms
          lane.checkedAt = from
        }
        lane.siblings = row.siblings
        lane.compare(row)
        turn(lane)
      }
    } catch (error) {
      log.warn({ error: messageOf(error), lanes: ids.length }, 'could not renew the leases of webhooks')
    } finally {
      this.#renewing = false
    }
  }
}
