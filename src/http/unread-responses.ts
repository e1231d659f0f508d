import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { requesterOf } from '../core/http/http.ts'
import { LinkedSet } from '../core/linked-set.ts'

export interface UnreadResponseLimits {
  /**
   * Maximum bytes of responses that wait to be read: by one workspace (or all unauthenticated clients
   * together), and in total.
   */
  unreadPerAsker: number
  unread: number
  /** Interval at which they are summed up, in milliseconds. */
  unreadCheckMs: number
}

/** A response of which a part waits in memory. */
interface Unread {
  readonly socket: Socket
  readonly bytes: number
}

const STRANGERS = ''

/**
 * Keeps unread responses from filling the memory. They cost the client nothing: 600 requests a minute for a
 * mail of 25 MiB would amount to 15 GB. Above a limit, the oldest response of the workspace with the largest
 * unread data is aborted, until the rest fits. A client that reads as fast as the service writes is never
 * affected.
 */
export class UnreadResponses {
  readonly #limits: UnreadResponseLimits
  /** Responses that are not fully read yet, oldest first. */
  readonly #open = new LinkedSet<ServerResponse>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: UnreadResponseLimits) {
    this.#limits = limits
  }

  /** Monitors a server's responses. */
  follow(server: Server): void {
    server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      const remove = this.#open.add(response)
      this.#timer ??= setInterval(() => this.#check(), this.#limits.unreadCheckMs).unref()
      response.on('close', () => {
        remove()
        this.#rest()
      })
    })
  }

  #rest(): void {
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    const byRequester = this.#waiting()
    const { unread, unreadPerAsker } = this.#limits
    const sums = new Map(
      [...byRequester].map(([requester, all]) => [requester, all.reduce((sum, { bytes }) => sum + bytes, 0)]),
    )
    let total = [...sums.values()].reduce((sum, bytes) => sum + bytes, 0)
    while (sums.size > 0) {
      const [requester, held] = [...sums].reduce((largest, each) => (each[1] > largest[1] ? each : largest))
      if (held <= unreadPerAsker && total <= unread) return
      const oldest = byRequester.get(requester)?.shift()
      if (!oldest) return
      sums.set(requester, held - oldest.bytes)
      total -= oldest.bytes
      oldest.socket.destroy()
    }
  }

  /** Returns the unread responses by workspace. */
  #waiting(): Map<string, Unread[]> {
    const byRequester = new Map<string, Unread[]>()
    for (const response of this.#open.all()) {
      const { socket } = response
      if (!socket || socket.writableLength === 0) continue
      const requester = requesterOf(response)?.workspaceId ?? STRANGERS
      const all = byRequester.get(requester) ?? []
      all.push({ socket, bytes: socket.writableLength })
      byRequester.set(requester, all)
    }
    return byRequester
  }
}
