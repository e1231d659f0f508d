import { join } from 'node:path'
import {
  adoptManagedBot,
  createAgentReads,
  createAlbumStore,
  createBotStore,
  createCodeSender,
  forgetMember,
  leaveDomain,
  PhoneNumbers,
  proveIdentity,
  Subscriptions,
} from './agent/index.ts'
import { EmailLinks } from './auth/index.ts'
import { removeAtOnce } from './background/agent-removal.ts'
import type { Foundation } from './boot/foundation.ts'
import type { Channel, Channels } from './channel/channel.ts'
import { createEmailChannel, type EmailChannel } from './channel/email/email-channel.ts'
import { createSmsChannel } from './channel/sms/sms-channel.ts'
import { SystemMailer } from './channel/system-mailer.ts'
import { createTelegramChannel, type TelegramChannel } from './channel/telegram/telegram-channel.ts'
import type { Config } from './config/config.ts'
import type { Context } from './context.ts'
import type { Sink } from './core/channel/inbound.ts'
import type { ChannelKind } from './core/channels.ts'
import { IMPORTS, LargeBodies } from './core/http/large-bodies.ts'
import type { Logger } from './core/logger.ts'
import { Places } from './core/places.ts'
import type { RootDb } from './db/client.ts'
import { News } from './db/news.ts'
import { createSigner } from './email-domain/index.ts'
import { createFileReader } from './mail/index.ts'
import {
  acceptForPostmaster,
  applyBounce,
  CODES_STORED,
  createAddressLookup,
  createArrivalStore,
  createCatchAllLookup,
  createLimitedStore,
  createLocalMailboxLookup,
  createMessageLists,
  createMessageReads,
  createOutgoingStore,
  createTargetLookup,
  createThreadReads,
  createViews,
  decideInChat,
  FileTexts,
  receive,
  takeReport,
} from './message/index.ts'
import { createPlatform, type Platform, type World, worldOf } from './platform.ts'
import { answerInChat, QUESTION_ENDED } from './question/index.ts'
import { Guards } from './secret/index.ts'
import { TlsResults } from './tls-report/index.ts'
import { endSubscriptions } from './webhook/index.ts'
import {
  createTokenRequests,
  ExternalCalls,
  FailedTokens,
  KnownViewers,
  Plans,
  RateLimits,
  StreamPlaces,
} from './workspace/index.ts'

const createTelegram = (
  { telegram }: Config,
  platform: Platform,
  operations: () => Operations,
): TelegramChannel => {
  const { clock, log, publicUrl } = platform
  return createTelegramChannel({
    apiUrl: telegram.apiUrl,
    managerToken: telegram.managerToken ?? null,
    bots: createBotStore(platform),
    albums: createAlbumStore(platform),
    onManaged: (bot) => adoptManagedBot(operations(), bot),
    ...{ publicUrl, clock, log },
  })
}

const createEmail = (
  config: Config,
  platform: Platform,
  sink: Sink,
  operations: () => Operations,
): EmailChannel => {
  const { clock, log, metrics, tracer, resolver, get, returnPathKeys } = platform
  return createEmailChannel({
    mailDomain: config.mailDomain,
    smtp: { ...config.smtp, tls: config.smtp.tls ?? null, trustProxy: config.trustProxy },
    relayUrl: config.smtp.relayUrl ?? null,
    directAs: config.smtp.direct ? config.mailHost : null,
    getPolicy: get,
    onTlsResult: (result) => operations().tlsResults.add(result),
    rspamdUrl: config.rspamdUrl ?? null,
    inboundSecrets: config.inboundSecrets,
    outboxDir: join(config.dataDir, 'outbox'),
    dataDir: config.dataDir,
    ses: { topics: config.sesTopics, get },
    local: {
      ...sink,
      shared: config.cellSecret !== undefined,
      accepts: (address) => operations().localMailboxes.add({ address }),
      catches: async (address) => (await operations().caught.add({ address, certainly: true })) !== null,
    },
    postmaster: (message) => acceptForPostmaster(operations(), message),
    signingKeysOf: createSigner(platform),
    ...{ returnPathKeys, metrics, tracer, resolver, log, clock },
  })
}

/** Returns the SMS channel, or nothing when Twilio is not configured. */
const createSms = ({ twilio }: Config, { publicUrl, log }: Platform): Channel[] =>
  twilio ? [createSmsChannel({ ...twilio, publicUrl, log })] : []

const byKind = (channels: readonly Channel[]): Channels =>
  Object.fromEntries(channels.map((channel) => [channel.kind, channel]))

/** The channels, and the parts of single channels that other code needs. */
interface ChannelParts {
  channels: Channels
  /** Returns the functions that receive a channel's incoming messages and reports. */
  sinkOf(channel: ChannelKind): Sink
  bots: TelegramChannel['provider']
  manager: TelegramChannel['manager']
  mailer: SystemMailer
  mailReader: Pick<EmailChannel, 'parse'>
}

/**
 * Creates the channels. `operations` must not be called before messages arrive: they depend on the channels.
 */
const createChannels = (config: Config, platform: Platform, operations: () => Operations): ChannelParts => {
  const sinkOf = (channel: ChannelKind): Sink => ({
    accepts: (address) => operations().addresses.add({ channel, address }),
    inbound: (message) => receive(operations(), message),
    proof: (claim) => proveIdentity(operations(), claim),
    answer: async (claim) => (await answerInChat(operations(), claim)) ?? decideInChat(operations(), claim),
    delivery: (report) => takeReport(operations(), report),
    bounced: (report) => applyBounce(operations(), report),
  })
  const telegram = createTelegram(config, platform, operations)
  const email = createEmail(config, platform, sinkOf('email'), operations)
  const channels = byKind([
    // One line per channel.
    email,
    ...createSms(config, platform),
    telegram,
  ])
  const { mailDomain, clock, log } = platform
  const mailer = new SystemMailer({ email, mailDomain, clock, log })
  return { channels, sinkOf, bots: telegram.provider, manager: telegram.manager, mailer, mailReader: email }
}

/** Creates what signing in by email needs, with the rate limits. */
const signingIn = ({ smtp, dataDir }: Config, platform: Platform, { mailer }: ChannelParts) => {
  const rates = new RateLimits(platform)
  const isSent = smtp.relayUrl !== undefined || smtp.direct
  return {
    rates,
    emailLinks: new EmailLinks({ ...platform, mailer, rates }),
    /** Folder with the mail that is not sent; null if mail is sent. */
    capturedMail: isSent ? null : join(dataDir, 'outbox'),
  }
}

/** Creates the dependencies of all operations: the earlier stages and what this process shares. */
const createOperations = (
  config: Config,
  platform: Platform,
  parts: ChannelParts,
  { streamLimits }: World,
): Operations => ({
  ...platform,
  ...parts,
  ...signingIn(config, platform, parts),
  externalCalls: new ExternalCalls(),
  addresses: createAddressLookup(platform),
  localMailboxes: createLocalMailboxLookup(platform),
  caught: createCatchAllLookup(platform),
  targets: createTargetLookup(platform),
  arrivals: createArrivalStore(platform),
  limited: createLimitedStore(platform),
  drafts: createOutgoingStore(platform),
  guards: new Guards(platform),
  agentReads: createAgentReads(platform),
  reads: createMessageReads(platform),
  lists: createMessageLists(platform),
  threadReads: createThreadReads(platform),
  views: createViews(),
  fileTexts: new FileTexts({ ...platform, files: createFileReader(platform) }),
  tlsResults: new TlsResults(platform),
  phoneNumbers: new PhoneNumbers({ ...platform, sms: parts.channels.sms }),
  codeNews: new News(platform.notifier, CODES_STORED),
  questionNews: new News(platform.notifier, QUESTION_ENDED),
  codes: createCodeSender({ ...platform, channels: parts.channels }),
  subscriptions: new Subscriptions({ ...platform, places: new StreamPlaces(streamLimits) }),
  knownViewers: new KnownViewers(),
  failedTokens: new FailedTokens(platform.clock),
  largeBodies: new LargeBodies(),
  imports: new LargeBodies(IMPORTS),
  exports: new Places(1),
  plans: new Plans(platform),
  rateLimit: config.rateLimit,
  requests: createTokenRequests(),
  forgetMember,
  endSubscriptions,
  removeAtOnce: removeAtOnce(platform),
  leaveDomain: (tx: Parameters<typeof leaveDomain>[0], domainId: string) =>
    leaveDomain(tx, domainId, config.mailDomain),
})

/** The context outside any transaction. */
export type Operations = Context & RootDb

/** Builds the operations from the configuration, in stages: the platform, the channels, the operations. */
export const buildOperations = (
  config: Config,
  foundation: Foundation,
  log: Logger,
  replaced: Partial<World> = {},
): Operations => {
  const world = worldOf(config, replaced)
  const platform = createPlatform(config, foundation, log, world)
  const parts = createChannels(config, platform, () => operations)
  const operations: Operations = createOperations(config, platform, parts, world)
  return operations
}
