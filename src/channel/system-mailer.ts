import { randomUUID } from 'node:crypto'
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
}

/** How long one letter may take. */
const PATIENCE_MS = 30_000

/**
 * What the service itself writes to people goes out from no-reply@ its own domain, tried once and not stored.
 */
export class SystemMailer {
  readonly #options: SystemMailerOptions
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(options: SystemMailerOptions) {
    this.#options = options
  }

  normalize(address: string): string {
    return this.#options.email.normalize(address)
  }

  /** Returns at once. A failure is in the log. */
  send({ to, ...letter }: SystemMail): void {
    const { log } = this.#options
    const sending = this.deliver([to], letter)
      .catch((error: unknown) =>
        log.warn({ error: messageOf(error) }, 'a letter of the service could not be sent'),
      )
      .finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
  }

  /** Resolves when what is on its way has gone out or failed. */
  async stop(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  /**
   * One letter to several. Resolves with whether it needn't be tried again; rejects when it could not be sent
   * at all.
   */
  async deliver(to: readonly string[], { subject, text }: Omit<SystemMail, 'to'>): Promise<boolean> {
    const { email, mailDomain, clock, log } = this.#options
    const { rejected } = await email.send(
      {
        from: { address: `no-reply@${mailDomain}`, name: 'Agent Messaging Service' },
        envelopeTo: [...to],
        to: [...to],
        cc: [],
        subject,
        text,
        messageId: `${randomUUID()}@${mailDomain}`,
        inReplyTo: null,
        references: [],
        attachments: [],
        createdAt: clock.now(),
      },
      AbortSignal.timeout(PATIENCE_MS),
    )
    for (const { reason } of rejected) log.warn({ reason }, 'a letter of the service was refused')
    return rejected.every(({ permanent }) => permanent)
  }
}
