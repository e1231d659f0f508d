import type { ServerResponse } from 'node:http'
import type { Viewer } from '../../workspace/viewer.ts'

/** Results that may wait for one reader at once. */
const MAX_WAITING = 1_000
/** Queries that run, or whose results wait, for one reader at once. */
const MAX_RUNNING = 4

/**
 * One event stream of the graphql-sse protocol, from its reservation to its end. The library queues whatever
 * it is given: what keeps that queue short is that every result waits for `ready` before it goes in.
 */
export class EventStream {
  /** The token that it was reserved with, and when that ends by itself. */
  readonly tokenId: string
  readonly expiresAt: Date | null
  readonly #closing = new AbortController()
  #response: ServerResponse | null = null
  #waiting: (() => void)[] = []
  #running = 0

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
    while (!this.signal.aborted && this.#response?.writableNeedDrain !== false) await this.#wait()
  }

  /**
   * Runs a query once its result can be taken, and yields that. A result may have many megabytes: to run what
   * a reader doesn't read would fill the memory with them.
   */
  async *inTurn<Result>(run: () => Promise<Result>): AsyncGenerator<Result, void, void> {
    await this.ready()
    while (this.#running >= MAX_RUNNING && !this.signal.aborted) {
      await this.#wait()
      await this.ready()
    }
    if (this.signal.aborted) return
    this.#running++
    try {
      yield await run()
    } finally {
      this.#running--
      this.#release()
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

  async #wait(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) return this.end()
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
