import { join } from 'node:path'
import { createCodeSender } from './agent/code-sender.ts'
import { leaveDomain } from './agent/leave-domain.ts'
import { proveTelegram } from './agent/link-telegram.ts'
import { PhoneNumbers } from './agent/phone-numbers.ts'
import { adoptManagedBot } from './agent/set-up-telegram.ts'
import { createBotStore } from './agent/telegram-bot.ts'
import type { Channel, ChannelKind, Listening, Sink } from './channel/channel.ts'
import { createEmailChannel, type EmailChannelOptions } from './channel/email/email-channel.ts'
import { createFreshResolver, createResolver, type DnsResolver } from './channel/email/resolver.ts'
import { Letters } from './channel/letters.ts'
import { createSmsChannel } from './channel/sms/sms-channel.ts'
import { createTelegramChannel, type TelegramChannel, type TelegramChannelOptions } from './channel/telegram/telegram-channel.ts'
import { listening } from './config/unusable.ts'
import type { Config } from './config.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { Logger } from './core/logger.ts'
import { createNotifier } from './db/notify.ts'
import { createSigner } from './domain/signer.ts'
import { Feed } from './event/feed.ts'
import { Texts } from './event/texts.ts'
import type { Foundation } from './foundation.ts'
import { createGraphql } from './graphql/handler.ts'
import { type HttpServer, startHttp } from './http/server.ts'
import { createJanitor } from './janitor.ts'
import { readLag } from './job/lag.ts'
import { createKeepers } from './keeper.ts'
import { takeReport } from './message/delivery.ts'
import { Outbox } from './message/outbox.ts'
import { passToOwner } from './message/postmaster.ts'
import { createMessageReads } from './message/read.ts'
import { accepts, isHere, receive } from './message/receive.ts'
import { takeReturned } from './message/returned.ts'
import { createIndexer } from './message/search.ts'
import { createDraftStore } from './message/send.ts'
import { createArrivalStore } from './message/store.ts'
import { ServiceMetrics } from './metrics.ts'
import { listenerOf } from './rest/listener.ts'
import { createRest } from './rest/router.ts'
import { Streams } from './stream/streams.ts'
import { createWeb } from './web/web.ts'
import { createAllow } from './webhook/address.ts'
import { Dialler } from './webhook/dial.ts'
import { createGet, type Get } from './webhook/get.ts'
import { tellOwners } from './webhook/incident.ts'
import { createLanes } from './webhook/lanes.ts'
import { createLookup } from './webhook/lookup.ts'
import { createKeyring, deriveKey } from './workspace/keyring.ts'
import { Plans } from './workspace/plan.ts'
import { RateLimits } from './workspace/rate-limits.ts'
import { KnownViewers } from './workspace/viewer.ts'

/** What stands for the world outside: replaced in tests and in the demo. */
export interface World {
  clock: Clock
  resolver: DnsResolver
  /** The same without a memory. */
  freshResolver: DnsResolver
  random(): number
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
): TelegramChannel => createTelegramChannel({ apiUrl: telegram.apiUrl, managerToken: telegram.managerToken ?? null, ...needs, clock, log })

type OwnEmail = Pick<EmailChannelOptions, 'local' | 'postmaster' | 'metrics' | 'signingKeyOf' | 'returnPathKeys' | 'ses'>

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
const createSms = ({ twilio }: Config, log: Logger, publicUrl: () => string): { sms?: Channel } =>
  twilio ? { sms: createSmsChannel({ ...twilio, publicUrl, log }) } : {}

/** Everything that the operations, the workers and the skins ask for, in one object that each takes its part of. */
const compose = (config: Config, { db, databaseUrl, masterKey, otherKeys = () => [] }: Foundation, log: Logger, world: World) => {
  const { clock, random, freshResolver } = world
  const place = { publicUrl: config.publicUrl ?? `http://localhost:${config.port}` }
  const notifier = createNotifier({ url: databaseUrl, pool: db.pool, log, clock })
  const keyring = createKeyring(db, masterKey, otherKeys)
  const texts = new Texts({ notifier, sealer: keyring, clock, log })
  const allow = createAllow(config.webhookAllow)
  const lookup = createLookup(allow, config.dnsServers)
  const metrics = new ServiceMetrics()
  const sinkOf = (channel: ChannelKind): Sink => ({
    accepts: (address) => accepts(parts, channel, address),
    inbound: (message) => receive(parts, message),
    proof: (claim) => proveTelegram(parts, claim),
    delivery: (report) => takeReport(parts, report),
    returned: (report) => takeReturned(parts, report),
  })
  const telegram = createTelegram(config, log, world, {
    publicUrl: () => place.publicUrl,
    bots: createBotStore({ ...db, keyring }),
    onManaged: (bot) => adoptManagedBot(parts, bot),
  })
  const dialler = new Dialler({ allow, lookup })
  const email = createEmail(config, log, world, {
    ses: { topics: config.sesTopics, get: world.get ?? createGet(dialler) },
    local: { ...sinkOf('email'), accepts: (address) => isHere(parts, address) },
    signingKeyOf: createSigner({ ...db, clock, keyring, resolver: world.resolver, mailDomain: config.mailDomain }),
    returnPathKeys: [masterKey, ...otherKeys()].map((key) => deriveKey(key, 'return path')),
    postmaster: (message) => passToOwner(parts, message),
    metrics,
  })
  const sms = createSms(config, log, () => place.publicUrl)
  const channels: Partial<Record<ChannelKind, Channel>> & { email: Channel } = { email, ...sms, telegram }
  const phoneNumbers = new PhoneNumbers({ ...db, clock, log, sms: channels.sms })
  const parts = {
    prisma: db.prisma,
    pool: db.pool,
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
    drafts: createDraftStore(db),
    channels,
    sinkOf,
    phoneNumbers,
    codes: createCodeSender({ ...db, clock, channels }),
    bots: telegram.provider,
    manager: telegram.manager,
    keepers: createKeepers([(signal) => telegram.followPublicUrl(signal), (signal) => phoneNumbers.followPublicUrl(signal)], {
      clock,
      log,
    }),
    mailer: new Letters({ email: channels.email, mailDomain: config.mailDomain, clock, log }),
    knownViewers: new KnownViewers(),
    plans: new Plans({ ...db, clock }),
    rates: new RateLimits({ ...db, clock, log }),
    rateLimit: config.rateLimit,
    linkKey: deriveKey(masterKey, 'links to attachments'),
    place,
    publicUrl: () => place.publicUrl,
    messageUrlBase: () => config.messageUrlBase ?? place.publicUrl,
    mailDomain: config.mailDomain,
    mailHost: config.mailHost,
    leaveDomain: (tx: Parameters<typeof leaveDomain>[0], domainId: string) => leaveDomain(tx, domainId, config.mailDomain),
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
  const lanes = createLanes({ ...parts, onGivenUp: () => void tellOwners(parts) })
  parts.metrics.gauge('ams_webhook_lanes', 'Webhooks that this process has leased', () => lanes.held)
  const workers = [lanes, new Outbox(parts), createIndexer(parts), ...createJanitor(parts), ...parts.keepers]
  for (const worker of workers) worker.start()
  return workers
}

const startChannels = ({ smtp }: Config, parts: Parts): Promise<Listening[]> => {
  const starting = Object.values(parts.channels).flatMap((channel) => (channel.listen ? [channel.listen(parts.sinkOf(channel.kind))] : []))
  return listening(['SMTP_HOST', smtp.host], ['SMTP_PORT', smtp.port], Promise.all(starting))
}

const watchDatabase = ({ metrics, pool, prisma, clock }: Parts): void => {
  metrics.gauges('ams_database_connections', "This process's connections to the database, and who waits for one", 'state', () => ({
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  }))
  // Behind the connections: its own statement would be seen there as one that waits.
  metrics.gauges('ams_oldest_due_job_seconds', 'How long what is longest due waits for a worker', 'kind', async () => ({
    ...(await readLag({ prisma, pool }, clock.now())),
  }))
}

const startSkins = async (config: Config, parts: Parts): Promise<{ server: HttpServer; skins: Running[] }> => {
  const streams = new Streams(parts)
  streams.start()
  const graphql = createGraphql({ ...parts, ...config.graphql })
  const web = createWeb(parts)
  parts.metrics.gauge('ams_streams', 'Open event streams', () => streams.size)
  parts.metrics.gauge('ams_graphql_subscriptions', 'Open GraphQL subscriptions', () => graphql.size)
  const listener = listenerOf(createRest(parts).fetch)
  const opening = startHttp({
    host: config.host,
    port: config.port,
    log: parts.log,
    metrics: parts.metrics,
    api: config.roles.has('api'),
    messageBase: new URL(parts.messageUrlBase()).pathname.replace(/\/$/, ''),
    callbacks: Object.values(parts.channels).flatMap((channel) => channel.routes?.(parts.sinkOf(channel.kind)) ?? []),
    skins: {
      rest: (request, response) => void listener(request, response),
      graphql: (request, response) => graphql.handle(request, response),
      web: (request, response, path) => web.handle(request, response, path),
      stream: (request, response, agentId, connectionId) => streams.serve(request, response, agentId, connectionId),
      metrics: () => parts.metrics.page(),
      ready: async () => void (await parts.pool.query('select')),
    },
  })
  const server = await listening(['HOST', config.host], ['PORT', config.port], opening)
  // With PORT=0 the port is known only now.
  if (!config.publicUrl) parts.place.publicUrl = `http://localhost:${server.port}`
  return { server, skins: [streams, graphql] }
}

/** Builds the service out of its settings and starts the parts that its roles name. */
export const startApp = async (config: Config, foundation: Foundation, log: Logger, outside: Partial<World> = {}): Promise<App> => {
  const servers = config.dnsServers.length > 0 ? [...config.dnsServers] : null
  const resolver = outside.resolver ?? createResolver(servers)
  const freshResolver = outside.freshResolver ?? outside.resolver ?? createFreshResolver(servers)
  const parts = compose(config, foundation, log, { clock: systemClock, random: Math.random, ...outside, resolver, freshResolver })
  watchDatabase(parts)
  await parts.notifier.start()
  parts.feed.start()
  parts.rates.start()
  const forget = parts.knownViewers.follow(parts.notifier)
  const { server, skins } = await startSkins(config, parts)
  const doors = config.roles.has('smtp') ? await startChannels(config, parts) : []
  parts.metrics.gauge('ams_smtp_sessions', 'Open SMTP sessions', () => doors.reduce((sum, { sessions }) => sum + sessions, 0))
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
