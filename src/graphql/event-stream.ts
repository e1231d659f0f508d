import type { ServerResponse } from 'node:http'
import type { Viewer } from '../workspace/viewer.ts'

/** Results that may wait for one reader at once. */
const MOST_WAITING = 1_000

/**
 * One event stream of the graphql-sse protocol, from its reservation to its end. The library queues whatever it is given: what keeps
 * that queue short is that every result waits for `ready` before it goes in.
 */
export class EventStream {
  /** The token that it was reserved with, and when that ends by itself. */
  readonly tokenId: string
  readonly expiresAt: Date | null
  readonly #closing = new AbortController()
  #response: ServerResponse | null = null
  #waiting: (() => void)[] = []

  constructor({ tokenId, expiresAt }: Pick<Viewer, 'tokenId' | 'expiresAt'>) {
    this.tokenId = tokenId
    this.expiresAt = expiresAt
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  get connected(): boolean {
    return this.#response !== null
  }

  /** Resolves when the reader has room, or is gone. A reader with too many results before it is cut off. */
  async ready(): Promise<void> {
    while (!this.signal.aborted && this.#response?.writableNeedDrain !== false) {
      if (this.#waiting.length >= MOST_WAITING) return this.end()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Writes the frames at the reader's speed, until either side ends it. */
  async send(response: ServerResponse, frames: AsyncGenerator<string, void, undefined>): Promise<void> {
    this.#response = response
    response.on('drain', () => this.#release())
    response.once('close', () => {
      this.end()
      void frames.return()
    })
    if (this.signal.aborted) response.destroy()
    this.#release()
    for await (const frame of frames) if (!response.write(frame)) await this.ready()
    response.end()
  }

  end(): void {
    if (this.signal.aborted) return
    this.#closing.abort()
    this.#release()
    this.#response?.end()
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
