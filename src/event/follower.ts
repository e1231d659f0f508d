import type { Db } from '../db/client.ts'
import type { LoggedEvent } from './event.ts'
import { readEvents } from './log.ts'
import type { Texts } from './texts.ts'

const PAGE = 500
/** A follower keeps at most this many live events in memory; past it they are read again from the log. */
const MAX_PENDING = 1_000

const gathering = new WeakMap<Db['pool'], Map<string, Promise<LoggedEvent[]>>>()

/**
 * Many followers that wake up at the same event at once read the log once. The read begins after all of them
 * have asked: one that was under way already could miss what a follower was told of since.
 */
const readTogether = (deps: Db, agentId: string, after: number): Promise<LoggedEvent[]> => {
  const reads = gathering.get(deps.pool) ?? new Map<string, Promise<LoggedEvent[]>>()
  gathering.set(deps.pool, reads)
  const key = `${agentId}/${after}`
  const asked = reads.get(key)
  if (asked) return asked
  const read = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    reads.delete(key)
    return readEvents(deps, agentId, after, PAGE)
  })
  reads.set(key, read)
  return read
}

/** One reader of one agent's log: what came in live and is not handed out yet. */
export class Follower {
  readonly #agentId: string
  #pending: LoggedEvent[] = []
  /** The log may hold events that are not in `#pending`. */
  #behind = true
  #closed = false
  #wake: (() => void) | undefined

  constructor(agentId: string) {
    this.#agentId = agentId
  }

  /** The agent has news: the event itself, or null where only that is known. */
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

  /** Resolves when there may be something to hand out, or when it is closed. */
  async idle(): Promise<void> {
    if (this.#closed || this.#behind || this.#pending.length > 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /** The next events after `position` that are in memory; null when only the log knows them. */
  ready(position: number): LoggedEvent[] | null {
    if (this.#behind) return null
    const pending =
      this.#pending[0] && this.#pending[0].id <= position
        ? this.#pending.filter((event) => event.id > position)
        : this.#pending
    this.#pending = []
    return pending.every((event, index) => event.id === position + index + 1) ? pending : null
  }

  /** The next events after `position`, from the log. */
  async read(deps: Db & { texts: Texts }, position: number): Promise<LoggedEvent[]> {
    // Before reading: what commits while it reads sets it again.
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
