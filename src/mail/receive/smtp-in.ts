import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { sourceOf } from '../../core/address/source.ts'
import type { Listening } from '../../core/channel/inbound.ts'
import { messageOf } from '../../core/errors.ts'
import { Arrivals } from '../../core/http/arrivals.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import type { TlsFiles, TlsPair } from '../../core/tls-pair.ts'
import { noTracer, type Tracer, traced } from '../../core/tracer.ts'
import { loggable } from '../bounce/return-path.ts'
import type { Wait } from '../reading/mail-reader.ts'
import type { Envelope } from '../verify/verify.ts'
import type { ArrivingMail, Intake } from './intake.ts'
import type { DeliveryInfo } from './reception.ts'
import { collect } from './smtp-collect.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import { openPort } from './smtp-port.ts'
import { type RecipientOptions, SmtpRecipients } from './smtp-recipients.ts'
import { isExpected, replyTo } from './smtp-reply.ts'
import { PromptSmtpServer, STOPPING } from './smtp-server.ts'
import { envelopeOf, factsOf, originOf } from './smtp-session.ts'

export interface SmtpInOptions extends RecipientOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  tls: TlsPair | TlsFiles
  /** Addresses and CIDRs of proxies that may say who their client is. */
  trustProxy?: readonly string[] | undefined
  /**
   * Resolves once the message is committed for every recipient. Rejects with `unavailable` if the client
   * should retry; the error's message is sent to it.
   */
  deliver(raw: Buffer, envelope: Envelope, recipients: string[], info: DeliveryInfo): Promise<void>
  tracer?: Tracer
  intake: Intake
  limits: SmtpLimits
}

type Done = (error?: Error | null, message?: string) => void

/**
 * Starts an SMTP server (STARTTLS, SIZE, 8BITMIME, SMTPUTF8, PIPELINING; no AUTH). Rejects if it cannot
 * listen on the port.
 */
export const listenSmtp = (options: SmtpInOptions): Promise<Listening> => {
  const sessions = new Sessions(options, options.limits)
  return openPort(sessions.server, options, (graceMs) => sessions.stop(graceMs))
}

class Sessions {
  readonly server: PromptSmtpServer
  readonly #options: SmtpInOptions
  readonly #limits: SmtpLimits
  readonly #arrivals: Arrivals
  readonly #recipients: SmtpRecipients
  readonly #stopping = new AbortController()

  constructor(options: SmtpInOptions, limits: SmtpLimits) {
    this.#options = options
    this.#limits = limits
    this.#recipients = new SmtpRecipients(options, limits, this.#stopping.signal)
    const { minBytesPerSecond, paceGraceMs: graceMs, paceWindowMs: windowMs, tickMs } = limits
    this.#arrivals = new Arrivals(options.clock, { minBytesPerSecond, graceMs, windowMs, tickMs })
    this.server = new PromptSmtpServer(
      {
        name: options.mailDomain,
        tls: options.tls,
        trustProxy: options.trustProxy ?? [],
        onRcptTo: (address, session, done) => this.#settle(this.#recipients.check(address, session), done),
        onData: (stream, session, done) => this.#settle(this.#data(stream, session), done),
      },
      limits,
      options.clock,
    )
    // Broken handshakes, resets and invalid input are caused by the client.
    this.server.on('error', (error) =>
      options.log.debug({ event: 'smtp.error', reason: messageOf(error) }, 'SMTP connection failed'),
    )
  }

  #settle(work: Promise<string | undefined>, done: Done): void {
    work.then(
      (message) => done(null, message),
      (error: unknown) => done(replyTo(error)),
    )
  }

  async #data(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const started = performance.now()
    this.server.busy.add(session.id)
    const recipients = this.#recipients.of(session)
    const wait: Wait = { giveUp: null }
    this.server.waits.set(session.id, wait)
    let outcome = 'accepted'
    let mail: ArrivingMail | undefined
    try {
      const arriving = this.#collect(stream, session, wait)
      mail = arriving.mail
      await this.#deliver(await arriving.raw, session, { recipients, wait })
      return 'OK: message stored'
    } catch (error) {
      outcome = isExpected(error)
        ? `${replyTo(error).responseCode}`
        : `failed: ${oneLine(messageOf(error), 300)}`
      throw error
    } finally {
      await mail?.end()
      this.#finish(session, {
        outcome,
        recipients,
        bytes: stream.byteLength,
        ms: Math.round(performance.now() - started),
      })
    }
  }

  async #deliver(
    raw: Buffer,
    session: SMTPServerSession,
    { recipients, wait }: { recipients: string[]; wait: Wait },
  ): Promise<void> {
    const received = performance.now()
    let outcome = 'not_stored'
    try {
      const { tracer = noTracer, deliver } = this.#options
      const attributes = {
        'smtp.session': session.id,
        'smtp.recipients': recipients.length,
        bytes: raw.length,
      }
      await traced(tracer, 'SMTP DATA', { kind: 'server', attributes }, () =>
        deliver(raw, envelopeOf(session), recipients, { origin: originOf(session), wait }),
      )
      outcome = 'stored'
    } finally {
      this.#options.metrics?.observe('mails', outcome, (performance.now() - received) / 1000)
    }
  }

  /**
   * Receives the whole message. If it arrives too slowly, the client gets an error, the connection is closed,
   * and the data is discarded at once.
   */
  #collect(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    wait: Wait,
  ): { mail: ArrivingMail; raw: Promise<Buffer> } {
    const abort = (reason: string) => {
      this.server.hangUp(session.id, reason)
      stream.destroy(new Error(reason))
    }
    const timer = setTimeout(() => abort('Message took too long'), this.#limits.dataMs)
    const arrival = this.#arrivals.watch({
      received: () => stream.byteLength,
      starved: () => stream.readableLength === 0,
      cut: (why) =>
        abort(
          why === 'slow' ? 'Message arrived too slowly' : 'Message arrived slowly, and its place was needed',
        ),
    })
    const mail = this.#options.intake.begin(arrival, sourceOf(session.remoteAddress))
    const raw = collect(stream, mail, this.#limits.size, wait).finally(() => clearTimeout(timer))
    return { mail, raw }
  }

  #finish(
    session: SMTPServerSession,
    facts: { outcome: string; recipients: string[]; bytes: number; ms: number },
  ): void {
    this.server.busy.delete(session.id)
    this.server.waits.delete(session.id)
    const answer =
      facts.outcome === 'accepted' ? '250' : facts.outcome.startsWith('failed') ? '451' : facts.outcome
    this.#options.metrics?.count('answers', answer)
    const level = facts.outcome.startsWith('failed') ? 'error' : 'info'
    this.#options.log[level](
      { event: 'smtp.inbound', ...factsOf(session), ...facts, recipients: facts.recipients.map(loggable) },
      'message received over SMTP',
    )
    // Deferred until the reply has been sent.
    if (this.#stopping.signal.aborted) setImmediate(() => this.server.hangUp(session.id, STOPPING))
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    return this.server.shutDown(graceMs)
  }
}
