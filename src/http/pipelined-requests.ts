import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Work = () => void

interface Line {
  busy: boolean
  readonly waiting: Work[]
}

/**
 * Requests that may wait on one connection for the answers before them. Clients that send ahead send a
 * handful.
 */
const MAX_WAITING = 64

/**
 * Begins with a request once the one before it on the same connection is answered and its answer is taken.
 * Node emits all requests of a segment at once, and 64 KiB hold two thousand of them: begun together, their
 * answers fill the memory, and the process does nothing else until they are made. A connection on which more
 * wait than `MAX_WAITING` is closed (RFC 9112 9.3.2 leaves it to the client to ask again).
 */
export class PipelinedRequests {
  readonly #lines = new WeakMap<Socket, Line>()

  run({ socket }: IncomingMessage, response: ServerResponse, work: Work): void {
    if (!socket.writable) return
    const line = this.#lines.get(socket) ?? { busy: false, waiting: [] }
    this.#lines.set(socket, line)
    const begin = () => {
      line.busy = true
      response.once('close', () => this.#next(socket, line))
      work()
    }
    if (!line.busy) begin()
    else if (line.waiting.length < MAX_WAITING) line.waiting.push(begin)
    else socket.destroy()
  }

  #next(socket: Socket, line: Line): void {
    line.busy = false
    if (!socket.writable)
      line.waiting.length = 0 // closed, or its last answer was given
    else line.waiting.shift()?.()
  }
}
