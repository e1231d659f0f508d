import type { Db } from '../db/client.ts'
import type { LoggedEvent } from './event.ts'
import { readEvents } from './log.ts'
import type { Texts } from './texts.ts'

const PAGE = 500
/**
 * Maximum number of live events that a follower holds in memory; beyond it, they are read from the log again.
 */
const MAX_PENDING = 1_000

const gathering = new WeakMap<Db['pool'], Map<string, Promise<LoggedEvent[]>>>()

/**
 * Lets many followers that wake up for the same event share one read of the log. The read starts after all of
 * them have requested it: one already in progress could miss events that a follower was notified of since.
 */
const readTogether = (deps: Db, agentId: string, after: number): Promise<LoggedEvent[]> => {
  const reads = gathering.get(deps.pool) ?? new Map<string, Promise<LoggedEvent[]>>()
  gathering.set(deps.pool, reads)
  const key = `${agentId}/${after}`
  const existing = reads.get(key)
  if (existing) return existing
  const read = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    reads.delete(key)
    return readEvents(deps, agentId, after, PAGE)
  })
  reads.set(key, read)
  return read
}

/** A reader of one agent's log, with the live events that it has not yet returned. */
export class Follower {
  readonly #agentId: string
  #pending: LoggedEvent[] = []
  /** Whether the log may contain events that are not in `#pending`. */
  #behind = true
  #closed = false
  #wake: (() => void) | undefined

  constructor(agentId: string) {
    this.#agentId = agentId
  }

  /** Announces an event, or null when only its existence is known. */
  news(event: LoggedEvent | null): void {
    if (event && !this.#behind && this.#pending.length < MAX_PENDING) this.#pending.push(event)
    else {
      this.#pending = []
      this.#behind = true
    }
    this.#rouse()
  }

  close(): void {
    this.#closed = true
    this.#rouse()
  }

  /** Resolves when there may be events to return, or when it is closed. */
  async idle(): Promise<void> {
    if (this.#closed || this.#behind || this.#pending.length > 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /**
   * Returns the next events after `position` if they are in memory; null if they must be read from the log.
   */
  ready(position: number): LoggedEvent[] | null {
    if (this.#behind) return null
    const pending =
      this.#pending[0] && this.#pending[0].id <= position
        ? this.#pending.filter((event) => event.id > position)
        : this.#pending
    this.#pending = []
    return pending.every((event, index) => event.id === position + index + 1) ? pending : null
  }

  /** Reads the next events after `position` from the log. */
  async read(deps: Db & { texts: Texts }, position: number): Promise<LoggedEvent[]> {
    // Before reading, because a commit during the read sets it again.
    this.#behind = false
    this.#pending = []
    try {
      const events = await readTogether(deps, this.#agentId, position)
      if (events.length === PAGE) this.#behind = true
      return await deps.texts.attach(events)
    } catch (error) {
      this.#behind = true
      throw error
    }
  }

  #rouse(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
