import { openBlobs } from './blob/index.ts'
import type { Foundation } from './boot/foundation.ts'
import type { Config } from './config/config.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { Logger } from './core/logger.ts'
import type { Metrics } from './core/metrics.ts'
import { noTracer, type Tracer } from './core/tracer.ts'
import { createNotifier } from './db/notify.ts'
import { outsideTransactionOf } from './db/transaction.ts'
import { Feed, Texts } from './event/index.ts'
import { createFreshResolver, createResolver, type DnsResolver } from './mail/index.ts'
import { ServiceMetrics } from './observability/metrics.ts'
import { createAllow } from './outgoing-http/allowed-address.ts'
import { Dialler } from './outgoing-http/dial.ts'
import { createFetch, type Fetch } from './outgoing-http/fetch.ts'
import { createGet, type Get } from './outgoing-http/get.ts'
import { createLookup, type Lookup } from './outgoing-http/lookup.ts'
import { createPostForm, type PostForm } from './outgoing-http/post-form.ts'
import { createKeyring, deriveKey, notificationCiphers, type StreamLimits } from './workspace/index.ts'

/** External dependencies that tests and the demo replace. */
export interface World {
  clock: Clock
  resolver: DnsResolver
  /** A resolver without a cache. */
  freshResolver: DnsResolver
  random(): number
  /** Resolves the host names of outgoing requests. Defaults to `DNS_SERVERS`. */
  lookup?: Lookup
  /** Maximum numbers of open streams and subscriptions. Defaults to those of `StreamPlaces`. */
  streamLimits?: StreamLimits
  /** Traces work. Defaults to none. */
  tracer?: Tracer
  /** Fetches a document from the public internet. Defaults to guarded connections (see `createGet`). */
  get?: Get
  /** Sends requests to servers that members name. Defaults to guarded connections (see `createFetch`). */
  fetch?: Fetch
  /** Posts a form to the public internet. Defaults to guarded connections (see `createPostForm`). */
  postForm?: PostForm
}

/** Returns the real dependencies, except for those in `replaced`. */
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

/** Returns the service's public names. `place` is updated when the ports are known. */
const namesOf = (config: Config) => {
  const place: { publicUrl: string; smtp: string | null } = {
    publicUrl: config.publicUrl ?? `http://localhost:${config.port}`,
    smtp: null,
  }
  return {
    place,
    publicUrl: () => place.publicUrl,
    messageUrlBase: () => config.messageUrlBase ?? place.publicUrl,
    mailDomain: config.mailDomain,
    mailHost: config.mailHost,
  }
}

/** Returns the clients for connections to hosts that users name, and for looking up their addresses. */
const networkOf = (config: Config, world: World, metrics: Metrics) => {
  const allow = createAllow(config.webhookAllow)
  const lookup = world.lookup ?? createLookup(allow, config.dnsServers)
  const dialler = new Dialler({ allow, lookup })
  // What strangers name: the operator's exceptions are for the webhooks of members.
  const nobody = createAllow([])
  const publicDialler = new Dialler({
    allow: nobody,
    lookup: world.lookup ?? createLookup(nobody, config.dnsServers),
  })
  const resolver = counted(world.resolver, metrics)
  const freshResolver = counted(world.freshResolver, metrics)
  return {
    ...{ allow, lookup, dialler, resolver, freshResolver },
    fetch: world.fetch ?? createFetch(dialler),
    get: world.get ?? createGet(publicDialler),
    postForm: world.postForm ?? createPostForm(publicDialler),
  }
}

/** Counts the outcomes of a resolver's lookups. */
const counted =
  (resolver: DnsResolver, metrics: Metrics): DnsResolver =>
  async (name, type) => {
    try {
      const answer = await resolver(name, type)
      metrics.count('dnsLookups', 'found')
      return answer
    } catch (error) {
      const { code } = error as { code?: unknown }
      metrics.count('dnsLookups', code === 'ENOTFOUND' || code === 'ENODATA' ? 'absent' : 'failed')
      throw error
    }
  }

/** What installations behind one front have in common. */
const sharedKey = ({ cellSecret }: Config, masterKey: Uint8Array): Uint8Array =>
  cellSecret === undefined ? masterKey : Buffer.from(cellSecret)

/** Creates what all other parts of the service use: database, clock, log, keys, event log and network. */
export const createPlatform = (
  config: Config,
  { db, databaseUrl, replica, masterKey, otherKeys = () => [] }: Foundation,
  log: Logger,
  world: World,
) => {
  const { clock, random } = world
  const cipherOf = notificationCiphers(masterKey)
  const notifier = createNotifier({ url: databaseUrl, pool: db.pool, log, clock, cipherOf })
  const keyring = createKeyring(db, masterKey, otherKeys, clock)
  const texts = new Texts({ notifier, sealer: keyring, clock, log })
  const metrics = new ServiceMetrics()
  const blobs = openBlobs({ ...db, keyring, clock, log, metrics }, config.objectStore)
  replica?.onRead((outcome) => metrics.count('replicaReads', outcome))
  return {
    ...{ prisma: db.prisma, pool: db.pool, afterCommit: db.afterCommit, replica },
    ...{ outsideTransaction: outsideTransactionOf(db), afterFailure: outsideTransactionOf(db) },
    ...{ clock, random, log, metrics, notifier, blobs },
    tracer: world.tracer ?? noTracer,
    // The page with a challenge may be another installation's than the passkey, behind a front.
    challengeKey: deriveKey(sharedKey(config, masterKey), 'challenges for passkeys'),
    // A client may register with another installation than its member's.
    clientIdKey:
      config.cellSecret === undefined
        ? null
        : deriveKey(Buffer.from(config.cellSecret), 'ids of OAuth clients'),
    ...{ keyring, linkKey: deriveKey(masterKey, 'links to attachments') },
    approvalKey: deriveKey(masterKey, 'links to approve messages'),
    returnPathKeys: [masterKey, ...otherKeys()].map((key) => deriveKey(key, 'return path')),
    ...{ texts, feed: new Feed({ ...db, notifier, texts, clock, log, metrics }) },
    ...networkOf(config, world, metrics),
    ...namesOf(config),
  }
}

export type Platform = ReturnType<typeof createPlatform>
