import type { Notifier } from './notify.ts'

/** Wakes those that wait for news of an agent, in this process, when any process publishes some. Nothing is polled meanwhile. */
export class News {
  readonly #waiting = new Map<string, Set<() => void>>()

  /** `topic` has the agents' ids as its keys. */
  constructor(notifier: Pick<Notifier, 'subscribe' | 'onReconnect'>, topic: string) {
    notifier.subscribe(topic, (agentId) => this.#wake(agentId))
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
