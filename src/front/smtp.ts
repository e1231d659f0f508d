import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { domainOf } from '../core/address/email-address.ts'
import type { Key } from '../core/cell.ts'
import type { Listening } from '../core/channel/inbound.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { Arrivals } from '../core/http/arrivals.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import type { TlsFiles, TlsPair } from '../core/tls-pair.ts'
import {
  factsOf,
  loggable,
  openPort,
  PromptSmtpServer,
  Reply,
  recipientCandidates,
  replyTo,
  SMTP_LIMITS,
  type SmtpLimits,
  SmtpRecipients,
  STOPPING,
} from '../mail/index.ts'
import type { Cell } from './cells.ts'
import type { Directory } from './directory.ts'
import { CellSession, type SmtpReply } from './smtp-client.ts'
import { passMail, refusalOf } from './smtp-data.ts'

export interface FrontSmtpOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  /** The name in the greeting. */
  name: string
  tls: TlsPair | TlsFiles
  trustProxy: readonly string[]
  directory: Directory
  clock: Clock
  log: Logger
  metrics: Metrics
  limits?: Partial<SmtpLimits>
}

type Done = (error?: Error | null, message?: string) => void

/** Listens for mail, and passes each on to the installations of its recipients while it arrives. */
export const listenFront = (options: FrontSmtpOptions): Promise<Listening> => {
  const sessions = new FrontSessions(options)
  return openPort(sessions.server, options, (graceMs) => sessions.stop(graceMs))
}

const later = () => new Reply(451, 'Temporary failure, try again later')

/** MAIL as the client said it, as far as installations know its parameters. */
const mailOf = ({ envelope: { mailFrom } }: SMTPServerSession): string => {
  const { address = '', args = false } = mailFrom || {}
  const given: Record<string, unknown> = args || {}
  const parameters = ['SIZE', 'BODY'].flatMap((name) =>
    given[name] === undefined ? [] : [`${name}=${given[name]}`],
  )
  if (given.SMTPUTF8) parameters.push('SMTPUTF8')
  return [`MAIL FROM:<${address}>`, ...parameters].join(' ')
}

/** Where a recipient is. Not sure: an installation that does not answer may have the address. */
interface Found {
  cell: Cell
  isSure: boolean
}

class FrontSessions {
  readonly server: PromptSmtpServer
  readonly #options: FrontSmtpOptions
  readonly #limits: SmtpLimits
  readonly #recipients: SmtpRecipients
  readonly #arrivals: Arrivals
  readonly #stopping = new AbortController()
  /** By the client's session, those with installations. */
  readonly #onward = new Map<string, Map<Cell, CellSession>>()
  /** Those of clients that have gone, of which a command may still be worked on. */
  readonly #gone = new WeakSet<SMTPServerSession>()

  constructor(options: FrontSmtpOptions) {
    const { clock, name, tls, trustProxy } = options
    this.#options = options
    const limits = { ...SMTP_LIMITS, ...options.limits }
    this.#limits = limits
    const accepts = async (recipient: string) => (await this.#find(recipient)) !== null
    this.#recipients = new SmtpRecipients(
      { ...options, mailDomain: name, accepts },
      limits,
      this.#stopping.signal,
    )
    const { minBytesPerSecond, paceGraceMs: graceMs, paceWindowMs: windowMs, tickMs } = limits
    this.#arrivals = new Arrivals(clock, { minBytesPerSecond, graceMs, windowMs, tickMs })
    const settle = (work: Promise<string | undefined>, done: Done) =>
      void work.then(
        (message) => done(null, message),
        (error: unknown) => done(replyTo(error)),
      )
    this.server = new PromptSmtpServer(
      {
        ...{ name, tls, trustProxy },
        onRcptTo: (address, session, done) => settle(this.#recipient(address, session), done),
        onData: (stream, session, done) => settle(this.#data(stream, session), done),
        onClose: (session) => this.#close(session),
      },
      limits,
      clock,
    )
    this.server.on('error', (error) =>
      options.log.debug({ event: 'smtp.error', reason: messageOf(error) }, 'SMTP connection failed'),
    )
  }

  /** Whether a recipient is the one that every mail server has, without a domain or on the front's own name (RFC 5321, 4.5.1). */
  #isPostmaster(recipient: string): boolean {
    const { name } = this.#options
    return ['postmaster', `postmaster@${name.toLowerCase()}`].includes(recipient.toLowerCase())
  }

  /** The keys of a recipient: its addresses with and without a tag, and its domain, whose installation knows who else gets mail. */
  #keysOf(recipient: string): Key[] {
    const candidates = recipientCandidates(recipient)
    const [first] = candidates
    return first === undefined
      ? []
      : [...candidates.map((each): Key => `address:${each}`), `domain:${domainOf(first)}` as const]
  }

  /** The installation of a recipient; null if there is none. Throws `unavailable` when one that does not answer may be it. */
  async #find(recipient: string): Promise<Found | null> {
    if (this.#isPostmaster(recipient)) return { cell: this.#options.directory.first, isSure: true }
    const asked = this.#keysOf(recipient).map((key) => this.#options.directory.find(key))
    const answers = await Promise.allSettled(asked)
    const unsure = answers.find(({ status }) => status === 'rejected')
    const cell = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))[0]?.cell
    if (cell) return { cell, isSure: unsure === undefined }
    if (unsure) await Promise.all(asked)
    return null
  }

  /** Passes RCPT on to the recipient's installation, and rejects with its refusal. */
  async #recipient(address: SMTPServerAddress, session: SMTPServerSession): Promise<undefined> {
    await this.#recipients.check(address, session)
    const recipient = this.#isPostmaster(address.address) ? 'postmaster' : address.address
    const found = await this.#find(recipient)
    if (!found) throw later()
    const reply = await this.#pass(session, found.cell, recipient)
    if (reply.code < 300) return undefined
    if (reply.code !== 550 && reply.code !== 451) throw refusalOf(reply)
    // It may have moved since the front has asked, or move now.
    for (const key of this.#keysOf(recipient)) this.#options.directory.forget(key)
    const now = await this.#find(recipient)
    const another = now && now.cell !== found.cell ? await this.#pass(session, now.cell, recipient) : reply
    if (another.code < 300) return undefined
    throw now?.isSure === false ? later() : refusalOf(another)
  }

  async #pass(session: SMTPServerSession, cell: Cell, recipient: string): Promise<SmtpReply> {
    try {
      const onward = await this.#sessionWith(cell, session)
      if (onward.envelope !== session.envelope) {
        const begun = await this.#begin(onward, session)
        if (begun.code >= 300) return begun
      }
      const reply = await onward.command(`RCPT TO:<${recipient}>`)
      if (reply.code < 300) onward.accepted++
      return reply
    } catch (error) {
      const facts = {
        event: 'front.smtp',
        cell: cell.place.smtp.host,
        session: session.id,
        reason: messageOf(error),
      }
      this.#options.log.warn(facts, 'installation did not take a recipient')
      throw later()
    }
  }

  async #begin(onward: CellSession, session: SMTPServerSession): Promise<SmtpReply> {
    if (onward.envelope !== null) await onward.command('RSET')
    Object.assign(onward, { envelope: null, accepted: 0 })
    const begun = await onward.command(mailOf(session))
    if (begun.code < 300) onward.envelope = session.envelope
    return begun
  }

  /** The session with an installation; one that was lost in this transaction stays lost, as recipients were lost with it. */
  async #sessionWith(cell: Cell, session: SMTPServerSession): Promise<CellSession> {
    if (this.#gone.has(session)) throw new Error('the client has gone')
    const { id, remoteAddress, remotePort, hostNameAppearsAs: helo } = session
    const all = this.#onward.get(id) ?? new Map<Cell, CellSession>()
    this.#onward.set(id, all)
    const known = all.get(cell)
    if (known && (known.envelope === session.envelope || (known.isOpen && known.helo === helo))) return known
    known?.destroy()
    const onward = await CellSession.open(cell.place, { address: remoteAddress, port: remotePort }, helo)
    all.set(cell, onward)
    if (this.#onward.get(id) !== all) onward.destroy() // the client has gone meanwhile
    return onward
  }

  async #data(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const { log, metrics } = this.#options
    const started = performance.now()
    const { envelope, id } = session
    const onward = [...(this.#onward.get(id)?.values() ?? [])].filter(
      (each) => each.envelope === envelope && each.accepted > 0,
    )
    const facts = { ...factsOf(session), recipients: envelope.rcptTo.map(({ address }) => loggable(address)) }
    this.server.busy.add(id)
    let code = 250
    try {
      return await this.#watched(stream, id, () => passMail(stream, onward, this.#limits.size))
    } catch (error) {
      code = replyTo(error).responseCode
      throw error
    } finally {
      for (const each of onward) each.envelope = null
      this.server.busy.delete(id)
      metrics.count('answers', String(code))
      const ms = Math.round(performance.now() - started)
      const line = {
        event: 'front.mail',
        ...facts,
        installations: onward.length,
        code,
        bytes: stream.byteLength,
        ms,
      }
      log.info(line, 'mail passed on')
      // Deferred until the reply has been sent.
      if (this.#stopping.signal.aborted) setImmediate(() => this.server.hangUp(id, STOPPING))
    }
  }

  /** Ends a mail that arrives too slowly, or takes too long. */
  async #watched<T>(stream: SMTPServerDataStream, id: string, work: () => Promise<T>): Promise<T> {
    const abort = (reason: string) => {
      this.server.hangUp(id, reason)
      stream.destroy(new Error(reason))
    }
    const timer = setTimeout(() => abort('Message took too long'), this.#limits.dataMs)
    const arrival = this.#arrivals.watch({
      received: () => stream.byteLength,
      starved: () => !stream.readableEnded && stream.readableLength === 0,
      cut: () => abort('Message arrived too slowly'),
    })
    stream.once('end', () => arrival.end())
    return work().finally(() => {
      clearTimeout(timer)
      arrival.end()
    })
  }

  #close(session: SMTPServerSession): void {
    const { id } = session
    this.#gone.add(session)
    for (const onward of this.#onward.get(id)?.values() ?? []) onward.quit()
    this.#onward.delete(id)
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    return this.server.shutDown(graceMs)
  }
}
