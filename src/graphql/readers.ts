import type { ServerResponse } from 'node:http'

/** How long a reader may leave the server waiting for room in its socket before it is cut off. It resumes with `after`. */
const STALLED_MS = 30_000
const CHECK_MS = 5_000

/** Cuts off readers of event streams that take nothing any more, so that none holds on to memory. */
export class Readers {
  /** How many checks in a row each found waiting for room, with not a byte taken in between. */
  readonly #stalled = new Map<ServerResponse, { bytes: number; checks: number }>()
  readonly #timer = setInterval(() => this.#check(), CHECK_MS)

  watch(response: ServerResponse): void {
    this.#stalled.set(response, { bytes: 0, checks: 0 })
    response.once('close', () => this.#stalled.delete(response))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    for (const [response, { bytes, checks }] of this.#stalled) {
      const written = response.socket?.bytesWritten ?? 0
      const stalled = response.writableNeedDrain && written === bytes ? checks + 1 : 0
      this.#stalled.set(response, { bytes: written, checks: stalled })
      if (stalled * CHECK_MS >= STALLED_MS) response.destroy()
    }
  }
}
