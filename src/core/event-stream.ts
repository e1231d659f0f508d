import type { ServerResponse } from 'node:http'

/** How long a reader may keep the server waiting for room in its socket before it is cut off. */
const SLOW_READER_MS = 30_000

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

/**
 * An answer of `text/event-stream` that is written at its reader's speed: what the socket has no room for is
 * waited for, not kept.
 */
export class EventStreamWriter {
  readonly #response: ServerResponse
  readonly #closing = new AbortController()

  constructor(response: ServerResponse) {
    this.#response = response
    if (response.closed) this.#closing.abort()
    else response.once('close', () => this.#closing.abort())
  }

  /** Aborts when either side closes it. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  open(text: string): void {
    if (this.signal.aborted) return
    this.#response.writeHead(200, HEADERS)
    this.#response.write(text)
  }

  /** Returns whether there is room for more; if not, wait for `drained`. */
  write(text: string | Uint8Array): boolean {
    return this.signal.aborted || this.#response.write(text)
  }

  /** Writes what may be left out while the reader is behind. */
  offer(text: string): void {
    if (!this.signal.aborted && !this.#response.writableNeedDrain) this.#response.write(text)
  }

  /** Ends it with `text`, unless it has ended. */
  end(text?: string): void {
    const open = !this.signal.aborted
    this.#closing.abort()
    this.#response.end(open ? text : undefined)
  }

  /** Ends it with `last()` as soon as `signal` aborts, also while its reader has no room. */
  endWith(signal: AbortSignal, last: () => string | undefined): void {
    const end = () => this.end(last())
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  }

  /** Resolves when the reader has room, or is gone. One that has none for 30 seconds is cut off. */
  async drained(): Promise<void> {
    const { signal } = this
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
