import type { ServerResponse } from 'node:http'

/** Time in milliseconds after which a client that does not read is disconnected. */
const SLOW_READER_MS = 30_000

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

const RECONNECT_MS = { min: 100, max: 3000 }

/**
 * Returns a last frame that tells the client after which time to connect again. The times differ, so that the
 * clients of a process that stops do not all come to the next one at once.
 */
export const reconnectFrame = (): string => {
  const { min, max } = RECONNECT_MS
  return `: the service is stopping\nretry: ${Math.round(min + Math.random() * (max - min))}\n\n`
}

/**
 * Writes a response of `text/event-stream` at its client's speed: it waits until the socket accepts more,
 * instead of buffering.
 */
export class EventStreamWriter {
  readonly #response: ServerResponse
  #closed: boolean
  #onClose: (() => void) | null = null
  /** Created when it is asked for: a process has thousands of streams, and most need only `onClose`. */
  #closing: AbortController | null = null

  constructor(response: ServerResponse) {
    this.#response = response
    this.#closed = response.closed
    if (!this.#closed) response.on('close', () => this.#close())
  }

  /** Aborts when either side closes the stream. */
  get signal(): AbortSignal {
    this.#closing ??= new AbortController()
    if (this.#closed) this.#closing.abort()
    return this.#closing.signal
  }

  /** Calls back when either side closes the stream, once. */
  onClose(callback: () => void): void {
    if (this.#closed) callback()
    else this.#onClose = callback
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#closing?.abort()
    this.#onClose?.()
  }

  open(text: string): void {
    if (this.#closed) return
    this.#response.writeHead(200, HEADERS)
    this.#response.write(text)
  }

  /** Returns whether more can be written now; if not, wait for `drained`. */
  write(text: string | Uint8Array): boolean {
    return this.#closed || this.#response.write(text)
  }

  /** Writes text that may be skipped while the client is behind. Returns whether it was written. */
  offer(text: string): boolean {
    const writes = !this.#closed && !this.#response.writableNeedDrain
    if (writes) this.#response.write(text)
    return writes
  }

  /** Ends the stream with `text`, unless it has already ended. */
  end(text?: string): void {
    const last = this.#closed ? undefined : text
    this.#close()
    this.#response.end(last)
  }

  /** Ends the stream with `last()` as soon as `signal` aborts, even while the client is not reading. */
  endWith(signal: AbortSignal, last: () => string | undefined): void {
    const end = () => this.end(last())
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  }

  /**
   * Resolves when the client can receive more or has disconnected. A client that does not read for 30 seconds
   * is disconnected.
   */
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
