import type { FeedItem, Follower, Sink } from './follower.ts'
import type { LogPosition } from './log.ts'

type Result = IteratorResult<FeedItem[], void>

const DONE: Result = { done: true, value: undefined }

/** What can be followed: a `Feed`. */
interface Followed {
  follow(position: LogPosition, sink: Sink): Follower
  unfollow(follower: Follower): void
}

/** A follower for a loop, which receives the items that are available together. Ends when `signal` aborts. */
export class FeedIterator implements AsyncIterableIterator<FeedItem[], void>, Sink {
  readonly #feed: Followed
  readonly #start: LogPosition
  readonly #signal: AbortSignal
  #follower: Follower | null = null
  #waiting: { resolve(result: Result): void; reject(error: unknown): void } | null = null
  #ended = false

  constructor(feed: Followed, start: LogPosition, signal: AbortSignal) {
    this.#feed = feed
    this.#start = start
    this.#signal = signal
  }

  next(): Promise<Result> {
    if (this.#ended || this.#signal.aborted) return this.return()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      if (this.#follower) this.#follower.resume()
      else this.#open()
    })
  }

  return(): Promise<Result> {
    this.#end()
    return Promise.resolve(DONE)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  receive(items: readonly FeedItem[]): boolean {
    this.#takeWaiting()?.resolve({ done: false, value: [...items] })
    return false
  }

  failed(error: unknown): void {
    this.#takeWaiting()?.reject(error)
    this.#end()
  }

  #open(): void {
    this.#signal.addEventListener('abort', this.#end)
    this.#follower = this.#feed.follow(this.#start, this)
  }

  readonly #end = (): void => {
    this.#ended = true
    this.#signal.removeEventListener('abort', this.#end)
    if (this.#follower) this.#feed.unfollow(this.#follower)
    this.#takeWaiting()?.resolve(DONE)
  }

  #takeWaiting() {
    const waiting = this.#waiting
    this.#waiting = null
    return waiting
  }
}
