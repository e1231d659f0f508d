import type { Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { Clock } from '../../../core/clock.ts'
import { publicSourceOf, sourceOf } from '../../../core/source.ts'
import { WindowCounts } from '../../../core/window-counts.ts'
import { type EvictableSession, sessionToEvict } from './smtp-eviction.ts'
import type { SmtpLimits } from './smtp-limits.ts'

/**
 * Sockets that may be open for each session that may: a client that was sent away may keep its end open for
 * some seconds.
 */
const SOCKETS_PER_SESSION = 2
const ERRORS_WINDOW_MS = 600_000

/**
 * smtp-server that greets at once (its own 100 ms of silence catches clients that talk too soon, which a
 * filter for open relays wants, but every sender's every connection pays for it), and that always has a place
 * for one more sender: sessions that do nothing end early, and give way when all places are taken.
 */
export class PromptSmtpServer extends SMTPServer {
  readonly limits: SmtpLimits
  readonly clock: Clock
  /** Errors that each source was answered: who guesses names comes back with another session. */
  readonly errors: WindowCounts
  readonly #sockets = new Set<Socket>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: ConstructorParameters<typeof SMTPServer>[0], limits: SmtpLimits, clock: Clock) {
    super(options)
    this.limits = limits
    this.clock = clock
    this.errors = new WindowCounts(clock, ERRORS_WINDOW_MS)
  }

  get #guests(): PromptConnection[] {
    return [...this.connections] as PromptConnection[]
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    if (this.#sockets.size >= SOCKETS_PER_SESSION * this.limits.connections) return void socket.destroy()
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const connection = new PromptConnection(this, socket, options)
    this.connections.add(connection)
    connection.on('error', (error) => this.emit('error', error))
    connection.init()
    this.#timer ??= setInterval(() => this.#endIdle(), this.limits.tickMs).unref()
  }

  /** Makes room for a connection that is already counted. Returns why it can't be taken now, or null. */
  refusal(newcomer: PromptConnection): string | null {
    const { connections, connectionsPerAddress, connectionsWhenErring, errorsPerSource } = this.limits
    const others = this.#guests.filter((guest) => guest !== newcomer)
    const most =
      this.errors.of(newcomer.source) < errorsPerSource ? connectionsPerAddress : connectionsWhenErring
    if (others.filter(({ source }) => source === newcomer.source).length >= most)
      return 'Too many connections from your address, try again in a moment'
    if (others.length < connections) return null
    const guest = sessionToEvict(others, newcomer.source, this.clock.now().getTime())
    if (!guest) return 'Too many connections, try again in a moment'
    guest.giveWay()
    return null
  }

  #endIdle(): void {
    const now = this.clock.now().getTime()
    for (const guest of this.#guests) {
      const reason = guest.overdue(now)
      if (reason !== null) guest.send(421, reason)
    }
    if (this.connections.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** What a reply to a command of a transaction is about, in smtp-server's words. */
const FURTHER = new Set<unknown>(['RCPT_TO_OK', 'DATA_OK'])

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

  /** Ends it in favour of another one. */
  giveWay(): void {
    const stream = this.state === 'sending' ? this._dataStream : null
    this.send(421, `Too many connections, and this one was ${stream ? 'slow' : 'idle'}`)
    if (stream) stream.destroy(new Error('it gave way to another session'))
  }

  override init(): void {
    this._setListeners(() => {
      const refusal = this.#server.refusal(this)
      if (refusal !== null) this.send(421, `${this.name} ${refusal}`, false)
      else this.connectionReady()
    })
  }

  /** Why this session has lasted too long by now, or null. */
  overdue(now: number): string | null {
    const { state } = this
    const { beforeMailMs, idleMs } = this.#limits
    this.#seenSending = state === 'sending' ? (this.#seenSending ?? now) : null
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
    // One message after the other would never let the session be idle when it is looked at.
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
    if (code === 250 && FURTHER.has(context)) this.progressAt = this.#server.clock.now().getTime()
    if (code === 250 && context === 'DATA_OK') this.#commands = this.#recipients = 0
    super.send(code, data, context)
    if (code >= 500) this.#noteError()
  }

  /**
   * A long list of recipients is no error: each beyond the hundredth is answered 452 (RFC 5321 4.5.3.1.10).
   */
  #noteError(): void {
    if (this.#limits.countOwnNetworks || publicSourceOf(this.remoteAddress) !== null)
      this.#server.errors.note(this.source)
    if (++this.#errors >= this.#limits.errors) super.send(421, 'Too many errors')
  }
}
