import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Listening } from '../core/channel/inbound.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Metrics } from '../core/metrics.ts'
import type { TlsFiles, TlsPair } from '../core/tls-pair.ts'
import {
  factsOf,
  loggable,
  openPort,
  PromptSmtpServer,
  Reply,
  replyTo,
  SMTP_LIMITS,
  type SmtpLimits,
  SmtpPace,
  SmtpRecipients,
  STOPPING,
} from '../mail/index.ts'
import type { Cell } from './cells.ts'
import type { Found, Recipients } from './recipients.ts'
import { CellSession, type SmtpReply } from './smtp-client.ts'
import { forwardMessage, refusalOf } from './smtp-data.ts'

export interface FrontSmtpOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  /** The name in the greeting. */
  name: string
  tls: TlsPair | TlsFiles
  trustProxy: readonly string[]
  recipients: Recipients
  /** The installation that gets the mail for the front's own postmaster. */
  postmaster: Cell
  clock: Clock
  log: Logger
  metrics: Metrics
  limits?: Partial<SmtpLimits>
}

/** Listens for mail, and forwards each message to the installations of its recipients while it arrives. */
export const listenFront = (options: FrontSmtpOptions): Promise<Listening> => {
  const sessions = new FrontSessions(options)
  return openPort(sessions.server, options, sessions.stopping)
}

const later = () => new Reply(451, 'Temporary failure, try again later')

/** The client's MAIL command, with the parameters that installations support. */
const mailOf = ({ envelope: { mailFrom } }: SMTPServerSession): string => {
  const { address = '', args = false } = mailFrom || {}
  const given: Record<string, unknown> = args || {}
  const parameters = ['SIZE', 'BODY'].flatMap((name) =>
    given[name] === undefined ? [] : [`${name}=${given[name]}`],
  )
  if (given.SMTPUTF8) parameters.push('SMTPUTF8')
  return [`MAIL FROM:<${address}>`, ...parameters].join(' ')
}

class FrontSessions {
  readonly server: PromptSmtpServer
  readonly stopping = new AbortController()
  readonly #options: FrontSmtpOptions
  readonly #limits: SmtpLimits
  readonly #recipients: SmtpRecipients
  readonly #pace: SmtpPace
  /** The sessions with installations, by the id of the client's. */
  readonly #upstream = new Map<string, Map<Cell, CellSession>>()
  /** Sessions of clients that have disconnected, of which a command may still be in progress. */
  readonly #closed = new WeakSet<SMTPServerSession>()

  constructor(options: FrontSmtpOptions) {
    const { clock, name, tls, trustProxy } = options
    this.#options = options
    this.#limits = { ...SMTP_LIMITS, ...options.limits }
    const accepts = async (recipient: string) => (await this.#find(recipient)) !== null
    this.#recipients = new SmtpRecipients(
      { ...options, mailDomain: name, accepts },
      this.#limits,
      this.stopping.signal,
    )
    this.server = new PromptSmtpServer(
      {
        ...{ name, tls, trustProxy },
        onRecipient: (address, session) => this.#recipient(address, session),
        onMessage: (stream, session) => this.#message(stream, session),
        onClose: (session) => this.#close(session),
      },
      this.#limits,
      clock,
    )
    this.#pace = new SmtpPace(this.server, this.#limits, clock)
  }

  /** Whether a recipient is the postmaster of the front, whom every mail server has (RFC 5321, 4.5.1). */
  #isPostmaster(recipient: string): boolean {
    const { name } = this.#options
    return ['postmaster', `postmaster@${name.toLowerCase()}`].includes(recipient.toLowerCase())
  }

  async #find(recipient: string): Promise<Found | null> {
    const { postmaster, recipients } = this.#options
    return this.#isPostmaster(recipient) ? { cell: postmaster, isSure: true } : recipients.find(recipient)
  }

  /** Forwards RCPT to the recipient's installation, and rejects with its refusal. */
  async #recipient(address: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
    await this.#recipients.check(address, session)
    const recipient = this.#isPostmaster(address.address) ? 'postmaster' : address.address
    const found = await this.#find(recipient)
    if (!found) throw later()
    const reply = await this.#forward(session, found.cell, recipient)
    if (reply.code < 300) return
    if (reply.code !== 550 && reply.code !== 451) throw refusalOf(reply)
    const current = await this.#options.recipients.findAgain(recipient)
    const hasMoved = current && current.cell !== found.cell
    const latest = hasMoved ? await this.#forward(session, current.cell, recipient) : reply
    if (latest.code < 300) return
    throw current?.isSure === false ? later() : refusalOf(latest)
  }

  async #forward(session: SMTPServerSession, cell: Cell, recipient: string): Promise<SmtpReply> {
    try {
      const upstream = await this.#sessionWith(cell, session)
      if (upstream.envelope !== session.envelope) {
        const begun = await this.#begin(upstream, session)
        if (begun.code >= 300) return begun
      }
      const reply = await upstream.command(`RCPT TO:<${recipient}>`)
      if (reply.code < 300) upstream.accepted++
      return reply
    } catch (error) {
      const facts = {
        event: 'front.smtp',
        cell: cell.address.smtp.host,
        session: session.id,
        reason: messageOf(error),
      }
      this.#options.log.warn(facts, 'installation did not take a recipient')
      throw later()
    }
  }

  async #begin(upstream: CellSession, session: SMTPServerSession): Promise<SmtpReply> {
    if (upstream.envelope !== null) await upstream.command('RSET')
    Object.assign(upstream, { envelope: null, accepted: 0 })
    const begun = await upstream.command(mailOf(session))
    if (begun.code < 300) upstream.envelope = session.envelope
    return begun
  }

  /** The session with an installation. One that was lost in this transaction is not replaced: its recipients were lost with it. */
  async #sessionWith(cell: Cell, session: SMTPServerSession): Promise<CellSession> {
    if (this.#closed.has(session)) throw new Error('the client has disconnected')
    const { id, remoteAddress, remotePort, hostNameAppearsAs: helo } = session
    const all = this.#upstream.get(id) ?? new Map<Cell, CellSession>()
    this.#upstream.set(id, all)
    const known = all.get(cell)
    if (known && (known.envelope === session.envelope || (known.isOpen && known.helo === helo))) return known
    known?.destroy()
    const opened = await CellSession.open(cell.address, { address: remoteAddress, port: remotePort }, helo)
    all.set(cell, opened)
    if (this.#upstream.get(id) !== all) opened.destroy() // the client has disconnected meanwhile
    return opened
  }

  async #message(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const { log, metrics } = this.#options
    const started = performance.now()
    const { envelope, id } = session
    const upstream = [...(this.#upstream.get(id)?.values() ?? [])].filter(
      (each) => each.envelope === envelope && each.accepted > 0,
    )
    const recipients = envelope.rcptTo.map(({ address }) => loggable(address))
    const facts = { ...factsOf(session), recipients, installations: upstream.length }
    this.server.busy.add(id)
    const { arrival, end } = this.#pace.watch(stream, id)
    stream.once('end', () => arrival.end())
    let code = 250
    try {
      return await forwardMessage(stream, upstream, this.#limits.size)
    } catch (error) {
      code = replyTo(error).responseCode
      throw error
    } finally {
      end()
      for (const each of upstream) each.envelope = null
      this.server.busy.delete(id)
      metrics.count('answers', String(code))
      const outcome = { code, bytes: stream.byteLength, ms: Math.round(performance.now() - started) }
      log.info({ event: 'front.mail', ...facts, ...outcome }, 'mail passed on')
      // Deferred until the reply has been sent.
      if (this.stopping.signal.aborted) setImmediate(() => this.server.hangUp(id, STOPPING))
    }
  }

  #close(session: SMTPServerSession): void {
    const { id } = session
    this.#closed.add(session)
    for (const upstream of this.#upstream.get(id)?.values() ?? []) upstream.quit()
    this.#upstream.delete(id)
  }
}
