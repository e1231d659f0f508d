import { domainOf } from '../../core/address/email-address.ts'
import { publicSourceOf, sourceOf } from '../../core/address/source.ts'
import type { Check, Inbound, Origin, Sink } from '../../core/channel/inbound.ts'
import type { ReturnPaths } from '../bounce/return-path.ts'
import type { MailReader, Wait } from '../reading/mail-reader.ts'
import type { Envelope } from '../verify/verify.ts'
import { type AcceptBounceDeps, acceptBounce, bounceRecipientsOf } from './accept-bounce.ts'
import { withPostmaster } from './role-addresses.ts'
import type { SpamCheck } from './rspamd.ts'
import { toInbound } from './to-inbound.ts'

/** Information about a delivery other than the message and its envelope. */
export interface DeliveryInfo {
  /** Id of the delivery, which identifies repeated deliveries even without a Message-ID. */
  deliveryId?: string
  /** Results of checks made by the system that delivered it. */
  checks?: Check[]
  /** Fields of the transport's log lines, to find those of the same mail. */
  origin?: Origin
  /** Lets the transport give up while the message is read. */
  wait?: Wait
}

/** Accepts mail from any transport: for agents, the postmaster, and our own return paths. */
export interface Reception {
  /** Whether this normalized address exists here. */
  accepts(address: string): Promise<boolean>
  /** Resolves once the message is committed for every recipient. */
  deliver(raw: Buffer, envelope: Envelope, recipients: string[], info?: DeliveryInfo): Promise<void>
}

interface ReceptionOptions extends Omit<AcceptBounceDeps, 'sink'> {
  reader: MailReader
  /** If omitted, mail is not checked for spam. */
  spamCheck?: SpamCheck | undefined
  postmaster?: ((message: Inbound) => Promise<void>) | undefined
  returnPaths: ReturnPaths | null
}

export function createReception(sink: Sink, options: ReceptionOptions): Reception {
  const { reader, spamCheck, returnPaths, mailDomain, postmaster } = options
  const target = withPostmaster(sink, { mailDomain, ...(postmaster ? { postmaster } : {}) })
  return {
    accepts: async (address) => (returnPaths?.read(address) ?? null) !== null || target.accepts(address),
    async deliver(raw, envelope, recipients, { deliveryId, checks = [], origin, wait } = {}) {
      const returned = bounceRecipientsOf(recipients, options)
      const isForOthers = returned.others.length > 0
      const [mail, spam] = await Promise.all([
        // Mail to return paths only is not verified: knowing the path is the proof.
        reader.read({
          raw,
          envelope: isForOthers ? envelope : null,
          mayBeReport: returned.mayBeReport,
          source: sourceOf(envelope.ip),
          sender: senderBehindGateway(envelope),
          wait,
        }),
        isForOthers ? spamCheck?.(raw, envelope, returned.others) : undefined,
      ])
      const remaining = await acceptBounce(mail.report, returned, { ...options, sink })
      if (remaining.length === 0) return
      const message = toInbound(raw, mail, { envelope, recipients: remaining, spam })
      await target.inbound({
        ...message,
        ...(deliveryId ? { deliveryId } : {}),
        origin,
        checks: [...message.checks, ...checks],
      })
    },
  }
}

/**
 * Key for fair queueing within the client's address: the envelope sender's domain if the client is a gateway in the
 * operator's own network, behind which many have one address.
 */
const senderBehindGateway = ({ ip, reversePath }: Envelope): string =>
  publicSourceOf(ip) === null ? domainOf(reversePath).toLowerCase() || '<>' : ''
