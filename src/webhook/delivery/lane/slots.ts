import { inTime } from '../../../core/clock.ts'

/** Something that waits for a slot. */
export interface Waiter {
  readonly workspaceId: string
  /** Whether its last POST failed: the next one is likely to hold its slot until the timeout. */
  readonly isRetrying: boolean
}

/**
 * A queue of waiters that serves workspaces in turn, so that a workspace with a thousand lanes is not served
 * more often than one with a single lane.
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

/** A slot in use. */
export interface Slot {
  /** Releases the slot. Must be called once. */
  free(): void
}

interface Taken {
  retrying: boolean
  since: number
}

/**
 * Time in milliseconds after which a POST no longer needs its slot. Slots limit the work that POSTs cause,
 * and by then only waiting is left; slow receivers must not delay POSTs to the others.
 */
const MAX_SLOT_MS = 200

/**
 * Grants a limited number of slots to waiters, fairly between workspaces. Waiters that are retrying have
 * priority for an eighth of the slots, so that they are attempted even under load, and get at most half of
 * them, so that any number of failing receivers leaves slots for the others.
 */
export class Slots<T extends Waiter> {
  readonly #size: number
  readonly #run: (waiter: T, slot: Slot) => void
  readonly #first = new Ring<T>()
  readonly #retrying = new Ring<T>()
  /** Slots in use, oldest first. */
  readonly #taken = new Set<Taken>()
  #takenByRetrying = 0
  #underWay = 0
  #granting = false
  #drained: (() => void) | null = null
  #slowTimer: NodeJS.Timeout | null = null

  constructor(size: number, run: (waiter: T, slot: Slot) => void) {
    this.#size = size
    this.#run = run
  }

  /** Number of POSTs in progress, including slow ones that no longer have a slot. */
  get underWay(): number {
    return this.#underWay
  }

  /** Number of POSTs in progress that are slow. */
  get slow(): number {
    return this.#underWay - this.#taken.size
  }

  /** Waits until no POST is in progress, for at most `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    if (this.#underWay === 0) return
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve
    })
    await inTime(drained, ms)
  }

  /** Queues a waiter; `run` is called when it gets a slot. */
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
        if (this.#underWay === 0) this.#drained?.()
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

  /** Sets a timer to release the slots of slow POSTs when the oldest POST becomes slow. */
  #awaitSlow(): void {
    const oldest = this.#taken.values().next().value
    if (this.#slowTimer || !oldest) return
    this.#slowTimer = setTimeout(
      () => {
        // Responses that arrived while this process was busy are handled first.
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
