import type { ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { publicError } from '../db/failure.ts'
import type { LoggedEvent } from '../event/event.ts'
import type { Feed, Truncated } from '../event/feed.ts'
import { eventFrame, HEARTBEAT, OPENING, REPLACED, truncatedFrame } from './frame.ts'

/** How long a reader may keep the server waiting for room in its socket before it is cut off. It resumes by id. */
const SLOW_READER_MS = 30_000
/** Pause before the log is read again when the database is away. */
const AWAY_MS = 500

/** What comes at once is written at once: most of what an event costs is the write. Bounded, because a reader may be slow. */
const JOINED = 64

const idOf = (item: LoggedEvent | Truncated): number => ('truncated' in item ? item.nextId - 1 : item.id)
const frameOf = (item: LoggedEvent | Truncated): string => ('truncated' in item ? truncatedFrame(item) : eventFrame(item))

export interface StreamOptions {
  agentId: string
  connectionId: string
  tokenId: string
  tokenExpiresAt: Date | null
  /** The id after which it begins. */
  after: number
}

/** One open event stream: a loop from the agent's feed to a socket, at the reader's speed. */
export class Stream {
  readonly options: StreamOptions
  readonly #response: ServerResponse
  readonly #closing = new AbortController()

  constructor(response: ServerResponse, options: StreamOptions) {
    this.options = options
    this.#response = response
    response.on('close', () => this.#closing.abort())
  }

  /** Runs until either side closes it. */
  async run({ feed, clock, log }: { feed: Feed; clock: Clock; log: Logger }): Promise<void> {
    const { signal } = this.#closing
    let position = this.options.after
    this.#response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
    this.#response.write(OPENING)
    while (!signal.aborted) {
      try {
        for await (const items of feed.batches(this.options.agentId, position, signal)) {
          for (let from = 0; from < items.length && !signal.aborted; from += JOINED) {
            const joined = items.slice(from, from + JOINED)
            position = idOf(joined.at(-1)!)
            if (!this.#response.write(joined.map(frameOf).join(''))) await this.#drained()
          }
        }
      } catch (error) {
        if (publicError(error).code !== 'unavailable') throw error
        log.warn({ error: messageOf(error), agentId: this.options.agentId }, 'a stream waits for the database')
        await clock.sleep(AWAY_MS, signal)
      }
    }
  }

  heartbeat(): void {
    if (!this.#closing.signal.aborted && !this.#response.writableNeedDrain) this.#response.write(HEARTBEAT)
  }

  /** Another client took over: says so, then ends. */
  replace(): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#response.end(REPLACED)
  }

  end(): void {
    this.#closing.abort()
    this.#response.end()
  }

  async #drained(): Promise<void> {
    const { signal } = this.#closing
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#response.off('drain', done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(() => this.#response.destroy(), SLOW_READER_MS)
      this.#response.once('drain', done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted || !this.#response.writableNeedDrain) done()
    })
  }
}
