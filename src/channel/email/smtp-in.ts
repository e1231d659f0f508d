import type { AddressInfo } from 'node:net'
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Listening } from '../channel.ts'
import { Room } from '../room.ts'
import { oneLine } from '../storable.ts'
import { domainOf, firstAccepted } from './address.ts'
import { Gathering } from './gathering.ts'
import { loggable } from './return-path.ts'
import { isExpected, Reply, replyTo } from './smtp-reply.ts'
import { PromptSmtpServer } from './smtp-server.ts'
import type { TlsPair } from './tls.ts'
import type { Envelope } from './verify.ts'

export interface SmtpInOptions {
  host: string
  /** 0: any free one. */
  port: number
  /** Our name in the greeting, and the domain of a bare `postmaster`. */
  mailDomain: string
  tls: TlsPair
  /** Whether somebody has this normalized address. */
  accepts(address: string): Promise<boolean>
  /** Resolves once the message is committed for every recipient; rejects with `unavailable` and words for the sender to have it again. */
  deliver(raw: Buffer, envelope: Envelope, recipients: string[]): Promise<void>
  clock: Clock
  log: Logger
  metrics?: Metrics | undefined
  limits?: Partial<SmtpLimits>
}

export interface SmtpLimits {
  /** Bytes of one message. */
  size: number
  recipients: number
  connections: number
  connectionsPerAddress: number
  /**
   * Messages longer than `smallBytes` that may be in memory at once, waiting for their turn: they are parsed, checked and stored one at a
   * time, which takes several times their size.
   */
  largeMails: number
  smallBytes: number
  /** Milliseconds that a long message waits for its place before it is asked to come again. */
  waitMs: number
  /** Milliseconds without a byte (RFC 5321 4.5.3.2: 5 minutes), and for one whole message. */
  idleMs: number
  dataMs: number
  /** Unknown recipients in one session, after which a harvester is sent away. */
  unknown: number
  /** Milliseconds before the answer to the second unknown recipient of a session, doubled with each further one up to the most. */
  tarpitMs: number
  mostTarpitMs: number
}

const LIMITS: SmtpLimits = {
  size: 25 * 1024 * 1024,
  recipients: 100,
  connections: 200,
  connectionsPerAddress: 50,
  largeMails: 2,
  smallBytes: 1024 * 1024,
  waitMs: 60_000,
  idleMs: 300_000,
  dataMs: 600_000,
  unknown: 20,
  tarpitMs: 100,
  mostTarpitMs: 2_000,
}

type Done = (error?: Error | null, message?: string) => void

/** Takes mail in over SMTP (STARTTLS, SIZE, 8BITMIME, SMTPUTF8, PIPELINING; no AUTH). Rejects when the port can't be had. */
export async function listenSmtp(options: SmtpInOptions): Promise<Listening> {
  const session = new Sessions(options, { ...LIMITS, ...options.limits })
  const { server } = session
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.server.off('error', reject)
      resolve()
    })
  })
  const { address, port, family } = server.server.address() as AddressInfo
  return {
    address: `${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    get sessions() {
      return server.connections.size
    },
    stop: (graceMs) => session.stop(graceMs),
  }
}

class Sessions {
  readonly server: PromptSmtpServer
  readonly #options: SmtpInOptions
  readonly #limits: SmtpLimits
  readonly #room: Room
  /** Where one long message is worked on. */
  readonly #desk = new Room(1)
  /** What each accepted RCPT stands for, normalized. */
  readonly #recipients = new WeakMap<SMTPServerAddress, string>()
  readonly #unknown = new WeakMap<SMTPServerSession, number>()
  /** Sessions with a message in hand, from DATA to its answer. */
  readonly #busy = new Set<string>()
  readonly #stopping = new AbortController()

  constructor(options: SmtpInOptions, limits: SmtpLimits) {
    this.#options = options
    this.#limits = limits
    this.#room = new Room(limits.largeMails)
    this.server = new PromptSmtpServer(
      {
        name: options.mailDomain,
        banner: 'ready',
        cert: options.tls.cert,
        key: options.tls.key,
        size: limits.size,
        rejectOversized: true,
        maxRecipients: limits.recipients,
        maxClients: limits.connections,
        socketTimeout: limits.idleMs,
        hideENHANCEDSTATUSCODES: false,
        disabledCommands: ['AUTH'],
        authOptional: true,
        disableReverseLookup: true,
        logger: false,
        onRcptTo: (address, session, done) => this.#settle(this.#recipient(address, session), done),
        onData: (stream, session, done) => this.#settle(this.#data(stream, session), done),
      },
      limits.connectionsPerAddress,
    )
    // Broken handshakes, resets, garbage: the other side's affair.
    this.server.on('error', (error) => options.log.debug({ event: 'smtp.error', reason: messageOf(error) }, 'an SMTP connection failed'))
  }

  #settle(work: Promise<string | undefined>, done: Done): void {
    work.then(
      (message) => done(null, message),
      (error: unknown) => done(replyTo(error)),
    )
  }

  async #recipient(address: SMTPServerAddress, session: SMTPServerSession): Promise<undefined> {
    const written = address.address.includes('@') ? address.address : `${address.address}@${this.#options.mailDomain}`
    const found = await firstAccepted(written, (candidate) => this.#accepts(candidate))
    if (found !== null) {
      this.#recipients.set(address, found)
      return undefined
    }
    await this.#tarpit(session)
    const ours = domainOf(written).toLowerCase() === this.#options.mailDomain.toLowerCase()
    throw new Reply(550, ours ? 'No such recipient here' : 'No such recipient here, relay denied')
  }

  /** Makes guessing names slow, and ends it after a while. One mistyped name costs nothing. */
  async #tarpit(session: SMTPServerSession): Promise<void> {
    const { unknown: most, tarpitMs, mostTarpitMs } = this.#limits
    const unknown = (this.#unknown.get(session) ?? 0) + 1
    this.#unknown.set(session, unknown)
    this.#options.metrics?.count('answers', unknown > most ? '421' : '550')
    if (unknown > 1) await this.#options.clock.sleep(Math.min(tarpitMs * 2 ** (unknown - 2), mostTarpitMs), this.#stopping.signal)
    if (unknown > most) throw new Reply(421, 'Too many unknown recipients')
  }

  async #accepts(candidate: string): Promise<boolean> {
    try {
      return await this.#options.accepts(candidate)
    } catch (error) {
      this.#options.log.error({ event: 'smtp.rcpt', reason: messageOf(error) }, 'a recipient could not be looked up')
      throw error
    }
  }

  async #data(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const started = performance.now()
    const held = { place: false }
    this.#busy.add(session.id)
    const timer = setTimeout(() => this.#hangUp(session.id, 'Message took too long'), this.#limits.dataMs)
    const recipients = [...new Set(session.envelope.rcptTo.flatMap((address) => this.#recipients.get(address) ?? []))]
    let bytes = 0
    let outcome = 'accepted'
    try {
      const raw = await this.#collect(stream, held)
      bytes = stream.byteLength
      clearTimeout(timer)
      await this.#deliver(raw, session, recipients)
      return 'OK: message stored'
    } catch (error) {
      outcome = isExpected(error) ? `${replyTo(error).responseCode}` : `failed: ${oneLine(messageOf(error), 300)}`
      throw error
    } finally {
      clearTimeout(timer)
      if (held.place) this.#room.leave()
      this.#finish(session, { outcome, recipients, bytes: bytes || stream.byteLength, ms: Math.round(performance.now() - started) })
    }
  }

  async #deliver(raw: Buffer, session: SMTPServerSession, recipients: string[]): Promise<void> {
    const deliver = () => this.#options.deliver(raw, envelopeOf(session), recipients)
    if (raw.length <= this.#limits.smallBytes) return deliver()
    if (!(await this.#desk.enter(this.#limits.waitMs))) throw TOO_MANY_LONG
    try {
      await deliver()
    } finally {
      this.#desk.leave()
    }
  }

  /** The whole message; reads to its end even when it can't be taken, so that the client gets its answer. */
  async #collect(stream: SMTPServerDataStream, held: { place: boolean }): Promise<Buffer> {
    const { size, smallBytes, waitMs } = this.#limits
    const gathering = new Gathering()
    let bytes = 0
    let refusal: Reply | null = null
    for await (const chunk of untilBroken(stream)) {
      bytes += chunk.length
      if (refusal === null && bytes > size) refusal = new Reply(552, `Message is longer than ${size} bytes`)
      if (refusal === null && bytes > smallBytes && !held.place) {
        held.place = await this.#room.enter(waitMs)
        if (held.place) gathering.reserve(size)
        else refusal = TOO_MANY_LONG
      }
      if (refusal === null) gathering.add(chunk)
      else gathering.drop()
    }
    if (refusal !== null) throw refusal
    return gathering.take()
  }

  #finish(session: SMTPServerSession, facts: { outcome: string; recipients: string[]; bytes: number; ms: number }): void {
    this.#busy.delete(session.id)
    const { remoteAddress, hostNameAppearsAs, secure, id } = session
    const envelope = {
      session: id,
      remoteAddress,
      helo: oneLine(String(hostNameAppearsAs), 255),
      tls: secure,
      reversePath: loggable(reversePathOf(session)),
    }
    const answer = facts.outcome === 'accepted' ? '250' : facts.outcome.startsWith('failed') ? '451' : facts.outcome
    this.#options.metrics?.count('answers', answer)
    const level = facts.outcome.startsWith('failed') ? 'error' : 'info'
    this.#options.log[level](
      { event: 'smtp.inbound', ...envelope, ...facts, recipients: facts.recipients.map(loggable) },
      'a message came in',
    )
    // After the answer has gone out, not before it.
    if (this.#stopping.signal.aborted) setImmediate(() => this.#hangUp(id, 'Server shutting down'))
  }

  #hangUp(id: string, reason: string): void {
    for (const connection of this.server.connections) if (connection.id === id) connection.send(421, reason)
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    this.server.options.closeTimeout = graceMs
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    for (const connection of [...this.server.connections])
      if (!this.#busy.has(connection.id)) this.#hangUp(connection.id, 'Server shutting down')
    await closed
    for (const connection of [...this.server.connections]) connection._socket.destroy()
  }
}

/** The message's bytes. Rejects with a `Reply` when the sender goes away in the middle: their affair, and nobody hears it. */
async function* untilBroken(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch {
    throw new Reply(421, 'The connection broke off')
  }
}

const TOO_MANY_LONG = new Reply(451, 'Too many long messages at once, try again later')

const reversePathOf = (session: SMTPServerSession): string => (session.envelope.mailFrom ? session.envelope.mailFrom.address : '')

const envelopeOf = (session: SMTPServerSession): Envelope => ({
  ip: session.remoteAddress,
  helo: oneLine(String(session.hostNameAppearsAs), 255),
  reversePath: reversePathOf(session),
})
