import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { domainOf } from '../../core/address/email-address.ts'
import { publicSourceOf, sourceOf } from '../../core/address/source.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { WindowCounts } from '../../core/window-counts.ts'
import { loggable } from '../bounce/return-path.ts'
import { firstAccepted } from '../header/address.ts'
import type { SmtpLimits } from './smtp-limits.ts'
import { Reply } from './smtp-reply.ts'
import { factsOf } from './smtp-session.ts'

export interface RecipientOptions {
  /** Domain of a bare `postmaster`, and the host name in the greeting. */
  mailDomain: string
  /** Whether this normalized address exists here. */
  accepts(address: string): Promise<boolean>
  clock: Clock
  log: Logger
  metrics?: Metrics | undefined
}

const GUESSES_WINDOW_MS = 3_600_000

/** Checks the recipient of each RCPT command, and slows down clients that guess addresses. */
export class SmtpRecipients {
  readonly #options: RecipientOptions
  readonly #limits: SmtpLimits
  readonly #stopping: AbortSignal
  /** Normalized address of each accepted RCPT. */
  readonly #accepted = new WeakMap<SMTPServerAddress, string>()
  readonly #unknown = new WeakMap<SMTPServerSession, number>()
  /** Unknown recipients by source: a client that guesses reconnects. */
  readonly #guesses: WindowCounts

  constructor(options: RecipientOptions, limits: SmtpLimits, stopping: AbortSignal) {
    this.#options = options
    this.#limits = limits
    this.#stopping = stopping
    this.#guesses = new WindowCounts(options.clock, GUESSES_WINDOW_MS)
  }

  /** Returns the normalized addresses that were accepted in this transaction, each once. */
  of({ envelope }: SMTPServerSession): string[] {
    return [...new Set(envelope.rcptTo.flatMap((address) => this.#accepted.get(address) ?? []))]
  }

  /** Rejects with the reply to the client when the recipient does not exist. */
  async check(address: SMTPServerAddress, session: SMTPServerSession): Promise<void> {
    const { mailDomain, log } = this.#options
    const source = this.#sourceOf(session)
    if (source !== '' && this.#guesses.of(source) >= this.#limits.unknownPerSource)
      throw new Reply(450, 'Too many unknown recipients from your address, try again later')
    const recipient = address.address.includes('@') ? address.address : `${address.address}@${mailDomain}`
    const normalized = await firstAccepted(recipient, (candidate) => this.#accepts(candidate))
    if (normalized !== null) return void this.#accepted.set(address, normalized)
    log.info(
      {
        event: 'smtp.rcpt',
        ...factsOf(session),
        recipient: loggable(oneLine(recipient, 320)),
        outcome: '550',
      },
      'recipient refused over SMTP',
    )
    await this.#tarpit(session)
    const isOwnDomain = domainOf(recipient).toLowerCase() === mailDomain.toLowerCase()
    throw new Reply(550, isOwnDomain ? 'No such recipient here' : 'No such recipient here, relay denied')
  }

  /** '' for the operator's own networks, which is never limited. */
  #sourceOf({ remoteAddress }: SMTPServerSession): string {
    return this.#limits.countOwnNetworks ? sourceOf(remoteAddress) : (publicSourceOf(remoteAddress) ?? '')
  }

  async #accepts(candidate: string): Promise<boolean> {
    try {
      return await this.#options.accepts(candidate)
    } catch (error) {
      const isExpected = error instanceof AppError && error.code === 'unavailable' // as while a workspace moves
      const facts = { event: 'smtp.rcpt', reason: messageOf(error) }
      this.#options.log[isExpected ? 'debug' : 'error'](facts, 'could not look up recipient')
      throw error
    }
  }

  /**
   * Slows down address guessing and eventually ends the session. The first unknown recipient is not delayed.
   */
  async #tarpit(session: SMTPServerSession): Promise<void> {
    const { unknown: maxUnknown, tarpitMs, maxTarpitMs } = this.#limits
    const unknown = (this.#unknown.get(session) ?? 0) + 1
    this.#unknown.set(session, unknown)
    this.#guesses.note(this.#sourceOf(session))
    this.#options.metrics?.count('answers', unknown > maxUnknown ? '421' : '550')
    if (unknown > 1)
      await this.#options.clock.sleep(Math.min(tarpitMs * 2 ** (unknown - 2), maxTarpitMs), this.#stopping)
    if (unknown > maxUnknown) throw new Reply(421, 'Too many unknown recipients')
  }
}
