import type { Notifier } from '../../db/notify.ts'
import { CODES_STORED } from './queue.ts'

/** Wakes those that wait for codes of an agent, in this process, when some were stored by any. Nothing is polled meanwhile. */
export class CodeNews {
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(notifier: Pick<Notifier, 'subscribe' | 'onReconnect'>) {
    notifier.subscribe(CODES_STORED, (agentId) => this.#wake(agentId))
    // Some may have been missed.
    notifier.onReconnect(() => {
      for (const agentId of [...this.#waiting.keys()]) this.#wake(agentId)
    })
  }

  /** Listens until `stop` is called. `heard` resolves at the next news, and at once if there were some since it was last called. */
  listen(agentId: string): { heard(): Promise<void>; stop(): void } {
    let unheard = false
    let tell: (() => void) | null = null
    const wake = () => {
      if (tell) tell()
      else unheard = true
      tell = null
    }
    this.#waiting.set(agentId, (this.#waiting.get(agentId) ?? new Set()).add(wake))
    return {
      heard: () => {
        if (!unheard) return new Promise((resolve) => (tell = resolve))
        unheard = false
        return Promise.resolve()
      },
      stop: () => this.#leave(agentId, wake),
    }
  }

  #wake(agentId: string): void {
    for (const wake of [...(this.#waiting.get(agentId) ?? [])]) wake()
  }

  #leave(agentId: string, wake: () => void): void {
    const others = this.#waiting.get(agentId)
    others?.delete(wake)
    if (others?.size === 0) this.#waiting.delete(agentId)
  }
}
