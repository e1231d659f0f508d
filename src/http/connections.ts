import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { requesterOf } from '../core/http.ts'
import { sourceOf } from '../core/source.ts'

export interface ConnectionLimits {
  /** Connections at a time on which nobody has shown a good token yet: of one address, and of all. */
  unprovenPerSource: number
  unproven: number
}

interface Connection {
  readonly socket: Socket
  readonly source: string
  /** The answer that is being worked on. */
  response: ServerResponse | null
}

/** Whether its client is waited for: to ask for something, or to take what was answered. */
const isIdle = ({ response, socket }: Connection): boolean =>
  response === null || response.writableFinished || response.closed || socket.writableLength > 0

/**
 * Keeps strangers from taking all sockets. What counts are connections on which no request was authenticated,
 * by the address that they come from: any number of clients behind one address may hold streams open. When
 * there are too many, the oldest that asks for nothing, or does not take its answer, is closed, so that who
 * comes new and shows a token always gets in. What `isShared` (this machine, proxies) is not counted.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #isShared: (address: string) => boolean
  /** By source, the oldest first. */
  readonly #unproven = new Map<string, Set<Connection>>()
  readonly #bySocket = new WeakMap<Socket, Connection>()
  #count = 0

  constructor(limits: ConnectionLimits, isShared: (address: string) => boolean) {
    this.#limits = limits
    this.#isShared = isShared
  }

  /** Watches over a server's connections. */
  follow(server: Server): void {
    server.prependListener('connection', (socket: Socket) => this.#opened(socket))
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#bySocket.get(socket)
      if (!connection) return
      connection.response = response
      response.once('close', () => this.#noteAsker(connection))
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
    if (same.size > unprovenPerSource) this.#makeRoom(same, connection, () => same.size > unprovenPerSource)
    if (this.#count > unproven) this.#makeRoom(this.#largest(), connection, () => this.#count > unproven)
  }

  #largest(): Set<Connection> {
    return [...this.#unproven.values()].reduce((most, each) => (each.size > most.size ? each : most))
  }

  /** Closes the oldest that asks for nothing, or the newcomer when all are being answered. */
  #makeRoom(among: Set<Connection>, newcomer: Connection, isTooMany: () => boolean): void {
    for (const connection of [...among]) this.#noteAsker(connection)
    if (!isTooMany()) return
    const oldest = [...among].find(isIdle) ?? newcomer
    this.#forget(oldest)
    oldest.socket.destroy()
  }

  #noteAsker(connection: Connection): void {
    if (connection.response && requesterOf(connection.response)) this.#forget(connection)
  }

  #forget(connection: Connection): void {
    const same = this.#unproven.get(connection.source)
    if (!same?.delete(connection)) return
    this.#count--
    if (same.size === 0) this.#unproven.delete(connection.source)
  }
}
