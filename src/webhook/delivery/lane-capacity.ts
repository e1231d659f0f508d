import type { Lane } from './lane/lane.ts'
import type { LaneRegistry } from './lane-registry.ts'

export interface LaneCapacityDeps {
  /**
   * Maximum number of leased lanes. Lanes that only wait for a slow receiver's response are not counted, up
   * to the same number again.
   */
  maxLanes: number
  lanes: LaneRegistry
  slots: { readonly slow: number }
  /** Releases a lane that has nothing to do. */
  release(lane: Lane): void
}

/**
 * Computes how many more lanes a worker may lease. Idle lanes and failing receivers must not block webhooks
 * that have events: an idle lane is released when its place is needed, a lane whose receiver hangs takes no
 * place, and lanes that are retrying get at most half of the places.
 */
export class LaneCapacity {
  readonly #deps: LaneCapacityDeps

  constructor(deps: LaneCapacityDeps) {
    this.#deps = deps
  }

  /** Number of lanes that may be leased now. */
  get available(): number {
    const { maxLanes, lanes, slots } = this.#deps
    return maxLanes + Math.min(slots.slow, maxLanes) - lanes.size
  }

  /** Number of them that may be retrying. */
  get availableForRetrying(): number {
    let waiting = 0
    for (const lane of this.#deps.lanes) if (lane.isRetrying && !lane.isPosting) waiting++
    return Math.max(0, Math.ceil(this.#deps.maxLanes / 2) - waiting)
  }

  /**
   * Releases idle lanes, longest idle first, until an eighth of the places is available. A place becomes
   * available when the release is written.
   */
  releaseIdle(): void {
    let needed = Math.ceil(this.#deps.maxLanes / 8) - this.available
    if (needed <= 0) return
    const idle: Lane[] = []
    for (const lane of this.#deps.lanes) {
      if (lane.state === 'leaving') needed--
      else if (lane.isIdle) idle.push(lane)
    }
    if (needed <= 0) return
    idle.sort((a, b) => a.idleSince - b.idleSince)
    for (const lane of idle.slice(0, needed)) this.#deps.release(lane)
  }
}
