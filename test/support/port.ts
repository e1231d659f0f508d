import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'

/** Below the ports that systems give to connections and to servers that listen on port 0. */
const FIRST = 20_000
const LAST = 32_000

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** Returns a port of this machine that nothing uses now, and that nothing takes unless it asks for this very port. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    if (await isFree(port)) return port
  }
}

/** Tests whether something accepts connections on a port of this machine. */
export const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
