import type { ServerResponse } from 'node:http'
import { PING } from './answer.ts'

/**
 * How long a reader may leave the server waiting for room in its socket before it is cut off. It resumes with
 * `after`.
 */
const STALLED_MS = 30_000
const CHECK_MS = 5_000
/** As the event streams of REST: every 15 s. */
const CHECKS_PER_PING = 3

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

interface Watched {
  bytes: number
  /** How many checks in a row found it waiting for room, with not a byte taken in between. */
  stalled: number
}

/**
 * The readers of event streams: what begins each stream and keeps it open, and the end of those who take
 * nothing any more.
 */
export class Readers {
  readonly #watched = new Map<ServerResponse, Watched>()
  readonly #timer = setInterval(() => this.#check(), CHECK_MS)
  #checks = 0

  /**
   * Begins an event stream. Something is written at once: some browsers hold an answer back until there is.
   */
  open(response: ServerResponse): void {
    response.writeHead(200, HEADERS).write(PING)
    this.#watched.set(response, { bytes: 0, stalled: 0 })
    response.once('close', () => this.#watched.delete(response))
  }

  /** Resolves when there is room for more, or nobody to read it. */
  async room(response: ServerResponse): Promise<void> {
    if (response.closed || !response.writableNeedDrain) return
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done)
        resolve()
      }
      response.once('drain', done).once('close', done)
    })
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
