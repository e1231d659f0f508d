import type { Feed } from './feed.ts'
import type { FeedItem, Follower, Sink } from './follower.ts'
import type { LogPosition } from './log.ts'

type Result = IteratorResult<FeedItem[], void>

const DONE: Result = { done: true, value: undefined }

/** A follower for a loop, which receives the items that are available together. Ends when `signal` aborts. */
export class FeedIterator implements AsyncIterableIterator<FeedItem[], void>, Sink {
  readonly #feed: Pick<Feed, 'follow' | 'unfollow'>
  readonly #start: LogPosition
  readonly #signal: AbortSignal
  #follower: Follower | null = null
  #items: FeedItem[] | null = null
  #failure: { error: unknown } | null = null
  #wake: (() => void) | null = null

  constructor(feed: Pick<Feed, 'follow' | 'unfollow'>, start: LogPosition, signal: AbortSignal) {
    this.#feed = feed
    this.#start = start
    this.#signal = signal
  }

  async next(): Promise<Result> {
    if (this.#signal.aborted) return this.return()
    if (this.#follower) this.#follower.resume()
    else this.#open()
    while (!this.#signal.aborted) {
      if (this.#failure) throw this.#failure.error
      const items = this.#items
      this.#items = null
      if (items) return { done: false, value: items }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.return()
  }

  async return(): Promise<Result> {
    this.#signal.removeEventListener('abort', this.#rouse)
    if (this.#follower) this.#feed.unfollow(this.#follower)
    return DONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  receive(items: FeedItem[]): boolean {
    this.#items = items
    this.#rouse()
    return false
  }

  failed(error: unknown): void {
    this.#failure = { error }
    this.#rouse()
  }

  #open(): void {
    this.#signal.addEventListener('abort', this.#rouse)
    this.#follower = this.#feed.follow(this.#start, this)
  }

  readonly #rouse = (): void => {
    this.#wake?.()
    this.#wake = null
  }
}
