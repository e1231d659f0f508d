import type { Lane } from './lane.ts'

export interface LaneCapacityDeps {
  /**
   * Most lanes at once, besides those that only wait for a slow receiver's answer: of these, as many again.
   */
  most: number
  lanes: { readonly size: number; readonly lanes: Iterable<Lane> }
  slots: { readonly slow: number }
  /** Gives back a lane that has nothing to do. */
  rest(lane: Lane): void
}

/**
 * How many more lanes a worker may lease. What has nothing to do, and what waits for somebody else, must not
 * keep out those with events: an idle lane gives its place up when it is needed, one whose receiver hangs
 * takes none, and suspects get half of the places at most.
 */
export class LaneCapacity {
  readonly #deps: LaneCapacityDeps

  constructor(deps: LaneCapacityDeps) {
    this.#deps = deps
  }

  /** How many lanes may be leased now. */
  get available(): number {
    const { most, lanes, slots } = this.#deps
    return most + Math.min(slots.slow, most) - lanes.size
  }

  /** How many of them may be suspects. */
  get availableForSuspects(): number {
    let waiting = 0
    for (const lane of this.#deps.lanes.lanes) if (lane.suspect && !lane.busy) waiting++
    return Math.max(0, Math.ceil(this.#deps.most / 2) - waiting)
  }

  /**
   * Lets idle lanes go when an eighth or less is left, the longest idle first. Their places are free once
   * that is written.
   */
  releaseIdle(): void {
    let wanted = Math.ceil(this.#deps.most / 8) - this.available
    if (wanted <= 0) return
    const idle: Lane[] = []
    for (const lane of this.#deps.lanes.lanes) {
      if (lane.state === 'leaving') wanted--
      else if (lane.isIdle) idle.push(lane)
    }
    if (wanted <= 0) return
    for (const lane of idle.sort((a, b) => a.idleSince - b.idleSince).slice(0, wanted)) this.#deps.rest(lane)
  }
}
