import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between a service and its database that a test can disconnect. */
export interface Wire {
  /** The given URL, pointing at the proxy. */
  readonly url: string
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>
  /**
   * Cuts at the next statement that contains the text: before the database receives it, or after it was
   * executed, so that only its response is lost. With several texts, cuts at the last one, once the others
   * have passed over the same connection in this order. Resolves when the connection is cut.
   */
  cutAt(side: 'before' | 'after', ...texts: string[]): Promise<void>
  /** Accepts connections again. */
  mend(): Promise<void>
}

/** ReadyForQuery: the end of the server's response to a statement, which is committed by then. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5])

interface Trap {
  side: 'before' | 'after'
  texts: readonly string[]
  spring(): void
}

/** Forwards everything to the host and port of `url`. Call `cut` to close it. */
export async function startWire(url: string): Promise<Wire> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let trap: Trap | null = null
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    return socket
  }
  const join = (client: Socket, server: Socket) => {
    const seen = new WeakMap<Trap, number>()
    let awaited: Trap | null = null
    client.on('data', (bytes) => {
      let count = (trap && seen.get(trap)) ?? 0
      while (trap && count < trap.texts.length && bytes.includes(trap.texts[count]!)) count++
      if (trap) seen.set(trap, count)
      if (!trap || count < trap.texts.length) return void server.write(bytes)
      if (trap.side === 'before') return trap.spring()
      awaited = trap
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (!awaited) return void client.write(bytes)
      if (bytes.includes(READY)) awaited.spring()
    })
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  }
  const create = () =>
    createServer((client) => join(keep(client), keep(connect(Number(target.port), target.hostname))))
  let listener = create()
  const listen = (port: number) => new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = listener.address() as AddressInfo
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  const cut = () =>
    new Promise<void>((resolve) => {
      listener.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  return {
    url: through.href,
    cut,
    cutAt: (side, ...texts) =>
      new Promise((resolve) => {
        const spring = () => {
          trap = null
          resolve(cut())
        }
        trap = { side, texts, spring }
      }),
    mend: () => {
      listener = create()
      return listen(port)
    },
  }
}
