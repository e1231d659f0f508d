import type { ServerResponse } from 'node:http'
import { PING } from './answer.ts'

/** A reader that accepts no data for this long is disconnected. It can resume with `after`. */
const STALLED_MS = 30_000
const CHECK_MS = 5_000
/** Like the event streams of REST: every 15 s. */
const CHECKS_PER_PING = 3

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

interface Watched {
  bytes: number
  /**
   * Number of consecutive checks that found the socket's buffer full and no byte sent since the previous one.
   */
  stalled: number
}

/**
 * The readers of event streams: starts each stream, keeps it open, and disconnects readers that accept no
 * more data.
 */
export class Readers {
  readonly #watched = new Map<ServerResponse, Watched>()
  readonly #timer = setInterval(() => this.#check(), CHECK_MS)
  #checks = 0

  /**
   * Starts an event stream. A comment is written immediately, because some browsers hold a response back
   * until it has content.
   */
  open(response: ServerResponse): void {
    response.writeHead(200, HEADERS).write(PING)
    this.#watched.set(response, { bytes: 0, stalled: 0 })
    response.once('close', () => this.#watched.delete(response))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const ping = ++this.#checks % CHECKS_PER_PING === 0
    for (const [response, watched] of this.#watched) {
      const written = response.socket?.bytesWritten ?? 0
      watched.stalled = response.writableNeedDrain && written === watched.bytes ? watched.stalled + 1 : 0
      watched.bytes = written
      if (watched.stalled * CHECK_MS >= STALLED_MS) response.destroy()
      else if (ping && !response.writableNeedDrain) response.write(PING)
    }
  }
}
