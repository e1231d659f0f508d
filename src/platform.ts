import type { Foundation } from './boot/foundation.ts'
import { createFreshResolver, createResolver, type DnsResolver } from './channel/email/verify/resolver.ts'
import type { Config } from './config/config.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { Logger } from './core/logger.ts'
import { createNotifier } from './db/notify.ts'
import { apartFrom } from './db/transaction.ts'
import { Feed } from './event/feed.ts'
import { Texts } from './event/texts.ts'
import { ServiceMetrics } from './observability/metrics.ts'
import { createAllow } from './outgoing-http/allowed-address.ts'
import { Dialler } from './outgoing-http/dial.ts'
import { createGet, type Get } from './outgoing-http/get.ts'
import { createLookup, type Lookup } from './outgoing-http/lookup.ts'
import { createKeyring, deriveKey } from './workspace/keyring.ts'
import type { StreamLimits } from './workspace/stream-places.ts'

/** The world outside the service: replaced in tests and in the demo. */
export interface World {
  clock: Clock
  resolver: DnsResolver
  /** The same without a cache. */
  freshResolver: DnsResolver
  random(): number
  /** The addresses of webhooks' hosts; left out: of `DNS_SERVERS`. */
  lookup?: Lookup
  /** How many streams and subscriptions may be open; left out: see `StreamPlaces`. */
  streamLimits?: StreamLimits
  /** Fetches a document from the public internet; left out: over guarded connections. */
  get?: Get
}

/** The world as it is, except for what is replaced. */
export const worldOf = ({ dnsServers }: Config, replaced: Partial<World>): World => {
  const servers = dnsServers.length > 0 ? [...dnsServers] : null
  return {
    clock: systemClock,
    random: Math.random,
    ...replaced,
    resolver: replaced.resolver ?? createResolver(servers),
    freshResolver: replaced.freshResolver ?? replaced.resolver ?? createFreshResolver(servers),
  }
}

/** The names under which this service is reached. `place.publicUrl` is set again when the port is known. */
const namesOf = (config: Config) => {
  const place = { publicUrl: config.publicUrl ?? `http://localhost:${config.port}` }
  return {
    place,
    publicUrl: () => place.publicUrl,
    messageUrlBase: () => config.messageUrlBase ?? place.publicUrl,
    mailDomain: config.mailDomain,
    mailHost: config.mailHost,
  }
}

/** Connections to hosts that others name, and their addresses. */
const networkOf = (config: Config, world: World) => {
  const allow = createAllow(config.webhookAllow)
  const lookup = world.lookup ?? createLookup(allow, config.dnsServers)
  const dialler = new Dialler({ allow, lookup })
  const { resolver, freshResolver } = world
  return { allow, lookup, dialler, get: world.get ?? createGet(dialler), resolver, freshResolver }
}

/** What all other parts of the service use: database, clock, log, keys, the event log and the network. */
export const createPlatform = (
  config: Config,
  { db, databaseUrl, masterKey, otherKeys = () => [] }: Foundation,
  log: Logger,
  world: World,
) => {
  const { clock, random } = world
  const notifier = createNotifier({ url: databaseUrl, pool: db.pool, log, clock })
  const keyring = createKeyring(db, masterKey, otherKeys, clock)
  const texts = new Texts({ notifier, sealer: keyring, clock, log })
  const metrics = new ServiceMetrics()
  return {
    ...{ prisma: db.prisma, pool: db.pool, apart: apartFrom(db) },
    ...{ clock, random, log, metrics, notifier },
    ...{ keyring, linkKey: deriveKey(masterKey, 'links to attachments') },
    returnPathKeys: [masterKey, ...otherKeys()].map((key) => deriveKey(key, 'return path')),
    ...{ texts, feed: new Feed({ ...db, notifier, texts, clock, log, metrics }) },
    ...networkOf(config, world),
    ...namesOf(config),
  }
}

export type Platform = ReturnType<typeof createPlatform>
