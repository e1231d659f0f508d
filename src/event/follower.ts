import type { LoggedEvent } from './event.ts'
import type { LogRead } from './log.ts'
import type { LogReader } from './log-reader.ts'
import type { Texts } from './texts.ts'

/**
 * Maximum number of live events that a follower holds in memory; beyond it, they are read from the log again.
 */
const MAX_PENDING = 1_000

/**
 * Maximum number of items that a sink receives together. Events that arrive together are written together,
 * because the write is most of the cost of an event; the limit is for slow readers.
 */
const MAX_TOGETHER = 64

/** A position whose events are no longer stored: the next event is `nextId`. */
export interface Truncated {
  truncated: true
  nextId: number
}

export type FeedItem = LoggedEvent | Truncated

/** Returns the position of a reader after this item. */
export const positionOf = (item: FeedItem): number => ('truncated' in item ? item.nextId - 1 : item.id)

/** Receives what a follower reads. */
export interface Sink {
  /**
   * Receives the next items, in order. Returns whether more are accepted now; if not, they are held until
   * `resume`.
   */
  receive(items: readonly FeedItem[]): boolean
  /** Called when the follower has ended because of an error. */
  failed(error: unknown): void
}

export interface FollowerDeps {
  reader: LogReader
  texts: Texts
}

const NONE: FeedItem[] = []

/**
 * Passes one agent's events after a position to a sink, without gaps or repetitions: first from the log, then
 * live. A position beyond the log's end counts as its end. It holds no promise and no generator while nothing
 * happens: a process has thousands of them.
 */
export class Follower {
  readonly agentId: string
  readonly #deps: FollowerDeps
  readonly #sink: Sink
  /** The last item that the sink received. */
  #position: number
  /** Items without gaps. They continue the position, except during a read, which they may overlap. */
  #pending: FeedItem[] = NONE
  /** Whether the log may contain events that are not in `#pending`. */
  #behind = true
  #activity: 'none' | 'reading' | 'delivering' | 'paused' | 'closed' = 'none'

  constructor(deps: FollowerDeps, { agentId, after }: { agentId: string; after: number }, sink: Sink) {
    this.#deps = deps
    this.agentId = agentId
    this.#position = after
    this.#sink = sink
  }

  /** Announces events, in order, or null when only their existence is known. */
  news(events: readonly LoggedEvent[] | null): void {
    if (!events) this.#behind = true
    else for (const event of events) this.#announce(event)
    this.proceed()
  }

  #announce(event: LoggedEvent): void {
    const last = this.#pending.at(-1)
    const reading = this.#activity === 'reading'
    if (event.id <= (last ? positionOf(last) : reading ? 0 : this.#position)) return
    const continues = (reading && !last) || event.id === this.end + 1
    if (this.#behind || !continues || this.#pending.length >= MAX_PENDING) this.#behind = true
    else if (last) this.#pending.push(event)
    else this.#pending = [event]
  }

  /** The last item that is pending or was received. */
  get end(): number {
    const last = this.#pending.at(-1)
    return last ? positionOf(last) : this.#position
  }

  /** Delivers what is pending, then reads what is only in the log. */
  proceed(): void {
    while (this.#activity === 'none' && this.#pending.length > 0) this.#deliver()
    if (this.#activity === 'none' && this.#behind) void this.#read()
  }

  /** Continues after `receive` returned false. */
  resume(): void {
    if (this.#activity !== 'paused') return
    this.#activity = 'none'
    this.proceed()
  }

  close(): void {
    this.#activity = 'closed'
    this.#pending = NONE
  }

  #deliver(): void {
    const items = this.#pending.slice(0, MAX_TOGETHER)
    this.#pending = items.length < this.#pending.length ? this.#pending.slice(items.length) : NONE
    this.#position = positionOf(items.at(-1)!)
    this.#activity = 'delivering'
    const accepts = this.#sink.receive(items)
    if (this.#activity === 'delivering') this.#activity = accepts ? 'none' : 'paused'
  }

  async #read(): Promise<void> {
    const { reader, texts } = this.#deps
    this.#activity = 'reading'
    // Before reading, because a commit during the read sets it again.
    this.#behind = false
    try {
      const read = await reader.read({ agentId: this.agentId, after: this.#position })
      this.#take(read, await texts.attach(read.events))
    } catch (error) {
      if (this.#activity !== 'reading') return
      this.close()
      this.#sink.failed(error)
    }
  }

  /** Queues what was read, followed by the events that were announced meanwhile. */
  #take({ lastId, horizon, more }: LogRead, events: LoggedEvent[]): void {
    if (this.#activity !== 'reading') return
    const announced = this.#pending
    this.#position = Math.min(this.#position, lastId)
    if (this.#position < horizon)
      this.#pending = [{ truncated: true, nextId: horizon + 1 }, ...events.filter(({ id }) => id > horizon)]
    else this.#pending = events.length > 0 ? events : NONE
    const end = this.end
    const later = announced.filter((item) => positionOf(item) > end)
    if (more || (later[0] && positionOf(later[0]) > end + 1)) this.#behind = true
    else if (later.length > 0) this.#pending = [...this.#pending, ...later]
    this.#activity = 'none'
    this.proceed()
  }
}
