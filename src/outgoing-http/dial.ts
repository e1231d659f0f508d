import { isIP, connect as openSocket, type Socket } from 'node:net'
import { connect as openTls } from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import type { Allow } from './allowed-address.ts'
import type { Lookup, ResolvedAddress } from './lookup.ts'
import { hostOf, mayDial, portOf } from './url.ts'

/** The stage that an attempt has reached, which prefixes its errors. */
export type Stage = 'dns' | 'connect' | 'tls' | 'request'

/**
 * The host resolves to an address that webhooks must not reach. The message does not name the address: that
 * would reveal the internal network to anyone who can add webhooks.
 */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress'
  readonly code = 'FORBIDDEN_ADDRESS'
}

export interface DialDeps {
  allow: Allow
  lookup: Lookup
  /** Certificate authorities that replace the public ones. */
  ca?: string
  /**
   * Maximum number of sockets that may stay open between requests; above it, idle sockets are closed
   * immediately.
   */
  maxIdle?: number
}

/**
 * Time in milliseconds for which a socket stays open without a request, unless the receiver says that it closes it sooner: most
 * keep theirs for a minute. Opening one, with TLS, takes a distant receiver longer than the POST (docs/decisions.md#kept-connections).
 */
const IDLE_CLOSE_MS = 30_000
const MAX_IDLE = 1024
const HEADER_BYTES = 16 * 1024

/**
 * Opens guarded connections: each is checked against the address that is actually dialled. Ignores proxy
 * settings in the environment.
 */
export class Dialler {
  readonly deps: DialDeps
  /** Number of open sockets. */
  open = 0
  /** Connections that nothing uses and whose sockets are open, by their keys, in the order in which they were kept. */
  readonly #kept = new Map<string, Connection>()

  constructor(deps: DialDeps) {
    this.deps = deps
  }

  /** Returns a connection for this URL. Nothing is dialled before the first request. */
  connectionTo(url: string): Connection {
    return new Connection(this, url)
  }

  /** Returns the connection that was kept under this key if it leads to this URL, or else a new one, which `keep` accepts. */
  connectionOf(key: string, url: string): Connection {
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    if (kept?.url === url) return kept
    kept?.destroy(new Error('closed: the URL has changed'))
    return new Connection(this, url, key)
  }

  /** Keeps a connection whose user needs it no longer, as long as its socket stays open. */
  keep(connection: Connection): void {
    if (connection.key !== null && connection.isOpen) this.#kept.set(connection.key, connection)
    else connection.destroy(new Error('closed: not needed any more'))
  }

  /** Called when a socket has closed. */
  closed({ key }: Connection): void {
    this.open--
    if (key !== null && this.#kept.get(key)?.isOpen === false) this.#kept.delete(key)
  }

  /** Returns whether another socket may stay open between requests; one that nothing uses gives its place. */
  makeRoom(): boolean {
    if (this.open <= (this.deps.maxIdle ?? MAX_IDLE)) return true
    const [oldest] = this.#kept
    if (!oldest) return false
    this.#kept.delete(oldest[0])
    oldest[1].destroy(new Error('closed: too many idle connections'))
    return true
  }

  /** Closes the connections that nothing uses. */
  closeKept(): void {
    for (const connection of this.#kept.values()) connection.destroy(new Error('closed: not needed any more'))
  }
}

/**
 * Connection to one receiver: one request at a time over one socket, which is reused for the next request and
 * closed when it was idle for long. HTTP/1.1, no redirects, certificates verified.
 */
export class Connection {
  readonly url: string
  readonly key: string | null
  readonly #dialler: Dialler
  readonly #url: URL
  readonly #path: string
  #client: Client | null = null
  /** The socket while it is being opened: destroying the client would not close it. */
  #opening: Socket | null = null
  /** The socket from when it is connected until it has closed. */
  #open: Socket | null = null
  #stage: Stage = 'request'
  #idleSince = 0

  constructor(dialler: Dialler, url: string, key: string | null = null) {
    this.#dialler = dialler
    this.url = url
    this.key = key
    this.#url = new URL(url)
    this.#path = this.#url.pathname + this.#url.search
  }

  get stage(): Stage {
    return this.#stage
  }

  get isOpen(): boolean {
    return this.#client !== null && this.#open !== null
  }

  /** How long the open socket was idle before this request, in milliseconds; 0 when there is none. */
  get idleMs(): number {
    return this.#client && this.#idleSince > 0 ? performance.now() - this.#idleSince : 0
  }

  /** Sends a POST. The outcome is passed to `handler`, once, through `onResponseEnd` or `onResponseError`. */
  post(headers: string[], body: Buffer, handler: Dispatcher.DispatchHandler): void {
    this.#dispatch({ path: this.#path, method: 'POST', headers, body }, handler)
  }

  /** Sends a GET; reports the outcome like `post`. */
  get(handler: Dispatcher.DispatchHandler, headers: string[] = []): void {
    this.#dispatch({ path: this.#path, method: 'GET', headers }, handler)
  }

  #dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client ??= new Client(this.#url.origin, {
      pipelining: 1,
      keepAliveTimeout: IDLE_CLOSE_MS,
      keepAliveMaxTimeout: IDLE_CLOSE_MS,
      headersTimeout: 0, // the caller has one timeout for the whole attempt
      bodyTimeout: 0,
      maxHeaderSize: HEADER_BYTES,
      connect: (_options, callback) => void this.#connect(callback),
    })
    this.#client.dispatch(request, handler)
  }

  /** Called after a request: keeps the socket for the next one, unless too many are open. */
  rest(): void {
    this.#idleSince = performance.now()
    if (!this.#dialler.makeRoom()) this.destroy(new Error('closed: too many idle connections'))
  }

  /**
   * Aborts the current request with `error`, and closes the socket at whatever stage it is. The next request
   * opens another.
   */
  destroy(error: Error): void {
    const client = this.#client
    this.#client = null
    this.#idleSince = 0
    this.#opening?.destroy(error)
    this.#opening = null
    client?.destroy(error).catch(() => undefined)
  }

  async #connect(callback: buildConnector.Callback): Promise<void> {
    const client = this.#client
    try {
      this.#stage = 'dns'
      const addresses = await this.#resolve()
      if (client !== this.#client) throw new Error('given up while resolving')
      this.#stage = 'connect'
      const socket = await this.#dial(addresses)
      if (client !== this.#client) throw new Error('given up while connecting')
      this.#stage = 'tls'
      const secured = this.#url.protocol === 'https:' ? await this.#secure(socket) : socket
      this.#opening = null
      this.#stage = 'request'
      callback(null, secured)
    } catch (error) {
      callback(error as Error, null)
    }
  }

  /** Resolves the name to the addresses that may be dialled. */
  async #resolve(): Promise<readonly ResolvedAddress[]> {
    const { allow, lookup } = this.#dialler.deps
    const host = hostOf(this.#url)
    const family = isIP(host)
    const found = family === 0 ? await lookup(host) : [{ address: host, family }]
    const allowed = found.filter(({ address }) => mayDial(this.#url, address, allow))
    if (allowed.length === 0)
      throw new ForbiddenAddress('the host resolves to an address that webhooks are not allowed to reach')
    return allowed
  }

  #dial(addresses: readonly ResolvedAddress[]): Promise<Socket> {
    const dialler = this.#dialler
    const socket = openSocket({
      host: hostOf(this.#url),
      port: portOf(this.#url),
      noDelay: true,
      autoSelectFamily: true,
      // Uses the addresses that were checked: a second lookup could return others.
      lookup: (_host, options, answer) =>
        options.all
          ? answer(null, [...addresses])
          : answer(null, addresses[0]!.address, addresses[0]!.family),
    })
    this.#opening = socket
    // the user of the socket handles its errors; an unhandled one would end the process
    socket.on('error', () => undefined)
    dialler.open++
    socket.once('close', () => {
      if (this.#open === socket) this.#open = null
      dialler.closed(this)
    })
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('closed')))
      socket.once('connect', () => {
        if (mayDial(this.#url, socket.remoteAddress ?? '', dialler.deps.allow)) {
          this.#open = socket
          return resolve(socket)
        }
        socket.destroy(
          new ForbiddenAddress('the host resolves to an address that webhooks are not allowed to reach'),
        )
      })
    })
  }

  #secure(socket: Socket): Promise<Socket> {
    const host = hostOf(this.#url)
    const { ca } = this.#dialler.deps
    const secured = openTls({
      socket,
      ...(isIP(host) === 0 ? { servername: host } : { host }),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true, // explicit, so that the environment cannot override it
      ...(ca === undefined ? {} : { ca }),
    })
    this.#opening = secured
    return new Promise((resolve, reject) => {
      secured.once('error', reject)
      secured.once('close', () =>
        reject(Object.assign(new Error('closed during the handshake'), { code: 'ECONNRESET' })),
      )
      secured.once('secureConnect', () => resolve(secured))
    })
  }
}
