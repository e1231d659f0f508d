import type { ServerResponse } from 'node:http'
import type { Subscription } from '../agent/subscriptions.ts'
import { EventStreamWriter } from '../core/event-stream.ts'
import type { Logger } from '../core/logger.ts'
import type { Feed } from '../event/feed.ts'
import type { FeedItem, Follower, Sink } from '../event/follower.ts'
import { eventFrame, HEARTBEAT, OPENING, REPLACED, truncatedFrame } from './frame.ts'

const frameOf = (item: FeedItem): string => ('truncated' in item ? truncatedFrame(item) : eventFrame(item))

/** An open event stream: passes the agent's feed to a socket, at the client's speed. */
export class Stream implements Sink {
  readonly #deps: { feed: Feed; log: Logger }
  readonly #session: Subscription
  readonly #writer: EventStreamWriter
  readonly #follower: Follower

  /** Writes the events after `after` until either side closes the stream. */
  constructor(
    deps: { feed: Feed; log: Logger },
    session: Subscription,
    response: ServerResponse,
    after: number,
  ) {
    this.#deps = deps
    this.#session = session
    this.#writer = new EventStreamWriter(response)
    this.#writer.open(OPENING)
    this.#follower = deps.feed.follow({ agentId: session.options.agentId, after }, this)
    session.onEnd(() => this.#writer.end(this.#lastFrame()))
  }

  /** Calls back when the stream is closed. */
  onClose(callback: () => void): void {
    this.#writer.onClose(() => {
      this.#deps.feed.unfollow(this.#follower)
      callback()
    })
  }

  receive(items: readonly FeedItem[]): boolean {
    const accepts = this.#writer.write(items.map(frameOf).join(''))
    if (!accepts) void this.#writer.drained().then(() => this.#follower.resume())
    return accepts
  }

  failed(error: unknown): void {
    const { agentId } = this.#session.options
    this.#deps.log.error({ err: error, agentId }, 'event stream failed')
    this.#writer.end()
  }

  heartbeat(): void {
    this.#writer.offer(HEARTBEAT)
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
