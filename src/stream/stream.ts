import type { ServerResponse } from 'node:http'
import type { Subscription } from '../agent/subscriptions.ts'
import { EventStreamWriter } from '../core/event-stream.ts'
import type { LoggedEvent } from '../event/event.ts'
import type { Feed, Truncated } from '../event/feed.ts'
import { eventFrame, HEARTBEAT, OPENING, REPLACED, truncatedFrame } from './frame.ts'

/**
 * Maximum number of events in one write. Events that arrive together are written together, because the write
 * is most of the cost of an event; the limit is for slow readers.
 */
const JOINED = 64

const frameOf = (item: LoggedEvent | Truncated): string =>
  'truncated' in item ? truncatedFrame(item) : eventFrame(item)

/** An open event stream: a loop from the agent's feed to a socket, at the client's speed. */
export class Stream {
  readonly #session: Subscription
  readonly #writer: EventStreamWriter

  constructor(response: ServerResponse, session: Subscription) {
    this.#session = session
    this.#writer = new EventStreamWriter(response)
  }

  /** Writes the events after `after` until either side closes the stream. */
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

  /**
   * Returns the frame for a client that was replaced by another one; a client that reopened its own
   * connection gets none.
   */
  #lastFrame(): string | undefined {
    const { reason, reopened } = this.#session
    return reason?.code === 'conflict' && !reopened ? REPLACED : undefined
  }
}
