import type { ServerResponse } from 'node:http'
import type { Viewer } from '../../workspace/index.ts'

/** Maximum number of results that wait for one reader. @limit GraphQL */
const MAX_WAITING = 1_000
/** Maximum number of queries per reader that run, or whose results wait, concurrently. */
const MAX_RUNNING = 4

/**
 * An event stream of the graphql-sse protocol, from its reservation to its end. The library queues everything
 * it is given; the queue stays short because every result waits for `ready` before it is added.
 */
export class EventStream {
  /** The token that reserved the stream, and when that token expires. */
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

  /**
   * Resolves when the reader can accept data, or is gone. A reader with too many results waiting is
   * disconnected.
   */
  async ready(): Promise<void> {
    while (!this.signal.aborted && this.#response?.writableNeedDrain !== false) await this.#wait()
  }

  /**
   * Runs a query once its result can be accepted, and yields the result. A result may have many megabytes:
   * running queries whose results are not read would exhaust the memory.
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

  /** Writes the frames at the reader's pace, until either side ends the stream. */
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
