import { type FindAnswer, type Key, MAX_KEYS } from '../core/cell.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { withResolvers } from '../core/with-resolvers.ts'
import type { Cell } from './cells.ts'

/** An installation that has what was asked for, and the workspace; null if it belongs to none. */
export interface Place {
  readonly cell: Cell
  readonly workspaceId: string | null
  /** Whether the workspace moves to another installation, which may have it by now. */
  readonly isLeaving: boolean
}

export interface DirectoryLimits {
  /** Time in milliseconds for which a front believes that an installation has something. It asks again when that says otherwise. */
  foundMs: number
  /** The same of what no installation has, or one whose workspace moves. */
  missingMs: number
  /** Number of answers of installations that a front keeps. */
  kept: number
  /** Number of keys that wait to be asked for; then requests get 503. */
  waiting: number
  /** Number of questions to each installation at a time. */
  questions: number
}

/** @limit Fronts */
export const DIRECTORY_LIMITS: DirectoryLimits = {
  foundMs: 60_000,
  missingMs: 2_000,
  kept: 100_000,
  waiting: 10_000,
  questions: 8,
}

interface Known {
  readonly places: readonly Place[]
  readonly until: number
}

/** A key that is being asked for. */
interface Sought {
  readonly key: Key
  readonly places: Place[]
  /** Resolves with where it is, or what is missing to say so. */
  readonly answer: Promise<readonly Place[]>
  settle(places: readonly Place[]): void
  fail(error: AppError): void
}

const unavailable = () =>
  new AppError('unavailable', 'A part of the service does not answer. Try again shortly.', { retryAfter: 2 })

/** One person can be a member in several installations; everything else is in one. */
const isInSeveral = (key: Key): boolean => key.startsWith('member:')

/**
 * Knows which installation has what, by asking all of them: what is asked for at the same time is one question, and
 * answers are kept for a while.
 */
export class Directory {
  readonly #cells: readonly Cell[]
  readonly #clock: Clock
  readonly #limits: DirectoryLimits
  /** The longest unused first. */
  readonly #known = new Map<Key, Known>()
  readonly #sought = new Map<Key, Sought>()
  #waiting: Sought[] = []
  #asking = 0

  constructor(cells: readonly Cell[], clock: Clock, limits: DirectoryLimits = DIRECTORY_LIMITS) {
    this.#cells = cells
    this.#clock = clock
    this.#limits = limits
  }

  /** The installation for what belongs to none. */
  get first(): Cell {
    return this.#cells[0]!
  }

  /**
   * Returns the installations that have it, in the order of the settings; none if no installation has. Throws
   * `unavailable` when one that does not answer may have it.
   */
  find(key: Key): Promise<readonly Place[]> {
    const known = this.#known.get(key)
    if (known && known.until > this.#clock.now().getTime()) {
      this.#known.delete(key)
      this.#known.set(key, known)
      return Promise.resolve(known.places)
    }
    const sought = this.#sought.get(key) ?? this.#seek(key)
    return sought ? sought.answer : Promise.reject(unavailable())
  }

  /** Asks again next time: an installation says that it does not have it any more. */
  forget(key: Key): void {
    this.#known.delete(key)
  }

  #seek(key: Key): Sought | null {
    if (this.#waiting.length >= this.#limits.waiting) return null
    const { promise, resolve, reject } = withResolvers<readonly Place[]>()
    promise.catch(() => undefined) // whoever asked may be gone
    const sought: Sought = { key, places: [], answer: promise, settle: resolve, fail: reject }
    this.#sought.set(key, sought)
    if (this.#waiting.push(sought) === 1) setImmediate(() => this.#askNext())
    return sought
  }

  #askNext(): void {
    while (this.#waiting.length > 0 && this.#asking < this.#limits.questions) {
      const together = this.#waiting.splice(0, MAX_KEYS)
      this.#asking++
      void this.#ask(together).finally(() => {
        this.#asking--
        this.#askNext()
      })
    }
  }

  async #ask(together: readonly Sought[]): Promise<void> {
    const keys = together.map(({ key }) => key)
    const answers = await Promise.all(
      this.#cells.map(async (cell) => {
        const answer = await cell.find(keys)
        if (answer) this.#note(cell, together, answer)
        return answer !== null
      }),
    )
    for (const sought of together) this.#conclude(sought, answers.every(Boolean))
  }

  /** What can be in one installation only is known once that one has answered, however long others take. */
  #note(cell: Cell, together: readonly Sought[], { found, leaving = [] }: FindAnswer): void {
    for (const sought of together) {
      const workspaceId = found[sought.key]
      if (workspaceId === undefined) continue
      const isLeaving = leaving.includes(sought.key)
      sought.places.push({ cell, workspaceId, isLeaving })
      if (!isLeaving && !isInSeveral(sought.key)) this.#conclude(sought, true)
    }
  }

  #conclude(sought: Sought, isComplete: boolean): void {
    const { key, places } = sought
    if (this.#sought.get(key) !== sought) return
    this.#sought.delete(key)
    if (places.length === 0 && !isComplete) {
      sought.fail(unavailable())
      return
    }
    const rank = ({ cell, isLeaving }: Place) =>
      this.#cells.indexOf(cell) + (isLeaving ? this.#cells.length : 0)
    const found = places.toSorted((a, b) => rank(a) - rank(b))
    if (isComplete) this.#keep(key, found)
    sought.settle(found)
  }

  #keep(key: Key, places: readonly Place[]): void {
    const { foundMs, missingMs, kept } = this.#limits
    const isSettled = places[0] !== undefined && !places[0].isLeaving
    const until = this.#clock.now().getTime() + (isSettled ? foundMs : missingMs)
    this.#known.delete(key)
    this.#known.set(key, { places, until })
    if (this.#known.size > kept) this.#known.delete(this.#known.keys().next().value!)
  }
}
