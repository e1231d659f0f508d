import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Work = () => void

interface Queue {
  busy: boolean
  readonly waiting: Work[]
}

/**
 * Maximum number of requests on one connection that wait for earlier responses. Real pipelining clients send
 * a handful.
 * @limit HTTP connections
 */
const MAX_WAITING = 64

/**
 * Starts a request once the response to the previous one on the same connection is complete and sent. Node
 * emits all requests of a segment at once, and 64 KiB can contain two thousand of them: if they ran
 * concurrently, their responses would fill the memory and block the process until they were done. A
 * connection with more than `MAX_WAITING` requests waiting is closed (RFC 9112 9.3.2 leaves retrying to the
 * client).
 */
export class PipelinedRequests {
  readonly #queues = new WeakMap<Socket, Queue>()

  run({ socket }: IncomingMessage, response: ServerResponse, work: Work): void {
    if (!socket.writable) return
    const queue = this.#queues.get(socket) ?? this.#begin(socket)
    const begin = () => {
      queue.busy = true
      response.on('close', () => this.#next(socket, queue))
      work()
    }
    if (!queue.busy) begin()
    else if (queue.waiting.length < MAX_WAITING) queue.waiting.push(begin)
    else socket.destroy()
  }

  #begin(socket: Socket): Queue {
    const queue: Queue = { busy: false, waiting: [] }
    this.#queues.set(socket, queue)
    return queue
  }

  #next(socket: Socket, queue: Queue): void {
    queue.busy = false
    if (!socket.writable)
      queue.waiting.length = 0 // closed, or closing after its last response
    else queue.waiting.shift()?.()
  }
}
