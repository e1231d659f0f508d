import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { requesterOf } from '../core/http.ts'

export interface UnreadResponseLimits {
  /**
   * Bytes of answers that wait for their readers: of one workspace (or all who showed no token), and in all.
   */
  unreadPerAsker: number
  unread: number
  /** How often they are added up, in milliseconds. */
  unreadCheckMs: number
}

/** An answer of which a part waits in memory. */
interface Unread {
  readonly socket: Socket
  readonly bytes: number
}

const STRANGERS = ''

/**
 * Keeps answers that nobody reads from filling the memory. They cost whoever asked for them nothing: 600
 * requests a minute for a mail of 25 MiB would be 15 GB. When too much waits, the oldest answer of whoever
 * has the most waiting is broken off, until the rest fits. Who reads as fast as the service writes never has
 * anything waiting.
 */
export class UnreadResponses {
  readonly #limits: UnreadResponseLimits
  /** The answers that are not taken yet, the oldest first. */
  readonly #open = new Set<ServerResponse>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: UnreadResponseLimits) {
    this.#limits = limits
  }

  /** Watches over a server's answers. */
  follow(server: Server): void {
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      this.#open.add(response)
      this.#timer ??= setInterval(() => this.#check(), this.#limits.unreadCheckMs).unref()
      response.once('close', () => this.#forget(response))
    })
  }

  #forget(response: ServerResponse): void {
    this.#open.delete(response)
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    const byAsker = this.#waiting()
    const { unread, unreadPerAsker } = this.#limits
    const sums = new Map(
      [...byAsker].map(([asker, all]) => [asker, all.reduce((sum, { bytes }) => sum + bytes, 0)]),
    )
    let total = [...sums.values()].reduce((sum, bytes) => sum + bytes, 0)
    while (sums.size > 0) {
      const [asker, held] = [...sums].reduce((most, each) => (each[1] > most[1] ? each : most))
      if (held <= unreadPerAsker && total <= unread) return
      const oldest = byAsker.get(asker)?.shift()
      if (!oldest) return
      sums.set(asker, held - oldest.bytes)
      total -= oldest.bytes
      oldest.socket.destroy()
    }
  }

  /** What waits, by who asked for it. */
  #waiting(): Map<string, Unread[]> {
    const byAsker = new Map<string, Unread[]>()
    for (const response of this.#open) {
      const { socket } = response
      if (!socket || socket.writableLength === 0) continue
      const asker = requesterOf(response)?.workspaceId ?? STRANGERS
      const all = byAsker.get(asker) ?? []
      all.push({ socket, bytes: socket.writableLength })
      byAsker.set(asker, all)
    }
    return byAsker
  }
}
