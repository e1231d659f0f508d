/** What waits for a slot. A suspect failed the last time: it is likely to hold its slot until the timeout. */
export interface Waiter {
  readonly workspaceId: string
  readonly suspect: boolean
}

/** Waiters by workspace. Whose turn it is goes round the workspaces, so that one with a thousand lanes gets no more than one with one. */
class Ring<T extends Waiter> {
  readonly #queues = new Map<string, T[]>()

  add(waiter: T): void {
    const queue = this.#queues.get(waiter.workspaceId)
    if (queue) queue.push(waiter)
    else this.#queues.set(waiter.workspaceId, [waiter])
  }

  next(): T | undefined {
    const first = this.#queues.entries().next().value
    if (!first) return undefined
    const [workspaceId, queue] = first
    const waiter = queue.shift()
    this.#queues.delete(workspaceId)
    if (queue.length > 0) this.#queues.set(workspaceId, queue) // behind the others
    return waiter
  }
}

/**
 * Hands a bounded number of slots to waiters, fairly between workspaces. Suspects get an eighth of them before all others, so that they
 * are tried at all under load, and at most half, so that any number of dead receivers leaves room for the living.
 */
export class Slots<T extends Waiter> {
  readonly #size: number
  readonly #run: (waiter: T) => void
  readonly #sound = new Ring<T>()
  readonly #suspect = new Ring<T>()
  #taken = 0
  #suspects = 0

  constructor(size: number, run: (waiter: T) => void) {
    this.#size = size
    this.#run = run
  }

  get taken(): number {
    return this.#taken
  }

  /** Asks for a slot; `run` is called with the waiter when it has one. */
  ask(waiter: T): void {
    if (waiter.suspect) this.#suspect.add(waiter)
    else this.#sound.add(waiter)
    this.#hand()
  }

  /** Gives a slot back. `suspect` as it was when the slot was taken. */
  free(suspect: boolean): void {
    this.#taken--
    if (suspect) this.#suspects--
    this.#hand()
  }

  #hand(): void {
    while (this.#taken < this.#size) {
      const waiter = this.#next()
      if (!waiter) return
      this.#taken++
      if (waiter.suspect) this.#suspects++
      this.#run(waiter)
    }
  }

  #next(): T | undefined {
    const early = this.#suspects < this.#size / 8 ? this.#suspect.next() : undefined
    return early ?? this.#sound.next() ?? (this.#suspects < this.#size / 2 ? this.#suspect.next() : undefined)
  }
}
