import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { takeProxyHeader } from '../core/address/proxy-header.ts'

/** Time in milliseconds within which a proxy must have sent its header, if it sends one. */
const HEADER_MS = 2_000

/**
 * Lets connections of trusted proxies begin with a PROXY header, whose client is theirs from then on. What hears of connections
 * before this is called hears of these when their header is read.
 */
export const followProxies = (server: Server, isTrusted: (address: string) => boolean): void => {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  const begin = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket)
  }
  server.on('connection', (socket: Socket) => {
    if (!isTrusted(socket.remoteAddress ?? '')) return begin(socket)
    takeProxyHeader(socket, HEADER_MS).then(
      (client) => {
        if (client) {
          Object.defineProperty(socket, 'remoteAddress', { value: client.address })
          Object.defineProperty(socket, 'remotePort', { value: client.port })
        }
        begin(socket)
      },
      () => socket.destroy(),
    )
  })
}
