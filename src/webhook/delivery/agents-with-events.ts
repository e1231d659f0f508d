import type { LoggedEvent } from '../../event/index.ts'

/**
 * Maximum number of events per agent that are kept in memory until its lanes are leased. Beyond it, the
 * events are read from the log.
 */
const MAX_KEPT = 64

/** Agents with new events: the events, if they are known without a gap, or null if they must be read. */
export type AgentBatch = ReadonlyMap<string, readonly LoggedEvent[] | null>

/** Agents that have new events and whose lanes must be leased. */
export class AgentsWithEvents {
  readonly #byAgent = new Map<string, LoggedEvent[] | null>()

  /** Number of agents. */
  get size(): number {
    return this.#byAgent.size
  }

  add(agentId: string, event: LoggedEvent | null): void {
    const known = this.#byAgent.get(agentId)
    const continues =
      event && known !== null && (!known || (known.length < MAX_KEPT && known.at(-1)!.id + 1 === event.id))
    if (!continues) this.#byAgent.set(agentId, null)
    else if (known) known.push(event)
    else this.#byAgent.set(agentId, [event])
  }

  /** Removes and returns at most `limit` agents, those that have waited longest. */
  take(limit: number): AgentBatch {
    const batch = new Map([...this.#byAgent].slice(0, limit))
    for (const agentId of batch.keys()) this.#byAgent.delete(agentId)
    return batch
  }

  /** Adds agents again whose lanes could not all be leased. */
  putBack(batch: AgentBatch): void {
    for (const agentId of batch.keys()) this.#byAgent.set(agentId, null)
  }
}
