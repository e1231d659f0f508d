import { type FindAnswer, type Key, MAX_KEYS } from '../core/cell.ts'
import type { Clock } from '../core/clock.ts'
import type { AppError } from '../core/errors.ts'
import { setNewest } from '../core/newest.ts'
import { withResolvers } from '../core/with-resolvers.ts'
import { type Cell, unavailable } from './cells.ts'

/** An installation that has what was looked up, with its workspace; null for what belongs to none. */
export interface Location {
  readonly cell: Cell
  readonly workspaceId: string | null
  /** Whether the workspace is moving to another installation, which may have it by now. */
  readonly isMoving: boolean
}

export interface DirectoryLimits {
  /** Time in milliseconds for which a front remembers which installation has something, unless that one says that it has it no more. */
  foundMs: number
  /** The same for what no installation has, and for what is moving. */
  missingMs: number
  /** Number of keys whose installation a front remembers. */
  kept: number
  /** Number of keys that wait to be looked up; requests beyond it get 503. */
  waiting: number
  /** Number of lookups at each installation at a time. */
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

interface CachedAnswer {
  readonly locations: readonly Location[]
  readonly until: number
}

/** A key that is being looked up. */
interface PendingLookup {
  readonly key: Key
  readonly locations: Location[]
  readonly answer: Promise<readonly Location[]>
  settle(locations: readonly Location[]): void
  fail(error: AppError): void
}

/** One person can be a member in several installations; everything else is in one. */
const isInSeveral = (key: Key): boolean => key.startsWith('member:')

/**
 * Finds which installation has what, by asking all of them. Keys that are needed at the same time share one lookup, and answers are
 * cached.
 */
export class Directory {
  readonly #cells: readonly Cell[]
  readonly #clock: Clock
  readonly #limits: DirectoryLimits
  /** The least recently used first. */
  readonly #cache = new Map<Key, CachedAnswer>()
  readonly #pending = new Map<Key, PendingLookup>()
  #queue: PendingLookup[] = []
  #asking = 0

  constructor(cells: readonly Cell[], clock: Clock, limits: DirectoryLimits = DIRECTORY_LIMITS) {
    this.#cells = cells
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * Returns the installations that have it, in the order of the settings; none if no installation has. Throws
   * `unavailable` when one that does not answer may have it.
   */
  find(key: Key): Promise<readonly Location[]> {
    const cached = this.#cache.get(key)
    if (cached && cached.until > this.#clock.now().getTime()) {
      this.#cache.delete(key)
      this.#cache.set(key, cached)
      return Promise.resolve(cached.locations)
    }
    const lookup = this.#pending.get(key) ?? this.#lookUp(key)
    return lookup ? lookup.answer : Promise.reject(unavailable())
  }

  /** Drops a cached answer, because the installation says that it has it no more. */
  forget(key: Key): void {
    this.#cache.delete(key)
  }

  #lookUp(key: Key): PendingLookup | null {
    if (this.#queue.length >= this.#limits.waiting) return null
    const { promise, resolve, reject } = withResolvers<readonly Location[]>()
    promise.catch(() => undefined) // the request may be gone by then
    const lookup: PendingLookup = { key, locations: [], answer: promise, settle: resolve, fail: reject }
    this.#pending.set(key, lookup)
    if (this.#queue.push(lookup) === 1) setImmediate(() => this.#askNext())
    return lookup
  }

  #askNext(): void {
    while (this.#queue.length > 0 && this.#asking < this.#limits.questions) {
      const batch = this.#queue.splice(0, MAX_KEYS)
      this.#asking++
      void this.#ask(batch).finally(() => {
        this.#asking--
        this.#askNext()
      })
    }
  }

  async #ask(batch: readonly PendingLookup[]): Promise<void> {
    const keys = batch.map(({ key }) => key)
    const answers = await Promise.all(
      this.#cells.map(async (cell) => {
        const answer = await cell.find(keys)
        if (answer) this.#record(cell, batch, answer)
        return answer !== null
      }),
    )
    for (const lookup of batch) this.#settle(lookup, answers.every(Boolean))
  }

  /** A key that only one installation can have is settled by its answer, however long the others take. */
  #record(cell: Cell, batch: readonly PendingLookup[], { found, moving = [] }: FindAnswer): void {
    for (const lookup of batch) {
      const workspaceId = found[lookup.key]
      if (workspaceId === undefined) continue
      const isMoving = moving.includes(lookup.key)
      lookup.locations.push({ cell, workspaceId, isMoving })
      if (!isMoving && !isInSeveral(lookup.key)) this.#settle(lookup, true)
    }
  }

  #settle(lookup: PendingLookup, isComplete: boolean): void {
    const { key, locations } = lookup
    if (this.#pending.get(key) !== lookup) return
    this.#pending.delete(key)
    if (locations.length === 0 && !isComplete) {
      lookup.fail(unavailable())
      return
    }
    const rank = ({ cell, isMoving }: Location) =>
      this.#cells.indexOf(cell) + (isMoving ? this.#cells.length : 0)
    const found = locations.toSorted((a, b) => rank(a) - rank(b))
    if (isComplete) this.#keep(key, found)
    lookup.settle(found)
  }

  #keep(key: Key, locations: readonly Location[]): void {
    const { foundMs, missingMs, kept } = this.#limits
    const isSettled = locations[0] !== undefined && !locations[0].isMoving
    const until = this.#clock.now().getTime() + (isSettled ? foundMs : missingMs)
    setNewest(this.#cache, key, { locations, until }, kept)
  }
}
