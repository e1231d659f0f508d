import type { Lane } from './lane/lane.ts'

const NONE: ReadonlySet<Lane> = new Set()

/** The lanes that a worker has leased. */
export class LaneRegistry {
  readonly #lanes = new Map<string, Lane>()
  readonly #byAgent = new Map<string, Set<Lane>>()

  get size(): number {
    return this.#lanes.size
  }

  [Symbol.iterator](): Iterator<Lane> {
    return this.#lanes.values()
  }

  get(id: string): Lane | undefined {
    return this.#lanes.get(id)
  }

  ofAgent(agentId: string): ReadonlySet<Lane> {
    return this.#byAgent.get(agentId) ?? NONE
  }

  add(lane: Lane): void {
    this.#lanes.set(lane.id, lane)
    this.#byAgent.set(lane.agentId, (this.#byAgent.get(lane.agentId) ?? new Set()).add(lane))
  }

  delete(lane: Lane): void {
    if (this.#lanes.get(lane.id) === lane) this.#lanes.delete(lane.id)
    const group = this.#byAgent.get(lane.agentId)
    group?.delete(lane)
    if (group?.size === 0) this.#byAgent.delete(lane.agentId)
  }
}
