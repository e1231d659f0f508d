import type { LoggedEvent } from '../../event/event.ts'

/** Events of one agent that are kept in hand until its lanes are leased; with more, the log is read. */
const IN_HAND = 64

/**
 * What agents have news, and which: the events when they are in hand and without gap, null when only the log
 * knows.
 */
export type Batch = ReadonlyMap<string, readonly LoggedEvent[] | null>

/** News of agents whose lanes are to be leased. */
export class AgentsWithEvents {
  readonly #byAgent = new Map<string, LoggedEvent[] | null>()

  /** How many agents have news. */
  get size(): number {
    return this.#byAgent.size
  }

  add(agentId: string, event: LoggedEvent | null): void {
    const known = this.#byAgent.get(agentId)
    const continues =
      event && known !== null && (!known || (known.length < IN_HAND && known.at(-1)!.id + 1 === event.id))
    if (!continues) this.#byAgent.set(agentId, null)
    else if (known) known.push(event)
    else this.#byAgent.set(agentId, [event])
  }

  /** Takes those of the agents that have waited the longest, `most` at most. */
  take(most: number): Batch {
    const batch = new Map([...this.#byAgent].slice(0, most))
    for (const agentId of batch.keys()) this.#byAgent.delete(agentId)
    return batch
  }

  /** They could not be seen to. */
  putBack(batch: Batch): void {
    for (const agentId of batch.keys()) this.#byAgent.set(agentId, null)
  }
}
