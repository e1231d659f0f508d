import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { sourceOf } from '../../core/address/source.ts'
import type { Listening } from '../../core/channel/inbound.ts'
import { messageOf } from '../../core/errors.ts'
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
import { SmtpPace } from './smtp-pace.ts'
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

/**
 * Starts an SMTP server (STARTTLS, SIZE, 8BITMIME, SMTPUTF8, PIPELINING; no AUTH). Rejects if it cannot
 * listen on the port.
 */
export const listenSmtp = (options: SmtpInOptions): Promise<Listening> => {
  const sessions = new Sessions(options, options.limits)
  return openPort(sessions.server, options, sessions.stopping)
}

class Sessions {
  readonly server: PromptSmtpServer
  readonly stopping = new AbortController()
  readonly #options: SmtpInOptions
  readonly #limits: SmtpLimits
  readonly #pace: SmtpPace
  readonly #recipients: SmtpRecipients

  constructor(options: SmtpInOptions, limits: SmtpLimits) {
    this.#options = options
    this.#limits = limits
    this.#recipients = new SmtpRecipients(options, limits, this.stopping.signal)
    this.server = new PromptSmtpServer(
      {
        name: options.mailDomain,
        tls: options.tls,
        trustProxy: options.trustProxy ?? [],
        onRecipient: (address, session) => this.#recipients.check(address, session),
        onMessage: (stream, session) => this.#receive(stream, session),
      },
      limits,
      options.clock,
    )
    this.#pace = new SmtpPace(this.server, limits, options.clock)
  }

  async #receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
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

  /** Receives the whole message. If it arrives too slowly, it is discarded at once. */
  #collect(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    wait: Wait,
  ): { mail: ArrivingMail; raw: Promise<Buffer> } {
    const { arrival, end } = this.#pace.watch(stream, session.id)
    const mail = this.#options.intake.begin(arrival, sourceOf(session.remoteAddress))
    return { mail, raw: collect(stream, mail, this.#limits.size, wait).finally(end) }
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
    if (this.stopping.signal.aborted) setImmediate(() => this.server.hangUp(session.id, STOPPING))
  }
}
