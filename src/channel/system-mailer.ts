import { randomUUID } from 'node:crypto'
import type { InboundAttachment } from '../core/channel/inbound.ts'
import type { Outbound } from '../core/channel/outbound.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Channel } from './channel.ts'

export interface SystemMailerOptions {
  email: Pick<Channel, 'normalize' | 'send'>
  mailDomain: string
  clock: Clock
  log: Logger
}

export interface SystemMail {
  to: string
  subject: string
  text: string
  attachments?: InboundAttachment[]
  report?: NonNullable<Outbound['report']>
}

/** Time limit in milliseconds for one system mail. */
const TIMEOUT_MS = 30_000

/** Sends the service's own mail to people from no-reply@ its own domain. It is tried once and not stored. */
export class SystemMailer {
  readonly #options: SystemMailerOptions
  readonly #inFlight = new Set<Promise<unknown>>()

  constructor(options: SystemMailerOptions) {
    this.#options = options
  }

  normalize(address: string): string {
    return this.#options.email.normalize(address)
  }

  /** Sends in the background. Failures are logged. */
  send({ to, ...mail }: SystemMail): void {
    const { log } = this.#options
    const sending = this.deliver([to], mail)
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'could not send system mail'))
      .finally(() => this.#inFlight.delete(sending))
    this.#inFlight.add(sending)
  }

  /** Resolves when all mail in flight has been sent or has failed. */
  async stop(): Promise<void> {
    await Promise.all(this.#inFlight)
  }

  /**
   * Sends one mail to several recipients. Resolves with whether a retry is unnecessary; rejects when it could
   * not be sent at all.
   */
  async deliver(
    to: readonly string[],
    { attachments = [], ...content }: Omit<SystemMail, 'to'>,
  ): Promise<boolean> {
    const { email, mailDomain, clock, log } = this.#options
    const { rejected } = await email.send(
      {
        from: { address: `no-reply@${mailDomain}`, name: 'Agent Messaging Service' },
        envelopeTo: [...to],
        to: [...to],
        cc: [],
        ...content,
        messageId: `${randomUUID()}@${mailDomain}`,
        inReplyTo: null,
        references: [],
        attachments,
        createdAt: clock.now(),
      },
      AbortSignal.timeout(TIMEOUT_MS),
    )
    for (const { reason } of rejected) log.warn({ reason }, 'system mail refused')
    return rejected.every(({ permanent }) => permanent)
  }
}
