import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A wire between a service and its database that a test can cut. */
export interface Wire {
  /** The given URL, by way of the wire. */
  readonly url: string
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>
  /** Takes connections again. */
  mend(): Promise<void>
}

/** Passes everything on to the host and port of `url`. Closed with `cut`. */
export async function startWire(url: string): Promise<Wire> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    return socket
  }
  const create = () =>
    createServer((client) => {
      const server = keep(connect(Number(target.port), target.hostname))
      keep(client).pipe(server).pipe(client)
      client.on('close', () => server.destroy())
      server.on('close', () => client.destroy())
    })
  let listener = create()
  const listen = (port: number) => new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = listener.address() as AddressInfo
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    cut: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
    mend: () => {
      listener = create()
      return listen(port)
    },
  }
}
