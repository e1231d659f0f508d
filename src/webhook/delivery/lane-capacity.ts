import type { Lane } from './lane.ts'
import type { LaneRegistry } from './lane-registry.ts'

export interface LaneCapacityDeps {
  /** Lanes at once, besides those that only wait for a slow receiver's answer: of these, as many again. */
  maxLanes: number
  lanes: LaneRegistry
  slots: { readonly slow: number }
  /** Gives back a lane that has nothing to do. */
  release(lane: Lane): void
}

/**
 * How many more lanes a worker may lease. Idle lanes and failing receivers must not keep out webhooks with
 * events: an idle lane is released when its place is needed, one whose receiver hangs takes no place, and
 * lanes that are retrying get half of the places at most.
 */
export class LaneCapacity {
  readonly #deps: LaneCapacityDeps

  constructor(deps: LaneCapacityDeps) {
    this.#deps = deps
  }

  /** How many lanes may be leased now. */
  get available(): number {
    const { maxLanes, lanes, slots } = this.#deps
    return maxLanes + Math.min(slots.slow, maxLanes) - lanes.size
  }

  /** How many of them may be retrying. */
  get availableForRetrying(): number {
    let waiting = 0
    for (const lane of this.#deps.lanes) if (lane.isRetrying && !lane.isPosting) waiting++
    return Math.max(0, Math.ceil(this.#deps.maxLanes / 2) - waiting)
  }

  /**
   * Releases idle lanes when an eighth of the places or less is left, the longest idle first. Their places
   * are free once that is written.
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
