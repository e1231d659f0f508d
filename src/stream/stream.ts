import type { ServerResponse } from 'node:http'
import type { Subscription } from '../agent/index.ts'
import { EventStreamWriter, reconnectFrame } from '../core/http/event-stream.ts'
import type { Logger } from '../core/logger.ts'
import {
  type EventType,
  type Feed,
  type FeedItem,
  type Follower,
  positionOf,
  type Sink,
} from '../event/index.ts'
import { eventFrame, HEARTBEAT, OPENING, positionFrame, REPLACED, truncatedFrame } from './frame.ts'

export interface StreamStart {
  /** Position after which the stream starts. */
  after: number
  /** Types of the events that it contains. */
  types: readonly EventType[]
}

/** An open event stream: passes the agent's feed to a socket, at the client's speed. */
export class Stream implements Sink {
  readonly #deps: { feed: Feed; log: Logger }
  readonly #session: Subscription
  readonly #writer: EventStreamWriter
  readonly #follower: Follower
  readonly #types: readonly EventType[]
  /** The last event that was read, and the last id that was written. */
  #position: number
  #written: number

  /** Writes the events until either side closes the stream. */
  constructor(
    deps: { feed: Feed; log: Logger },
    session: Subscription,
    response: ServerResponse,
    { after, types }: StreamStart,
  ) {
    this.#deps = deps
    this.#session = session
    this.#types = types
    this.#position = this.#written = after
    this.#writer = new EventStreamWriter(response)
    this.#writer.open(OPENING)
    this.#follower = deps.feed.follow({ agentId: session.options.agentId!, after }, this)
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
    this.#position = positionOf(items.at(-1)!)
    const frames = items.map((item) => this.#frameOf(item)).join('')
    const accepts = frames === '' || this.#writer.write(frames)
    if (!accepts) void this.#writer.drained().then(() => this.#follower.resume())
    return accepts
  }

  failed(error: unknown): void {
    const { agentId } = this.#session.options
    this.#deps.log.error({ err: error, agentId }, 'event stream failed')
    this.#writer.end()
  }

  #frameOf(item: FeedItem): string {
    const isTruncated = 'truncated' in item
    if (!isTruncated && !this.#types.includes(item.type)) return ''
    this.#written = positionOf(item)
    return isTruncated ? truncatedFrame(item) : eventFrame(item)
  }

  /** Sends a heartbeat; after events that the client did not ask for, also the position. */
  heartbeat(): void {
    const position = this.#position
    const moved = position > this.#written
    if (this.#writer.offer(moved ? HEARTBEAT + positionFrame(position) : HEARTBEAT)) this.#written = position
  }

  /**
   * Returns the frame for a client that was replaced by another one, or whose process stops; a client that
   * reopened its own connection gets none.
   */
  #lastFrame(): string | undefined {
    const { reason, reopened } = this.#session
    if (reason?.code === 'unavailable') return reconnectFrame()
    return reason?.code === 'conflict' && !reopened ? REPLACED : undefined
  }
}
