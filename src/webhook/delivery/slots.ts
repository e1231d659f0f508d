/** What waits for a slot. A suspect failed the last time: it is likely to hold its slot until the timeout. */
export interface Waiter {
  readonly workspaceId: string
  readonly suspect: boolean
}

/**
 * Waiters by workspace. Whose turn it is goes round the workspaces, so that one with a thousand lanes gets no
 * more than one with one.
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
  suspect: boolean
  since: number
}

/**
 * After this many milliseconds a POST needs no slot any more. Slots are for the work that one costs, and that
 * is done: whoever takes longer just waits, and a wave of dead receivers must not keep the living waiting
 * until its timeout.
 */
const PATIENCE_MS = 200

/**
 * Hands a bounded number of slots to waiters, fairly between workspaces. Suspects get an eighth of them
 * before all others, so that they are tried at all under load, and at most half, so that any number of dead
 * receivers leaves room for the living.
 */
export class Slots<T extends Waiter> {
  readonly #size: number
  readonly #run: (waiter: T, slot: Slot) => void
  readonly #sound = new Ring<T>()
  readonly #suspect = new Ring<T>()
  /** The oldest first. */
  readonly #taken = new Set<Taken>()
  #suspects = 0
  #underWay = 0
  #handing = false
  #relief: NodeJS.Timeout | null = null

  constructor(size: number, run: (waiter: T, slot: Slot) => void) {
    this.#size = size
    this.#run = run
  }

  /** How many have run and not freed their slot, those that took too long for it included. */
  get underWay(): number {
    return this.#underWay
  }

  /** How many of them took too long for it. */
  get slow(): number {
    return this.#underWay - this.#taken.size
  }

  /** Asks for a slot; `run` is called with the waiter when it has one. */
  ask(waiter: T): void {
    if (waiter.suspect) this.#suspect.add(waiter)
    else this.#sound.add(waiter)
    this.#hand()
  }

  #hand(): void {
    if (this.#handing) return
    this.#handing = true
    while (this.#taken.size < this.#size) {
      const waiter = this.#next()
      if (!waiter) break
      this.#run(waiter, this.#take(waiter.suspect))
    }
    this.#handing = false
    if (!this.#sound.empty || !this.#suspect.empty) this.#watch()
  }

  #take(suspect: boolean): Slot {
    const taken: Taken = { suspect, since: performance.now() }
    this.#taken.add(taken)
    this.#underWay++
    if (suspect) this.#suspects++
    return {
      free: () => {
        this.#underWay--
        if (this.#return(taken)) this.#hand()
      },
    }
  }

  #return(taken: Taken): boolean {
    if (!this.#taken.delete(taken)) return false
    if (taken.suspect) this.#suspects--
    return true
  }

  #next(): T | undefined {
    const early = this.#suspects < this.#size / 8 ? this.#suspect.next() : undefined
    return early ?? this.#sound.next() ?? (this.#suspects < this.#size / 2 ? this.#suspect.next() : undefined)
  }

  /** Somebody waits: looks again when the oldest has had its time. */
  #watch(): void {
    const oldest = this.#taken.values().next().value
    if (this.#relief || !oldest) return
    this.#relief = setTimeout(
      () => {
        // Answers that came while this process was busy are heard first.
        setImmediate(() => {
          this.#relief = null
          this.#relieve()
        })
      },
      Math.max(1, oldest.since + PATIENCE_MS - performance.now()),
    )
  }

  #relieve(): void {
    const limit = performance.now() - PATIENCE_MS
    for (const taken of this.#taken) {
      if (taken.since > limit) break
      this.#return(taken)
    }
    this.#hand()
  }
}
