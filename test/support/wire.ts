import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A wire between a service and its database that a test can cut. */
export interface Wire {
  /** The given URL, by way of the wire. */
  readonly url: string
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>
  /**
   * Cuts at the next statement with this text (of several texts: at the last one, once the others went over
   * the same connection in this order): before the database gets it, or after it was carried out, so that
   * only its answer is lost. Resolves when it is cut.
   */
  cutAt(side: 'before' | 'after', ...texts: string[]): Promise<void>
  /** Takes connections again. */
  mend(): Promise<void>
}

/** ReadyForQuery: the last that the server says to a statement, which is committed then. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5])

interface Trap {
  side: 'before' | 'after'
  texts: readonly string[]
  spring(): void
}

/** Passes everything on to the host and port of `url`. Closed with `cut`. */
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
