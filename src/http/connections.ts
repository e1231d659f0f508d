import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sourceOf } from '../core/address/source.ts'
import { requesterOf } from '../core/http/http.ts'

export interface ConnectionLimits {
  /** Maximum number of connections without an authenticated request: from one address, and in total. */
  unprovenPerSource: number
  unproven: number
}

interface Connection {
  readonly socket: Socket
  readonly source: string
  /** The response in progress. */
  response: ServerResponse | null
}

/** Returns whether the connection waits for its client: to send a request, or to read the response. */
const isIdle = ({ response, socket }: Connection): boolean =>
  response === null || response.writableFinished || response.closed || socket.writableLength > 0

/**
 * Keeps unauthenticated clients from taking all sockets. It counts the connections on which no request was
 * authenticated, by source address; any number of authenticated clients behind one address may hold streams
 * open. Above a limit, the oldest connection that has no request in progress, or does not read its response,
 * is closed, so that new clients with a token always get a connection. Addresses for which `isShared` is true
 * (this machine, proxies) are not counted.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #isShared: (address: string) => boolean
  /** By source, oldest first. */
  readonly #unproven = new Map<string, Set<Connection>>()
  readonly #bySocket = new WeakMap<Socket, Connection>()
  #count = 0

  constructor(limits: ConnectionLimits, isShared: (address: string) => boolean) {
    this.#limits = limits
    this.#isShared = isShared
  }

  /** Monitors a server's connections. */
  follow(server: Server): void {
    server.prependListener('connection', (socket: Socket) => this.#opened(socket))
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#bySocket.get(socket)
      if (!connection) return
      connection.response = response
      response.on('close', () => this.#forgetIfAuthenticated(connection))
    })
  }

  #opened(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    if (this.#isShared(address)) return
    const connection: Connection = { socket, source: sourceOf(address), response: null }
    this.#bySocket.set(socket, connection)
    const same = this.#unproven.get(connection.source) ?? new Set()
    this.#unproven.set(connection.source, same.add(connection))
    this.#count++
    socket.once('close', () => this.#forget(connection))
    const { unproven, unprovenPerSource } = this.#limits
    if (same.size > unprovenPerSource)
      this.#closeOldest(same, connection, () => same.size > unprovenPerSource)
    if (this.#count > unproven) this.#closeOldest(this.#largest(), connection, () => this.#count > unproven)
  }

  #largest(): Set<Connection> {
    return [...this.#unproven.values()].reduce((largest, each) => (each.size > largest.size ? each : largest))
  }

  /** Closes the oldest idle connection, or the new one when none is idle. */
  #closeOldest(among: Set<Connection>, newcomer: Connection, isTooMany: () => boolean): void {
    for (const connection of [...among]) this.#forgetIfAuthenticated(connection)
    if (!isTooMany()) return
    const oldest = [...among].find(isIdle) ?? newcomer
    this.#forget(oldest)
    oldest.socket.destroy()
  }

  #forgetIfAuthenticated(connection: Connection): void {
    if (connection.response && requesterOf(connection.response)) this.#forget(connection)
  }

  #forget(connection: Connection): void {
    const same = this.#unproven.get(connection.source)
    if (!same?.delete(connection)) return
    this.#count--
    if (same.size === 0) this.#unproven.delete(connection.source)
  }
}
