import { publicSourceOf } from '../../../core/source.ts'
import type { Check, Inbound, Sink } from '../../channel.ts'
import { domainOf } from '../address.ts'
import { type AcceptBounceDeps, acceptBounce, bounceRecipientsOf } from '../bounce/accept-bounce.ts'
import type { ReturnPaths } from '../bounce/return-path.ts'
import type { MailReader } from '../reading/reader.ts'
import type { Envelope } from '../verify/verify.ts'
import { withPostmaster } from './role-addresses.ts'
import type { SpamCheck } from './rspamd.ts'
import { toInbound } from './to-inbound.ts'

/** What is known of a hand-over beside the message and its envelope. */
export interface HandOver {
  /** Its own id: the same hand-over again is no other message, even without a Message-ID. */
  deliveryId?: string
  /** Evidence from those who handed it over. */
  checks?: Check[]
}

/** Takes mail in, whichever way it came: for agents, the postmaster, and our own return paths. */
export interface Reception {
  /** Whether somebody has this normalized address. */
  accepts(address: string): Promise<boolean>
  /** Resolves once the message is committed for every recipient. */
  deliver(raw: Buffer, envelope: Envelope, recipients: string[], handOver?: HandOver): Promise<void>
}

interface ReceptionOptions extends Omit<AcceptBounceDeps, 'sink'> {
  reader: MailReader
  /** Left out: nobody looks for spam. */
  spamCheck?: SpamCheck | undefined
  postmaster?: ((message: Inbound) => Promise<void>) | undefined
  returnPaths: ReturnPaths | null
}

export function createReception(sink: Sink, options: ReceptionOptions): Reception {
  const { reader, spamCheck, returnPaths, mailDomain, postmaster } = options
  const door = withPostmaster(sink, { mailDomain, ...(postmaster ? { postmaster } : {}) })
  return {
    accepts: async (address) => (returnPaths?.read(address) ?? null) !== null || door.accepts(address),
    async deliver(raw, envelope, recipients, { deliveryId, checks = [] } = {}) {
      const returned = bounceRecipientsOf(recipients, options)
      const isForSomebody = returned.others.length > 0
      const [mail, spam] = await Promise.all([
        // Whoever sent what comes back to a return path: it counts because it knows that path.
        reader.read({
          raw,
          envelope: isForSomebody ? envelope : null,
          mayBeReport: returned.mayBeReport,
          source: turnOf(envelope),
        }),
        isForSomebody ? spamCheck?.(raw, envelope, returned.others) : undefined,
      ])
      const letters = await acceptBounce(mail.report, returned, { ...options, sink })
      if (letters.length === 0) return
      const message = toInbound(raw, mail, envelope, letters, spam)
      await door.inbound({
        ...message,
        ...(deliveryId ? { deliveryId } : {}),
        checks: [...message.checks, ...checks],
      })
    },
  }
}

/**
 * Whose mail waits for each other's: the connecting address's, or behind a gateway of the operator's own the
 * envelope sender's domain's.
 */
const turnOf = ({ ip, reversePath }: Envelope): string =>
  publicSourceOf(ip) ?? `by way of ${domainOf(reversePath).toLowerCase()}`
