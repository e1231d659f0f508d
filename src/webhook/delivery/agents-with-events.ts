import type { LoggedEvent } from '../../event/event.ts'

/** Events of one agent that are kept in memory until its lanes are leased; with more, the log is read. */
const MAX_KEPT = 64

/** Agents with new events: the events, if they are known without a gap, or null if they must be read. */
export type AgentBatch = ReadonlyMap<string, readonly LoggedEvent[] | null>

/** Agents whose lanes are to be leased because they have new events. */
export class AgentsWithEvents {
  readonly #byAgent = new Map<string, LoggedEvent[] | null>()

  /** How many agents. */
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

  /** Takes at most `limit` agents, those that have waited longest. */
  take(limit: number): AgentBatch {
    const batch = new Map([...this.#byAgent].slice(0, limit))
    for (const agentId of batch.keys()) this.#byAgent.delete(agentId)
    return batch
  }

  /** Their lanes could not be leased, or not all of them. */
  putBack(batch: AgentBatch): void {
    for (const agentId of batch.keys()) this.#byAgent.set(agentId, null)
  }
}
