import { join } from 'node:path'
import { createCodeSender } from './agent/code-sender.ts'
import { forgetMember } from './agent/forget-member.ts'
import { leaveDomain } from './agent/leave-domain.ts'
import { proveIdentity } from './agent/link-identity.ts'
import { PhoneNumbers } from './agent/phone-numbers.ts'
import { adoptManagedBot } from './agent/setup/telegram.ts'
import { createBotStore } from './agent/telegram-bot.ts'
import { createJanitor } from './background/janitor.ts'
import { createWebhookRegistrations, type RegisterWebhooks } from './background/webhook-registration.ts'
import type { Foundation } from './boot/foundation.ts'
import type { Channel, ChannelKind, Channels, Listening, Sink } from './channel/channel.ts'
import { createEmailChannel, type EmailChannelOptions } from './channel/email/email-channel.ts'
import { createFreshResolver, createResolver, type DnsResolver } from './channel/email/verify/resolver.ts'
import { createSmsChannel } from './channel/sms/sms-channel.ts'
import { SystemMailer } from './channel/system-mailer.ts'
import {
  createTelegramChannel,
  type TelegramChannel,
  type TelegramChannelOptions,
} from './channel/telegram/telegram-channel.ts'
import type { Config } from './config/config.ts'
import { listening } from './config/unusable.ts'
import { type Clock, systemClock } from './core/clock.ts'
import { LargeBodies } from './core/large-bodies.ts'
import type { Logger } from './core/logger.ts'
import { createNotifier } from './db/notify.ts'
import { apartFrom } from './db/transaction.ts'
import { createSigner } from './email-domain/signer.ts'
import { Feed } from './event/feed.ts'
import { Texts } from './event/texts.ts'
import { createGraphql } from './graphql/transport/handler.ts'
import { type HttpServer, startHttp } from './http/server.ts'
import { createMcp } from './mcp/server.ts'
import { applyBounce } from './message/in/bounce.ts'
import { passToOwner } from './message/in/postmaster.ts'
import { accepts, isLocalMailbox, receive } from './message/in/receive.ts'
import { createArrivalStore } from './message/in/store.ts'
import { takeReport } from './message/out/delivery.ts'
import { Outbox } from './message/out/outbox.ts'
import { createDraftStore } from './message/out/send.ts'
import { oldestDueSend } from './message/out/send-job.ts'
import { createMessageReads } from './message/reading/read.ts'
import { createIndexer } from './message/reading/search.ts'
import { createThreadReads } from './message/reading/siblings.ts'
import { ServiceMetrics } from './observability/metrics.ts'
import { createAllow } from './outgoing-http/allowed-address.ts'
import { Dialler } from './outgoing-http/dial.ts'
import { createGet, type Get } from './outgoing-http/get.ts'
import { createLookup, type Lookup } from './outgoing-http/lookup.ts'
import { listenerOf } from './rest/listener.ts'
import { createRest } from './rest/router.ts'
import { Streams } from './stream/streams.ts'
import { createWeb } from './web/web.ts'
import { createLanes } from './webhook/delivery/lanes.ts'
import { oldestDueDelivery } from './webhook/delivery/lease.ts'
import { notifyOwners } from './webhook/incident.ts'
import { createTerminationNotices } from './webhook/termination-notice.ts'
import { ExternalCalls } from './workspace/external-calls.ts'
import { FailedTokens } from './workspace/failed-tokens.ts'
import { createKeyring, deriveKey } from './workspace/keyring.ts'
import { Plans } from './workspace/plan.ts'
import { RateLimits } from './workspace/rate-limits.ts'
import { type StreamLimits, StreamPlaces } from './workspace/stream-places.ts'
import { KnownViewers } from './workspace/viewer.ts'

/** What stands for the world outside: replaced in tests and in the demo. */
export interface World {
  clock: Clock
  resolver: DnsResolver
  /** The same without a memory. */
  freshResolver: DnsResolver
  random(): number
  /** The addresses of webhooks' hosts; left out: of `DNS_SERVERS`. */
  lookup?: Lookup
  /** How many streams and subscriptions may be open; left out: see `StreamPlaces`. */
  streamLimits?: StreamLimits
  /** Fetches a document from the public internet; left out: over guarded connections. */
  get?: Get
}

export interface App {
  /** Where HTTP listens: `http://host:port`. */
  readonly http: string
  /** Where mail comes in: `host:port`; null when this process has no such role. */
  readonly smtp: string | null
  /** Stops accepting, finishes what is in hand (at most `graceMs`), closes everything but the foundation. */
  stop(graceMs: number): Promise<void>
}

const createTelegram = (
  { telegram }: Config,
  log: Logger,
  { clock }: World,
  needs: Pick<TelegramChannelOptions, 'bots' | 'publicUrl' | 'onManaged'>,
): TelegramChannel =>
  createTelegramChannel({
    apiUrl: telegram.apiUrl,
    managerToken: telegram.managerToken ?? null,
    ...needs,
    clock,
    log,
  })

type OwnEmail = Pick<
  EmailChannelOptions,
  'local' | 'postmaster' | 'metrics' | 'signingKeyOf' | 'returnPathKeys' | 'ses'
>

const createEmail = (config: Config, log: Logger, { clock, resolver }: World, email: OwnEmail): Channel =>
  createEmailChannel({
    mailDomain: config.mailDomain,
    smtp: { ...config.smtp, tls: config.smtp.tls ?? null },
    relayUrl: config.smtp.relayUrl ?? null,
    directAs: config.smtp.direct ? config.mailHost : null,
    rspamdUrl: config.rspamdUrl ?? null,
    inboundSecrets: config.inboundSecrets,
    outboxDir: join(config.dataDir, 'outbox'),
    dataDir: config.dataDir,
    ...email,
    resolver,
    log,
    clock,
  })

/** None without an account at Twilio. */
const createSms = ({ twilio }: Config, log: Logger, publicUrl: () => string): Channel[] =>
  twilio ? [createSmsChannel({ ...twilio, publicUrl, log })] : []

const byKind = (channels: readonly Channel[]): Channels =>
  Object.fromEntries(channels.map((channel) => [channel.kind, channel]))

/** The channels whose providers have to be told when `PUBLIC_URL` changes. */
const followsOf = (channels: Channels): RegisterWebhooks[] =>
  Object.values(channels).flatMap(({ followPublicUrl }) => (followPublicUrl ? [followPublicUrl] : []))

/**
 * Everything that the operations, the workers and the skins ask for, in one object that each takes its part
 * of.
 */
const compose = (
  config: Config,
  { db, databaseUrl, masterKey, otherKeys = () => [] }: Foundation,
  log: Logger,
  world: World,
) => {
  const { clock, random, freshResolver } = world
  const place = { publicUrl: config.publicUrl ?? `http://localhost:${config.port}` }
  const notifier = createNotifier({ url: databaseUrl, pool: db.pool, log, clock })
  const keyring = createKeyring(db, masterKey, otherKeys, clock)
  const texts = new Texts({ notifier, sealer: keyring, clock, log })
  const allow = createAllow(config.webhookAllow)
  const lookup = world.lookup ?? createLookup(allow, config.dnsServers)
  const metrics = new ServiceMetrics()
  const sinkOf = (channel: ChannelKind): Sink => ({
    accepts: (address) => accepts(parts, channel, address),
    inbound: (message) => receive(parts, message),
    proof: (claim) => proveIdentity(parts, claim),
    delivery: (report) => takeReport(parts, report),
    bounced: (report) => applyBounce(parts, report),
  })
  const telegram = createTelegram(config, log, world, {
    publicUrl: () => place.publicUrl,
    bots: createBotStore({ ...db, keyring }),
    onManaged: (bot) => adoptManagedBot(parts, bot),
  })
  const dialler = new Dialler({ allow, lookup })
  const email = createEmail(config, log, world, {
    ses: { topics: config.sesTopics, get: world.get ?? createGet(dialler) },
    local: { ...sinkOf('email'), accepts: (address) => isLocalMailbox(parts, address) },
    signingKeyOf: createSigner({
      ...db,
      clock,
      keyring,
      resolver: world.resolver,
      mailDomain: config.mailDomain,
    }),
    returnPathKeys: [masterKey, ...otherKeys()].map((key) => deriveKey(key, 'return path')),
    postmaster: (message) => passToOwner(parts, message),
    metrics,
  })
  const channels = byKind([
    // One line for each channel.
    email,
    ...createSms(config, log, () => place.publicUrl),
    telegram,
  ])
  const phoneNumbers = new PhoneNumbers({ ...db, clock, log, sms: channels.sms })
  const parts = {
    prisma: db.prisma,
    pool: db.pool,
    apart: apartFrom(db),
    externalCalls: new ExternalCalls(),
    places: new StreamPlaces(world.streamLimits),
    clock,
    random,
    log,
    notifier,
    metrics,
    feed: new Feed({ ...db, notifier, texts, clock, log, metrics }),
    texts,
    keyring,
    arrivals: createArrivalStore(db),
    reads: createMessageReads(db),
    threadReads: createThreadReads(db),
    drafts: createDraftStore(db),
    channels,
    sinkOf,
    phoneNumbers,
    codes: createCodeSender({ ...db, clock, channels }),
    bots: telegram.provider,
    manager: telegram.manager,
    webhookRegistrations: createWebhookRegistrations(
      [...followsOf(channels), (signal) => phoneNumbers.followPublicUrl(signal)],
      { clock, log },
    ),
    mailer: new SystemMailer({ email, mailDomain: config.mailDomain, clock, log }),
    knownViewers: new KnownViewers(),
    failedTokens: new FailedTokens(clock),
    largeBodies: new LargeBodies(),
    plans: new Plans({ ...db, clock }),
    rates: new RateLimits({ ...db, clock, log }),
    rateLimit: config.rateLimit,
    linkKey: deriveKey(masterKey, 'links to attachments'),
    place,
    publicUrl: () => place.publicUrl,
    messageUrlBase: () => config.messageUrlBase ?? place.publicUrl,
    mailDomain: config.mailDomain,
    mailHost: config.mailHost,
    forgetMember,
    leaveDomain: (tx: Parameters<typeof leaveDomain>[0], domainId: string) =>
      leaveDomain(tx, domainId, config.mailDomain),
    freshResolver,
    allow,
    lookup,
    dialler,
  }
  return parts
}
type Parts = ReturnType<typeof compose>

interface Running {
  stop(graceMs: number): Promise<void> | void
}

const startWorkers = (parts: Parts): Running[] => {
  const lanes = createLanes({ ...parts, onGivenUp: () => void notifyOwners(parts) })
  parts.metrics.gauge('ams_webhook_lanes', 'Webhooks that this process has leased', () => lanes.held)
  const workers = [
    lanes,
    createTerminationNotices(parts),
    new Outbox(parts),
    createIndexer(parts),
    ...createJanitor(parts),
    ...parts.webhookRegistrations,
  ]
  for (const worker of workers) worker.start()
  return workers
}

const startChannels = ({ smtp }: Config, parts: Parts): Promise<Listening[]> => {
  const starting = Object.values(parts.channels).flatMap((channel) =>
    channel.listen ? [channel.listen(parts.sinkOf(channel.kind))] : [],
  )
  return listening(['SMTP_HOST', smtp.host], ['SMTP_PORT', smtp.port], Promise.all(starting))
}

const watchDatabase = ({ metrics, pool, prisma, clock }: Parts): void => {
  metrics.gauges(
    'ams_database_connections',
    "This process's connections to the database, and who waits for one",
    'state',
    () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
  )
  // Behind the connections: its own statement would be seen there as one that waits.
  metrics.gauges(
    'ams_oldest_due_job_seconds',
    'How long what is longest due waits for a worker',
    'kind',
    async () => {
      const now = clock.now()
      const secondsSince = (due: Date | null) =>
        due ? Math.max(0, (now.getTime() - due.getTime()) / 1000) : 0
      return {
        webhook: secondsSince(await oldestDueDelivery({ prisma, pool }, now)),
        send: secondsSince(await oldestDueSend({ prisma, pool }, now)),
      }
    },
  )
}

const startSkins = async (
  config: Config,
  parts: Parts,
): Promise<{ server: HttpServer; skins: Running[] }> => {
  const streams = new Streams(parts)
  const graphql = createGraphql({ ...parts, ...config.graphql })
  const mcp = createMcp(parts)
  const web = createWeb(parts)
  parts.metrics.gauge('ams_streams', 'Open event streams', () => streams.size)
  parts.metrics.gauge('ams_graphql_subscriptions', 'Open GraphQL subscriptions', () => graphql.size)
  parts.metrics.gauge('ams_mcp_streams', 'Open MCP event streams', () => mcp.size)
  const listener = listenerOf(createRest(parts).fetch)
  const opening = startHttp({
    host: config.host,
    port: config.port,
    log: parts.log,
    metrics: parts.metrics,
    api: config.roles.has('api'),
    trustProxy: config.trustProxy,
    clock: parts.clock,
    messageBase: new URL(parts.messageUrlBase()).pathname.replace(/\/$/, ''),
    callbacks: Object.values(parts.channels).flatMap(
      (channel) => channel.routes?.(parts.sinkOf(channel.kind)) ?? [],
    ),
    skins: {
      rest: (request, response) => void listener(request, response),
      graphql: (request, response) => graphql.handle(request, response),
      mcp: (request, response) => mcp.handle(request, response),
      web: (request, response, path) => web.handle(request, response, path),
      stream: (request, response, agentId, connectionId) =>
        streams.serve(request, response, agentId, connectionId),
      metrics: () => parts.metrics.page(),
      ready: async () => void (await parts.pool.query('select')),
    },
  })
  const server = await listening(['HOST', config.host], ['PORT', config.port], opening)
  // With PORT=0 the port is known only now.
  if (!config.publicUrl) parts.place.publicUrl = `http://localhost:${server.port}`
  return { server, skins: [streams, graphql, mcp] }
}

/** Builds the service out of its settings and starts the parts that its roles name. */
export const startApp = async (
  config: Config,
  foundation: Foundation,
  log: Logger,
  outside: Partial<World> = {},
): Promise<App> => {
  const servers = config.dnsServers.length > 0 ? [...config.dnsServers] : null
  const resolver = outside.resolver ?? createResolver(servers)
  const freshResolver = outside.freshResolver ?? outside.resolver ?? createFreshResolver(servers)
  const parts = compose(config, foundation, log, {
    clock: systemClock,
    random: Math.random,
    ...outside,
    resolver,
    freshResolver,
  })
  watchDatabase(parts)
  await parts.notifier.start()
  parts.feed.start()
  parts.rates.start()
  const forget = parts.knownViewers.follow(parts.notifier)
  const { server, skins } = await startSkins(config, parts)
  const doors = config.roles.has('smtp') ? await startChannels(config, parts) : []
  parts.metrics.gauge('ams_smtp_sessions', 'Open SMTP sessions', () =>
    doors.reduce((sum, { sessions }) => sum + sessions, 0),
  )
  const workers = config.roles.has('worker') ? startWorkers(parts) : []
  return {
    http: server.url,
    smtp: doors[0]?.address ?? null,
    stop: async (graceMs) => {
      // Streams first: they would keep the HTTP server open for as long as their clients like.
      await Promise.all(skins.map((skin) => skin.stop(graceMs)))
      await Promise.all([server, ...doors, ...workers].map((part) => part.stop(graceMs)))
      await parts.mailer.stop()
      await Promise.all(Object.values(parts.channels).map((channel) => channel.close?.()))
      forget()
      parts.feed.stop()
      await parts.rates.stop()
      await parts.notifier.stop()
    },
  }
}
