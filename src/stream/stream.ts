import type { ServerResponse } from 'node:http'
import type { Subscription } from '../agent/subscriptions.ts'
import { EventStreamWriter } from '../core/event-stream.ts'
import type { LoggedEvent } from '../event/event.ts'
import type { Feed, Truncated } from '../event/feed.ts'
import { eventFrame, HEARTBEAT, OPENING, REPLACED, truncatedFrame } from './frame.ts'

/**
 * What comes at once is written at once: most of what an event costs is the write. Bounded, because a reader
 * may be slow.
 */
const JOINED = 64

const frameOf = (item: LoggedEvent | Truncated): string =>
  'truncated' in item ? truncatedFrame(item) : eventFrame(item)

/** One open event stream: a loop from the agent's feed to a socket, at the reader's speed. */
export class Stream {
  readonly #session: Subscription
  readonly #writer: EventStreamWriter

  constructor(response: ServerResponse, session: Subscription) {
    this.#session = session
    this.#writer = new EventStreamWriter(response)
  }

  /** Writes the events after `after` until either side closes it. */
  async run(feed: Feed, after: number): Promise<void> {
    const { signal } = this.#writer
    this.#writer.open(OPENING)
    this.#writer.endWith(this.#session.signal, () => this.#lastFrame())
    for await (const items of feed.steady(this.#session.options.agentId, after, signal)) {
      for (let from = 0; from < items.length && !signal.aborted; from += JOINED) {
        const joined = items.slice(from, from + JOINED)
        if (!this.#writer.write(joined.map(frameOf).join(''))) await this.#writer.drained()
      }
    }
  }

  heartbeat(): void {
    this.#writer.offer(HEARTBEAT)
  }

  end(): void {
    this.#writer.end()
  }

  /** A client that another one replaced is told so; one that opened its own connection again is not. */
  #lastFrame(): string | undefined {
    const { reason, reopened } = this.#session
    return reason?.code === 'conflict' && !reopened ? REPLACED : undefined
  }
}
