import type { Socket } from 'node:net'
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { takeProxyHeader } from '../../core/address/proxy-header.ts'
import { publicSourceOf, sourceOf } from '../../core/address/source.ts'
import { createTrust } from '../../core/address/trusted.ts'
import type { Clock } from '../../core/clock.ts'
import type { TlsPair } from '../../core/tls-pair.ts'
import { WindowCounts } from '../../core/window-counts.ts'
import type { Wait } from '../reading/mail-reader.ts'
import { type EvictableSession, sessionToEvict } from './smtp-eviction.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import { replyTo } from './smtp-reply.ts'

/** Open sockets allowed per session: a disconnected client may keep its end open for some seconds. */
const SOCKETS_PER_SESSION = 2
const ERRORS_WINDOW_MS = 600_000
/**
 * Time in milliseconds within which a proxy must have sent its header. A trusted client that sends none, such as a mail server
 * on the same machine, is greeted that much later.
 */
const PROXY_HEADER_MS = 500

export interface PromptOptions extends Pick<SMTPServerOptions, 'name' | 'onClose'> {
  tls: TlsPair
  /** Addresses and CIDRs of proxies that may say who their client is. */
  trustProxy: readonly string[]
  /** Rejects if a recipient is refused; see `replyTo`. */
  onRecipient(address: SMTPServerAddress, session: SMTPServerSession): Promise<void>
  /** Resolves with the text of the reply once the message is stored; rejects if it is not. */
  onMessage(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string>
}

type Done = (error?: Error | null, message?: string) => void

const settle = (work: Promise<unknown>, done: Done): void =>
  void work.then(
    (text) => done(null, typeof text === 'string' ? text : undefined),
    (error: unknown) => done(replyTo(error)),
  )

/**
 * An SMTPServer that greets immediately and always has capacity for another sender. smtp-server delays its greeting to
 * detect clients that talk too early, at the cost of every connection. Sessions that do nothing are closed early, and
 * are evicted when all slots are in use.
 */
export class PromptSmtpServer extends SMTPServer {
  readonly limits: SmtpLimits
  readonly clock: Clock
  /** Errors by source: a client that guesses addresses reconnects with new sessions. */
  readonly errors: WindowCounts
  /** Ids of sessions that are between DATA and its reply. */
  readonly busy = new Set<string>()
  /** By session id, the messages that are being received. */
  readonly waits = new Map<string, Wait>()
  readonly #sockets = new Set<Socket>()
  readonly #isProxy: (address: string) => boolean
  #timer: NodeJS.Timeout | undefined

  constructor(options: PromptOptions, limits: SmtpLimits, clock: Clock) {
    const { tls, trustProxy, onRecipient, onMessage, ...others } = options
    super({
      banner: 'ready',
      cert: tls.cert,
      key: tls.key,
      size: limits.size,
      rejectOversized: true,
      maxRecipients: limits.recipients,
      socketTimeout: limits.idleMs,
      hideENHANCEDSTATUSCODES: false,
      disabledCommands: ['AUTH'],
      authOptional: true,
      disableReverseLookup: true,
      logger: false,
      ...others,
      onRcptTo: (address, session, done) => settle(onRecipient(address, session), done),
      onData: (stream, session, done) => settle(onMessage(stream, session), done),
    })
    this.limits = limits
    this.clock = clock
    this.#isProxy = createTrust(trustProxy)
    this.errors = new WindowCounts(clock, ERRORS_WINDOW_MS)
  }

  get #sessions(): PromptConnection[] {
    return [...this.connections] as PromptConnection[]
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    if (this.#sockets.size >= SOCKETS_PER_SESSION * this.limits.connections) return void socket.destroy()
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.#isProxy(socket.remoteAddress ?? '')) this.#beginProxied(socket, options)
    else this.#begin(socket, options)
  }

  #beginProxied(socket: Socket, options?: SMTPConnectionOptions | null): void {
    takeProxyHeader(socket, PROXY_HEADER_MS).then(
      (client) => {
        const named = client && { remoteAddress: client.address, remotePort: client.port }
        this.#begin(socket, { ...options, ...named })
      },
      () => socket.destroy(),
    )
  }

  #begin(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new PromptConnection(this, socket, options)
    this.connections.add(connection)
    connection.on('error', (error) => this.emit('error', error))
    connection.init()
    this.#timer ??= setInterval(() => this.#endIdle(), this.limits.tickMs).unref()
  }

  /**
   * Makes room for a connection that is already counted. Returns the reason if it must be refused, or null.
   */
  refusal(newcomer: PromptConnection): string | null {
    const { connections, connectionsPerAddress, connectionsWhenErring, errorsPerSource } = this.limits
    const others = this.#sessions.filter((session) => session !== newcomer)
    const max =
      this.errors.of(newcomer.source) < errorsPerSource ? connectionsPerAddress : connectionsWhenErring
    if (others.filter(({ source }) => source === newcomer.source).length >= max)
      return 'Too many connections from your address, try again in a moment'
    if (others.length < connections) return null
    const session = sessionToEvict(others, newcomer.source, this.clock.now().getTime())
    if (!session) return 'Too many connections, try again in a moment'
    session.evict()
    return null
  }

  hangUp(id: string, reason: string): void {
    for (const connection of this.connections) if (connection.id === id) connection.send(421, reason)
  }

  /** Ends all sessions; those whose message is being received get their reply first, for at most `graceMs`. */
  async shutDown(graceMs: number): Promise<void> {
    this.options.closeTimeout = graceMs
    const closed = new Promise<void>((resolve) => this.close(() => resolve()))
    for (const connection of [...this.connections])
      if (!this.busy.has(connection.id)) this.hangUp(connection.id, STOPPING)
    await closed
    for (const connection of [...this.connections]) connection._socket.destroy()
  }

  #endIdle(): void {
    const now = this.clock.now().getTime()
    for (const session of this.#sessions) {
      const reason = session.overdue(now)
      if (reason !== null) session.send(421, reason)
    }
    if (this.connections.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** The reply to a session that must end. */
export const STOPPING = 'Server shutting down'

/** Contexts, in smtp-server's terms, of replies that mean progress in a transaction. */
const PROGRESS = new Set<unknown>(['RCPT_TO_OK', 'DATA_OK'])
/** Those that wait for the replies to the commands that the client has sent already. */
const GROUPED = new Set<unknown>(['MAIL_FROM_OK', 'RCPT_TO_OK'])

const TOO_OLD = 'This session has lasted too long'

class PromptConnection extends SMTPConnection implements EvictableSession {
  readonly source: string = sourceOf(this.remoteAddress)
  readonly #limits: SmtpLimits
  readonly #beganAt: number
  progressAt: number
  #seenSending: number | null = null
  #commands = 0
  #recipients = 0
  #errors = 0
  #isHolding = false

  constructor(server: PromptSmtpServer, socket: Socket, options?: SMTPConnectionOptions | null) {
    super(server, socket, options)
    this.#limits = server.limits
    this.#beganAt = this.progressAt = server.clock.now().getTime()
  }

  get #server(): PromptSmtpServer {
    return this._server as PromptSmtpServer
  }

  get state(): EvictableSession['state'] {
    if (this._upgrading) return 'idle'
    if (this._dataStream && !this._dataStream.writableEnded) return 'sending'
    if (this._dataStream || this._handlerPending) return 'busy'
    return this.session.envelope?.mailFrom ? 'transaction' : 'idle'
  }

  get sendingSince(): number | null {
    return this.state === 'sending' ? this.#seenSending : null
  }

  get waitingSince(): number | null {
    const wait = this.#server.waits.get(this.id)
    return wait?.giveUp ? (wait.since ?? this.#server.clock.now().getTime()) : null
  }

  /** Closes this session in favour of another one. */
  evict(): void {
    const stream = this.state === 'sending' ? this._dataStream : null
    const wait = this.#server.waits.get(this.id)
    const why = stream ? 'slow' : wait?.giveUp ? 'waiting to be read' : 'idle'
    this.send(421, `Too many connections, and this one was ${why}`)
    wait?.giveUp?.()
    if (stream) stream.destroy(new Error('evicted in favour of another session'))
  }

  override init(): void {
    this._setListeners(() => {
      const refusal = this.#server.refusal(this)
      if (refusal !== null) this.send(421, `${this.name} ${refusal}`, false)
      else this.connectionReady()
    })
  }

  /** Returns why this session must be closed now, or null. */
  overdue(now: number): string | null {
    const { state } = this
    const { beforeMailMs, idleMs } = this.#limits
    this.#seenSending = state === 'sending' ? (this.#seenSending ?? now) : null
    const wait = this.#server.waits.get(this.id)
    if (wait?.giveUp) wait.since ??= now
    if (state === 'busy' || state === 'sending') {
      this.progressAt = now
      return null
    }
    if (this.#isOld(now)) return TOO_OLD
    return now - this.progressAt > (state === 'idle' ? beforeMailMs : idleMs)
      ? 'No message received for too long'
      : null
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    const refusal = this._upgrading ? null : this.#refusalOf(command.toString('latin1', 0, 5).toUpperCase())
    if (refusal === null) super._onCommand(command, callback)
    else this.send(421, refusal)
  }

  #refusalOf(verb: string): string | null {
    // In binary, a header ends the session by itself: it contains QUIT.
    if (verb === 'PROXY') return 'PROXY headers are not accepted from your address'
    // A client that sends one message after another is never idle when sessions are checked.
    if (verb === 'MAIL ' && this.#isOld(this.#server.clock.now().getTime())) return TOO_OLD
    const over =
      verb === 'RCPT '
        ? ++this.#recipients > this.#limits.recipientCommands
        : ++this.#commands > this.#limits.commands
    return over ? 'Too many commands without a message' : null
  }

  #isOld(now: number): boolean {
    return now - this.#beganAt > this.#limits.lifetimeMs
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (code === 250 && PROGRESS.has(context)) this.progressAt = this.#server.clock.now().getTime()
    if (code === 250 && context === 'DATA_OK') this.#commands = this.#recipients = 0
    this.#hold()
    super.send(code, data, context)
    if (!GROUPED.has(context)) this.#release()
    else process.nextTick(() => !(this._parser && this._parser.writableLength > 0) && this.#release())
    if (code >= 500) this.#noteError()
  }

  /** Replies to pipelined commands are sent as a unit (RFC 2920, 3.2). Alone, those to MAIL and RCPT took 8 % of the main thread. */
  #hold(): void {
    if (!this.#isHolding) this._socket.cork()
    this.#isHolding = true
  }

  #release(): void {
    if (this.#isHolding) this._socket.uncork()
    this.#isHolding = false
  }

  /**
   * A long list of recipients is not an error: each one above the limit of 100 gets a 452 (RFC 5321
   * 4.5.3.1.10).
   */
  #noteError(): void {
    if (this.#limits.countOwnNetworks || publicSourceOf(this.remoteAddress) !== null)
      this.#server.errors.note(this.source)
    if (++this.#errors >= this.#limits.errors) super.send(421, 'Too many errors')
  }
}
