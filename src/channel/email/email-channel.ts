import { join } from 'node:path'
import { normalize, spell } from '../../core/address/email-address.ts'
import type { Inbound, Sink } from '../../core/channel/inbound.ts'
import type { Outbound, Progress, SendResult } from '../../core/channel/outbound.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { TlsFiles } from '../../core/tls-pair.ts'
import type { Tracer } from '../../core/tracer.ts'
import { WindowCounts } from '../../core/window-counts.ts'
import {
  capture,
  createDirect,
  createHttpIn,
  createMailReader,
  createReception,
  createRelay,
  createReturnPaths,
  createRspamd,
  createSesIn,
  type DnsResolver,
  deliverLocally,
  emptySpool,
  type FindSigningKeys,
  Intake,
  listenSmtp,
  type OnTlsResult,
  ownCertificate,
  prepareHtml,
  type ReaderLimits,
  type ReadMail,
  type Relay,
  type RelayTimeouts,
  SMTP_LIMITS,
  type SmtpLimits,
  StsPolicyCache,
  toOutgoingMail,
  UNKNOWN_WINDOW_MS,
  unsubscribeWay,
  viewEither,
} from '../../mail/index.ts'
import type { Channel } from '../channel.ts'

export interface EmailChannelOptions {
  /** The service's own domain: used in the SMTP greeting and to detect mail loops. */
  mailDomain: string
  smtp: {
    /** Address of the SMTP listener. Port 0 selects a free port. */
    readonly host: string
    readonly port: number
    /** Null: a self-signed certificate, created once in `dataDir`. */
    readonly tls: TlsFiles | null
    /** Addresses and CIDRs of proxies that may say who their client is; none if omitted. */
    readonly trustProxy?: readonly string[]
    readonly limits?: Partial<SmtpLimits>
  }
  /** URL of the relay for outgoing mail (`smtp://` or `smtps://`). Null when there is none. */
  relayUrl: string | null
  /**
   * Host name used in EHLO when there is no relay and mail is sent directly to the recipients' servers. Null:
   * mail is written to `outboxDir`.
   */
  directAs?: string | null
  /** Fetches the policies of domains that mail is sent to directly (MTA-STS). If omitted, none is enforced. */
  getPolicy?(url: string): Promise<Buffer>
  onTlsResult?: OnTlsResult
  outboxDir: string
  dataDir: string
  /** Returns the DKIM keys for outgoing mail. If omitted, mail is not signed. */
  signingKeysOf?: FindSigningKeys
  /**
   * Keys that sign return paths: the current key, followed by earlier ones. If omitted, bounces go to the
   * sender's own address.
   */
  returnPathKeys?: readonly Uint8Array[]
  /**
   * Sink for mail between agents of this service, which then does not leave the process. If omitted, such
   * mail is sent like any other.
   */
  local?: Pick<Sink, 'accepts' | 'inbound'> & { catches(address: string): Promise<boolean>; shared?: boolean }
  /** Receives mail to the postmaster of our own domain. If omitted, that recipient does not exist. */
  postmaster?: (message: Inbound) => Promise<void>
  /** URL of Rspamd. Null or omitted: mail is not checked for spam. */
  rspamdUrl?: string | null
  /** Secrets that sign mail submitted over HTTP. If there are none, such mail is refused. */
  inboundSecrets?: readonly string[]
  /**
   * Amazon SNS topics that deliver mail received by Amazon SES, and a GET function that rejects unless the
   * response status is 200.
   */
  ses?: { readonly topics: readonly string[]; get(url: string): Promise<Buffer> }
  metrics?: Metrics
  tracer?: Tracer
  resolver: DnsResolver
  log: Logger
  clock?: Clock
  readerLimits?: Partial<ReaderLimits>
  relayTimeouts?: RelayTimeouts
}

export interface EmailChannel extends Channel {
  listen: NonNullable<Channel['listen']>
  /** Parses a mail that was not received now, with the budget of one that is. `source`: key for fair queueing. */
  parse(raw: Uint8Array, source: string): Promise<ReadMail>
  /** Stops the mail reader and closes idle relay connections. Call it after the listener's `stop`. */
  close(): Promise<void>
}

const NO_RECIPIENTS: SendResult = { accepted: [], rejected: [] }

/** Returns the transport for outgoing mail, or null if mail is captured in a directory. */
const createTransport = (options: EmailChannelOptions): Relay | null => {
  const { relayUrl, directAs, relayTimeouts: timeouts, resolver, getPolicy: get, onTlsResult } = options
  if (relayUrl !== null) return createRelay(relayUrl, timeouts)
  if (!directAs) return null
  return createDirect({
    ...{ mailHost: directAs, resolver, timeouts },
    ...(get && { policies: new StsPolicyCache({ resolver, get, clock: options.clock ?? systemClock }) }),
    ...(onTlsResult && { onTlsResult }),
  })
}

/**
 * Creates the email channel. Opens no connections until `listen` or `send` is called. Throws if `relayUrl` is
 * not an SMTP URL.
 */
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
  const relay = createTransport(options)
  const unknown = new WindowCounts(clock, UNKNOWN_WINDOW_MS)
  const returnPaths =
    options.returnPathKeys === undefined ? null : createReturnPaths(options.returnPathKeys, mailDomain)
  const outgoingOptions = { signingKeysOf: options.signingKeysOf ?? (async () => []), returnPaths }
  const sendRemote = async (message: Outbound, signal: AbortSignal, progress?: Progress) => {
    const mail = await toOutgoingMail(message, outgoingOptions)
    if (relay === null) return capture(message, mail, options.outboxDir)
    // Progress is only needed with several recipients: with one, it is stored with the result of the attempt.
    const { to, cc, bcc = [] } = message
    const recordsProgress = progress && to.length + cc.length + bcc.length > 1
    return relay.send(
      mail,
      signal,
      recordsProgress ? (recipient) => progress.took(recipient, message.messageId) : undefined,
    )
  }
  const spamCheck = options.rspamdUrl
    ? createRspamd({ url: options.rspamdUrl, mailDomain, log, metrics: options.metrics })
    : undefined
  const limits = { ...SMTP_LIMITS, ...smtp.limits }
  const spool = join(options.dataDir, 'spool')
  const intake = new Intake(spool, limits)
  const receptionFor = (sink: Sink) =>
    createReception(sink, { reader, mailDomain, spamCheck, postmaster: options.postmaster, returnPaths, log })
  return {
    kind: 'email',
    limits: { text: Number.POSITIVE_INFINITY, subject: true, cc: true, files: true, coldStart: true },
    threads: 'replies',
    normalize,
    spell,
    routes: (sink) => {
      const reception = receptionFor(sink)
      const httpRoute = createHttpIn({
        ...{ reception, intake, secrets: options.inboundSecrets ?? [], clock, log },
      })
      return options.ses ? [httpRoute, createSesIn({ reception, ...options.ses, clock, log })] : [httpRoute]
    },
    async listen(sink) {
      await emptySpool(spool)
      return listenSmtp({
        host: smtp.host,
        port: smtp.port,
        trustProxy: smtp.trustProxy,
        mailDomain,
        tls: smtp.tls ?? (await ownCertificate(options.dataDir, mailDomain, clock.now())),
        ...receptionFor(sink),
        clock,
        log,
        metrics: options.metrics,
        ...(options.tracer ? { tracer: options.tracer } : {}),
        ...{ intake, limits },
      })
    },
    parse: (raw, source) => reader.read({ raw, envelope: null, source }),
    async send(message, signal, progress) {
      const sentBefore = message.envelopeTo.filter((recipient) => (progress?.of(recipient) ?? []).length > 0)
      const envelopeTo = message.envelopeTo.filter((recipient) => !sentBefore.includes(recipient))
      const { remote, ...delivered } = options.local
        ? await deliverLocally(
            { ...message, envelopeTo },
            { sink: options.local, reader, mailDomain, unknown, shared: options.local.shared ?? false },
          )
        : { remote: envelopeTo, ...NO_RECIPIENTS }
      const sent =
        remote.length > 0
          ? await sendRemote({ ...message, envelopeTo: remote }, signal, progress)
          : NO_RECIPIENTS
      return {
        accepted: [...sentBefore, ...delivered.accepted, ...sent.accepted],
        rejected: [...delivered.rejected, ...sent.rejected],
      }
    },
    unsubscribeWay,
    prepareHtml: (html, source) => prepareHtml(reader, html, source),
    view: (viewing) => viewEither(reader, viewing),
    async close() {
      relay?.close()
      await reader.close()
    },
  }
}
