/** What waits for a slot. */
export interface Waiter {
  readonly workspaceId: string
  /** Whether its last POST failed: the next one is likely to hold its slot until the timeout. */
  readonly isRetrying: boolean
}

/**
 * Waiters by workspace. Workspaces take turns, so that one with a thousand lanes gets no more slots than one
 * with a single lane.
 */
class Ring<T extends Waiter> {
  readonly #queues = new Map<string, T[]>()

  get empty(): boolean {
    return this.#queues.size === 0
  }

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

/** One slot, taken. */
export interface Slot {
  /** Gives it back, once. */
  free(): void
}

interface Taken {
  retrying: boolean
  since: number
}

/**
 * After this many milliseconds a POST needs no slot any more. Slots limit the work that POSTs cost, and that
 * is done by then: the rest is waiting, and slow receivers must not keep the others from being posted to.
 */
const MAX_SLOT_MS = 200

/**
 * Grants a limited number of slots to waiters, fairly between workspaces. Those that are retrying get an
 * eighth of the slots before all others, so that they are tried even under load, and half of them at most, so
 * that any number of failing receivers leaves room for the others.
 */
export class Slots<T extends Waiter> {
  readonly #size: number
  readonly #run: (waiter: T, slot: Slot) => void
  readonly #first = new Ring<T>()
  readonly #retrying = new Ring<T>()
  /** The oldest first. */
  readonly #taken = new Set<Taken>()
  #takenByRetrying = 0
  #underWay = 0
  #granting = false
  #slowTimer: NodeJS.Timeout | null = null

  constructor(size: number, run: (waiter: T, slot: Slot) => void) {
    this.#size = size
    this.#run = run
  }

  /** How many have run and are not finished, including slow ones that no longer have a slot. */
  get underWay(): number {
    return this.#underWay
  }

  /** How many of them are slow. */
  get slow(): number {
    return this.#underWay - this.#taken.size
  }

  /** Queues for a slot; `run` is called with the waiter when it has one. */
  request(waiter: T): void {
    if (waiter.isRetrying) this.#retrying.add(waiter)
    else this.#first.add(waiter)
    this.#grant()
  }

  #grant(): void {
    if (this.#granting) return
    this.#granting = true
    while (this.#taken.size < this.#size) {
      const waiter = this.#next()
      if (!waiter) break
      this.#run(waiter, this.#take(waiter.isRetrying))
    }
    this.#granting = false
    if (!this.#first.empty || !this.#retrying.empty) this.#awaitSlow()
  }

  #take(retrying: boolean): Slot {
    const taken: Taken = { retrying, since: performance.now() }
    this.#taken.add(taken)
    this.#underWay++
    if (retrying) this.#takenByRetrying++
    return {
      free: () => {
        this.#underWay--
        if (this.#return(taken)) this.#grant()
      },
    }
  }

  #return(taken: Taken): boolean {
    if (!this.#taken.delete(taken)) return false
    if (taken.retrying) this.#takenByRetrying--
    return true
  }

  #next(): T | undefined {
    return this.#nextRetrying(this.#size / 8) ?? this.#first.next() ?? this.#nextRetrying(this.#size / 2)
  }

  #nextRetrying(limit: number): T | undefined {
    return this.#takenByRetrying < limit ? this.#retrying.next() : undefined
  }

  /** Takes the slots of slow POSTs when the oldest becomes one. */
  #awaitSlow(): void {
    const oldest = this.#taken.values().next().value
    if (this.#slowTimer || !oldest) return
    this.#slowTimer = setTimeout(
      () => {
        // Responses that came while this process was busy are handled first.
        setImmediate(() => {
          this.#slowTimer = null
          this.#returnSlow()
        })
      },
      Math.max(1, oldest.since + MAX_SLOT_MS - performance.now()),
    )
  }

  #returnSlow(): void {
    const limit = performance.now() - MAX_SLOT_MS
    for (const taken of this.#taken) {
      if (taken.since > limit) break
      this.#return(taken)
    }
    this.#grant()
  }
}
