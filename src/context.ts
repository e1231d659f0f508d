import type { AgentReads, PhoneNumbers, Subscriptions } from './agent/index.ts'
import type { EmailLinks } from './auth/index.ts'
import type { Blobs } from './blob/index.ts'
import type { Channels } from './channel/channel.ts'
import type { EmailChannel } from './channel/email/email-channel.ts'
import type { SystemMailer } from './channel/system-mailer.ts'
import type { TelegramChannel } from './channel/telegram/telegram-channel.ts'
import type { Sink } from './core/channel/inbound.ts'
import type { ChannelKind } from './core/channels.ts'
import type { Clock } from './core/clock.ts'
import type { LargeBodies } from './core/http/large-bodies.ts'
import type { Logger } from './core/logger.ts'
import type { Places } from './core/places.ts'
import type { Tracer } from './core/tracer.ts'
import type { Turns } from './core/turns.ts'
import type { Db } from './db/client.ts'
import type { Prisma } from './db/generated/prisma/client.ts'
import type { News } from './db/news.ts'
import type { Notifier } from './db/notify.ts'
import type { Replica } from './db/replica.ts'
import type { AfterFailure, OutsideTransaction } from './db/transaction.ts'
import type { Feed, Texts } from './event/index.ts'
import type { DnsResolver } from './mail/index.ts'
import type {
  AddressLookup,
  CatchAllLookup,
  FileTexts,
  LocalMailboxLookup,
  MessageLists,
  MessageReads,
  OutgoingStore,
  ReceiveDeps,
  ThreadReads,
} from './message/index.ts'
import type { ServiceMetrics } from './observability/metrics.ts'
import type { Allow } from './outgoing-http/allowed-address.ts'
import type { Dialler } from './outgoing-http/dial.ts'
import type { Fetch } from './outgoing-http/fetch.ts'
import type { Get } from './outgoing-http/get.ts'
import type { Lookup } from './outgoing-http/lookup.ts'
import type { PostForm } from './outgoing-http/post-form.ts'
import type { Guards } from './secret/index.ts'
import type { TlsResults } from './tls-report/index.ts'
import type { endSubscriptions } from './webhook/index.ts'
import type {
  CodeSender,
  ExternalCalls,
  FailedTokens,
  Keyring,
  KnownViewers,
  MemberDeps,
  Plans,
  RateLimits,
} from './workspace/index.ts'

/**
 * What operations and workers use: the database, which may be a transaction (see `atomically`), and each part of this
 * process. Interfaces pass it on as it is. A function in a folder of the domain names the parts that it uses.
 */
export interface Context extends Db, Arrivals, Names, Keys, Network, Limits {
  /** The replica that reads may use; see `Db`. */
  replica?: Replica | undefined
  /** Runs work outside a request's transaction. */
  outsideTransaction: OutsideTransaction
  /** Runs what must persist although the request fails. */
  afterFailure: AfterFailure
  clock: Clock
  random(): number
  log: Logger
  metrics: ServiceMetrics
  tracer: Tracer
  /** Notifies every process, once something is committed. */
  notifier: Notifier
  /** Contents in the object store. */
  blobs: Blobs
  /** Reads the texts of attachments, and keeps them. */
  fileTexts: FileTexts
  /** Delivers committed events to listeners. */
  feed: Feed
  /** Texts of the Message URL, which are not stored. */
  texts: Texts
  /** Open subscriptions of this process. */
  subscriptions: Subscriptions
  channels: Channels
  bots: TelegramChannel['provider']
  manager: TelegramChannel['manager']
  phoneNumbers: PhoneNumbers
  /** Wakes those that wait for codes in messages. */
  codeNews: News
  /** Wakes those that wait for answers. */
  questionNews: News
  /** Sends the codes that prove an identity. */
  codes: CodeSender
  /** Sends the service's own mail. */
  mailer: SystemMailer
  /** Signs members in by email. */
  emailLinks: EmailLinks
  /** Folder with the mail that is not sent; null if mail is sent. */
  capturedMail: string | null
  /** Stores messages to send, several in one commit. */
  drafts: OutgoingStore
  /** Reads single agents, several in one round trip. */
  agentReads: AgentReads
  /** Reads single messages, several in one round trip. */
  reads: MessageReads
  /** Reads pages of messages, several in one statement. */
  lists: MessageLists
  /** Does the same with the newest messages of their threads. */
  threadReads: ThreadReads
  /** What agents' messages are compared with before they leave. */
  guards: Guards
  /** What this process knows of viewers, for a second. */
  knownViewers: KnownViewers
  /** Results of TLS to report to other servers. */
  tlsResults: TlsResults
  forgetMember: MemberDeps['forgetMember']
  endSubscriptions: typeof endSubscriptions
  /** Removes the rows of a deleted agent, as far as there are few. */
  removeAtOnce(agentId: string): Promise<void>
  /** Gives the agents of a lost domain addresses of the service. */
  leaveDomain(tx: Prisma.TransactionClient, domainId: string): Promise<void>
}

/** What receives and stores incoming messages. */
interface Arrivals extends Pick<ReceiveDeps, 'arrivals' | 'limited' | 'targets'> {
  /** Returns the functions that receive a channel's incoming messages and reports. */
  sinkOf(channel: ChannelKind): Sink
  addresses: AddressLookup
  localMailboxes: LocalMailboxLookup
  caught: CatchAllLookup
  /** Reads mail that was not received over a channel. */
  mailReader: Pick<EmailChannel, 'parse'>
}

/** The service's public names. */
interface Names {
  /** Where this process can be reached; updated when the ports are known. */
  place: { publicUrl: string; smtp: string | null }
  publicUrl(): string
  /** Base URL of agents' Message URLs, without a trailing slash. */
  messageUrlBase(): string
  mailDomain: string
  mailHost: string
}

/** Keys, derived from the master key, and the workspaces' data keys. */
interface Keys {
  keyring: Keyring
  challengeKey: Uint8Array
  clientIdKey: Uint8Array | null
  linkKey: Uint8Array
  approvalKey: Uint8Array
  returnPathKeys: Uint8Array[]
}

/** Connections to hosts that users name. */
interface Network {
  allow: Allow
  lookup: Lookup
  dialler: Dialler
  resolver: DnsResolver
  /** A resolver without a cache. */
  freshResolver: DnsResolver
  fetch: Fetch
  get: Get
  postForm: PostForm
}

/** What is limited, in this process or all of them. */
interface Limits {
  plans: Plans
  rates: RateLimits
  /** Requests per token and minute. */
  rateLimit: number
  /** Requests of a token at the same time. */
  requests: Turns
  failedTokens: FailedTokens
  externalCalls: ExternalCalls
  largeBodies: LargeBodies
  imports: LargeBodies
  exports: Places
  /** Messages that are opened at the same time. */
  views: Turns
}
