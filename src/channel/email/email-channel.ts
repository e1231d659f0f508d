import { type Clock, systemClock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Channel, Inbound, Outbound, Progress, SendResult, Sink } from '../channel.ts'
import { matches, normalize, spell } from './address.ts'
import { createReturnPaths } from './bounce/return-path.ts'
import { createMailReader } from './reading/reader.ts'
import type { ReaderLimits } from './reading/reader-limits.ts'
import { createHttpIn } from './receive/http-in.ts'
import { deliverLocally } from './receive/local.ts'
import { createReception } from './receive/reception.ts'
import { createRspamd } from './receive/rspamd.ts'
import { createSesIn } from './receive/ses/ses-in.ts'
import { listenSmtp } from './receive/smtp-in.ts'
import type { SmtpLimits } from './receive/smtp-limits.ts'
import { ownCertificate, type TlsPair } from './receive/tls.ts'
import { capture } from './send/capture.ts'
import { createDirect } from './send/direct.ts'
import type { FindSigningKey } from './send/dkim.ts'
import { toOutgoingMail } from './send/outgoing-mail.ts'
import { createRelay, type Relay, type RelayTimeouts } from './send/smtp-out.ts'
import type { DnsResolver } from './verify/resolver.ts'

export interface EmailChannelOptions {
  /** The service's own domain: it greets with it, and marks that name it are loops. */
  mailDomain: string
  smtp: {
    /** Where mail comes in; port 0: any free one. */
    readonly host: string
    readonly port: number
    /** Null: a self-signed pair, made once in `dataDir`. */
    readonly tls: TlsPair | null
    readonly limits?: Partial<SmtpLimits>
  }
  /** Where mail goes out (`smtp://` or `smtps://`). */
  relayUrl: string | null
  /**
   * The name under which mail goes straight to the servers of its recipients when there is no relay; null: it
   * is written to `outboxDir`.
   */
  directAs?: string | null
  outboxDir: string
  dataDir: string
  /** What mail that leaves is signed with. Left out: nothing is signed. */
  signingKeyOf?: FindSigningKey
  /**
   * What return paths are signed with, and were before it was changed. Left out: bounces go to the sender's
   * own address.
   */
  returnPathKeys?: readonly Uint8Array[]
  /**
   * Who takes mail for agents of this service without its leaving the process. Left out: it goes the way of
   * all mail.
   */
  local?: Pick<Sink, 'accepts' | 'inbound'>
  /** Who reads mail to the postmaster of our own domain. Left out: there is no such recipient. */
  postmaster?: (message: Inbound) => Promise<void>
  /** Where an Rspamd listens; null or left out: nobody looks for spam. */
  rspamdUrl?: string | null
  /** What mail that is handed over by HTTP is signed with; none: it is not taken. */
  inboundSecrets?: readonly string[]
  /**
   * Topics of Amazon SNS that tell of mail which Amazon SES received; and how to reach SNS: a GET that
   * rejects unless the answer is 200.
   */
  ses?: { readonly topics: readonly string[]; get(url: string): Promise<Buffer> }
  metrics?: Metrics
  resolver: DnsResolver
  log: Logger
  clock?: Clock
  readerLimits?: Partial<ReaderLimits>
  relayTimeouts?: RelayTimeouts
}

export interface EmailChannel extends Channel {
  listen: NonNullable<Channel['listen']>
  /** Ends the reader's threads and the relay's idle connections. After the listener's `stop`. */
  close(): Promise<void>
}

const NOBODY: SendResult = { accepted: [], rejected: [] }

/** How mail leaves; null when it does not. */
const wayOut = ({ relayUrl, directAs, relayTimeouts, resolver }: EmailChannelOptions): Relay | null => {
  if (relayUrl !== null) return createRelay(relayUrl, relayTimeouts)
  return directAs ? createDirect({ mailHost: directAs, resolver, timeouts: relayTimeouts }) : null
}

/** Email as a channel. Starts nothing until `listen` or `send`; throws when `relayUrl` is no SMTP URL. */
export function createEmailChannel(options: EmailChannelOptions): EmailChannel {
  const { mailDomain, smtp, resolver, log, clock = systemClock } = options
  const reader = createMailReader({
    mailDomain,
    mta: mailDomain,
    resolver,
    log,
    metrics: options.metrics,
    limits: options.readerLimits,
  })
  const relay = wayOut(options)
  const returnPaths =
    options.returnPathKeys === undefined ? null : createReturnPaths(options.returnPathKeys, mailDomain)
  const departing = { signingKeyOf: options.signingKeyOf ?? (async () => null), returnPaths }
  const sendAway = async (message: Outbound, signal: AbortSignal, progress?: Progress) => {
    const mail = await toOutgoingMail(message, departing)
    if (relay === null) return capture(message, mail, options.outboxDir)
    // Whether a sole recipient has it is written with the end of the attempt.
    const noted = progress && message.to.length + message.cc.length > 1
    return relay.send(
      mail,
      signal,
      noted ? (recipient) => progress.took(recipient, message.messageId) : undefined,
    )
  }
  const spamCheck = options.rspamdUrl
    ? createRspamd({ url: options.rspamdUrl, mailDomain, log, metrics: options.metrics })
    : undefined
  const receptionFor = (sink: Sink) =>
    createReception(sink, { reader, mailDomain, spamCheck, postmaster: options.postmaster, returnPaths, log })
  return {
    kind: 'email',
    limits: { text: Number.POSITIVE_INFINITY, subject: true, cc: true, files: true, coldStart: true },
    threads: 'replies',
    normalize,
    spell,
    matches,
    routes: (sink) => {
      const reception = receptionFor(sink)
      const byHttp = createHttpIn({ reception, secrets: options.inboundSecrets ?? [], clock, log })
      return options.ses ? [byHttp, createSesIn({ reception, ...options.ses, clock, log })] : [byHttp]
    },
    async listen(sink) {
      return listenSmtp({
        host: smtp.host,
        port: smtp.port,
        mailDomain,
        tls: smtp.tls ?? (await ownCertificate(options.dataDir, mailDomain, clock.now())),
        ...receptionFor(sink),
        clock,
        log,
        metrics: options.metrics,
        ...(smtp.limits === undefined ? {} : { limits: smtp.limits }),
      })
    },
    async send(message, signal, progress) {
      const had = message.envelopeTo.filter((recipient) => (progress?.of(recipient) ?? []).length > 0)
      const envelopeTo = message.envelopeTo.filter((recipient) => !had.includes(recipient))
      const { remote, ...delivered } = options.local
        ? await deliverLocally({ ...message, envelopeTo }, { sink: options.local, reader, mailDomain })
        : { remote: envelopeTo, ...NOBODY }
      const sent =
        remote.length > 0 ? await sendAway({ ...message, envelopeTo: remote }, signal, progress) : NOBODY
      return {
        accepted: [...had, ...delivered.accepted, ...sent.accepted],
        rejected: [...delivered.rejected, ...sent.rejected],
      }
    },
    async close() {
      relay?.close()
      await reader.close()
    },
  }
}
