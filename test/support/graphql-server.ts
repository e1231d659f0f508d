import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forgetMember } from '../../src/agent/access/forget-member.ts'
import { createAgentReads } from '../../src/agent/access/permission.ts'
import { PhoneNumbers } from '../../src/agent/address/phone-numbers.ts'
import { Subscriptions } from '../../src/agent/listening/subscriptions.ts'
import { removeAtOnce } from '../../src/background/agent-removal.ts'
import { openBlobs } from '../../src/blob/open.ts'
import type { Channel } from '../../src/channel/channel.ts'
import { systemClock } from '../../src/core/clock.ts'
import { invalidInput } from '../../src/core/errors.ts'
import { LargeBodies } from '../../src/core/http/large-bodies.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import type { RootDb } from '../../src/db/client.ts'
import { News } from '../../src/db/news.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { outsideTransactionOf } from '../../src/db/transaction.ts'
import { Feed } from '../../src/event/feed.ts'
import { Texts } from '../../src/event/texts.ts'
import type { GraphqlDeps } from '../../src/graphql/context/deps.ts'
import { createGraphql } from '../../src/graphql/transport/handler.ts'
import { createFileReader } from '../../src/mail/index.ts'
import { CODES_STORED } from '../../src/message/code/queue.ts'
import { FileTexts } from '../../src/message/files/file-texts.ts'
import { createMessageLists } from '../../src/message/reading/list.ts'
import { createMessageReads } from '../../src/message/reading/read.ts'
import { createViews } from '../../src/message/reading/view.ts'
import { createCatchAllLookup } from '../../src/message/receiving/address-lookup.ts'
import type { ReceiveDeps } from '../../src/message/receiving/receive.ts'
import { createArrivalStore } from '../../src/message/receiving/store.ts'
import { createTargetLookup } from '../../src/message/receiving/target.ts'
import { createLimitedStore } from '../../src/message/receiving/wake-limits.ts'
import { createOutgoingStore } from '../../src/message/sending/store-outgoing.ts'
import { createAllow } from '../../src/outgoing-http/allowed-address.ts'
import { createLookup } from '../../src/outgoing-http/lookup.ts'
import { QUESTION_ENDED } from '../../src/question/end.ts'
import { Guards } from '../../src/secret/guard/guards.ts'
import { endSubscriptions } from '../../src/webhook/end-subscriptions.ts'
import { createKeyring } from '../../src/workspace/encryption/keyring.ts'
import { ExternalCalls } from '../../src/workspace/limit/external-calls.ts'
import { RateLimits } from '../../src/workspace/limit/rate-limits.ts'
import { type StreamLimits, StreamPlaces } from '../../src/workspace/limit/stream-places.ts'
import { createTokenRequests } from '../../src/workspace/limit/token-requests.ts'
import { FailedTokens } from '../../src/workspace/token/failed-tokens.ts'
import { KnownViewers } from '../../src/workspace/token/viewer.ts'
import { Plans } from '../../src/workspace/usage/plan.ts'
import { fakeResolver } from './dns.ts'
import { UNLIMITED } from './stream-limits.ts'

const MAIL_DOMAIN = 'agents.localhost'

/** An email channel that sends nothing and accepts every address with an @. */
const email: Channel = {
  kind: 'email',
  limits: { text: 32_000, subject: true, cc: true, files: true, coldStart: true },
  threads: 'replies',
  normalize(recipient) {
    if (!recipient.includes('@')) throw invalidInput('to', 'must be an email address')
    return recipient.toLowerCase()
  },
  send: async ({ envelopeTo }) => ({ accepted: envelopeTo, rejected: [] }),
}

/** A conversation with a bot is opened with a link. */
const telegram: Channel = {
  ...email,
  kind: 'telegram',
  threads: 'counterpart',
  proofLink: (address, code) => `https://t.me/${address.slice(1)}?start=${code}`,
}

/** A provider that offers one number for sale and can buy any other. */
const sms = {
  normalize: (number: string) => number,
  numbers: {
    search: async () => [
      { value: '+15005550101', locality: 'Springfield', price: { amount: '1.15', currency: 'USD' } },
    ],
    buy: async () => 'PN1',
    find: async () => null,
    webhookUrl: () => 'https://agents.example/channels/sms/messages',
    connect: async () => undefined,
    release: async () => undefined,
  },
}

/** Writes errors that no test should cause to stderr with their stack. */
const errorLogger: Logger = {
  ...silentLogger,
  error: (fields, text) =>
    process.stderr.write(`${text}: ${String((fields as { err?: Error }).err?.stack)}\n`),
  child: () => errorLogger,
}

export interface ServerOptions {
  log?: Logger
  rateLimit?: number
  persisted?: ReadonlyMap<string, string>
  introspection?: boolean
  /** Unlimited by default. */
  streamLimits?: StreamLimits
}

/** Starts the GraphQL layer alone, with its dependencies, on a bare HTTP server. */
export const startServer = async (
  db: RootDb & { url: string },
  masterKey: Uint8Array,
  {
    log = errorLogger,
    rateLimit = 100_000,
    persisted,
    introspection = true,
    streamLimits = UNLIMITED,
  }: ServerOptions = {},
) => {
  const allow = createAllow(['127.0.0.1'])
  const notifier = createNotifier({ url: db.url, pool: db.pool, log, clock: systemClock })
  await notifier.start()
  const shared = {
    prisma: db.prisma,
    pool: db.pool,
    afterCommit: db.afterCommit,
    clock: systemClock,
    log,
    notifier,
    forgetMember,
    endSubscriptions,
    removeAtOnce: removeAtOnce({ ...db, clock: systemClock, log }),
    mailDomain: MAIL_DOMAIN,
    mailHost: MAIL_DOMAIN,
    channels: { email, telegram },
  }
  const keyring = createKeyring(db, masterKey)
  const blobs = openBlobs({ ...shared, keyring }, undefined)
  const fileTexts = new FileTexts({ ...shared, blobs, files: createFileReader({ log }) })
  const texts = new Texts({ notifier, sealer: keyring, clock: systemClock, log })
  const feed = new Feed({ ...shared, texts })
  feed.start()
  const knownViewers = new KnownViewers()
  knownViewers.follow(notifier)
  const limits = {
    knownViewers,
    failedTokens: new FailedTokens(systemClock),
    largeBodies: new LargeBodies(),
    plans: new Plans(shared),
    rates: new RateLimits(shared),
  }
  const deps = {
    ...shared,
    ...limits,
    ...{ outsideTransaction: outsideTransactionOf(db), afterFailure: outsideTransactionOf(db) },
    blobs,
    externalCalls: new ExternalCalls(),
    postForm: async () => 200,
    subscriptions: new Subscriptions({ ...shared, places: new StreamPlaces(streamLimits) }),
    feed,
    texts,
    rateLimit,
    requests: createTokenRequests(),
    persisted,
    introspection,
    freshResolver: fakeResolver({}),
    leaveDomain: async () => undefined,
    publicUrl: () => 'http://localhost',
    messageUrlBase: () => 'http://agents.localhost',
    mailer: { normalize: email.normalize, send: () => undefined } as unknown as GraphqlDeps['mailer'],
    drafts: createOutgoingStore(db),
    guards: new Guards({ ...shared, keyring }),
    codeNews: new News(notifier, CODES_STORED),
    questionNews: new News(notifier, QUESTION_ENDED),
    fileTexts,
    agentReads: createAgentReads(db),
    reads: createMessageReads(db),
    lists: createMessageLists(db),
    views: createViews(),
    phoneNumbers: new PhoneNumbers({ ...shared, sms }),
    codes: { normalize: (_channel: string, value: string) => value, send: async () => undefined },
    keyring,
    allow,
    lookup: createLookup(allow),
    linkKey: masterKey,
    capturedMail: null,
    place: { publicUrl: 'http://localhost', smtp: null },
    approvalKey: masterKey,
  } as Partial<GraphqlDeps> as RootDb & GraphqlDeps
  const receiving: ReceiveDeps = {
    ...shared,
    ...limits,
    feed,
    blobs,
    arrivals: createArrivalStore(db),
    limited: createLimitedStore(db),
    targets: createTargetLookup(shared),
    caught: createCatchAllLookup(db),
  }
  await db.pool.query("insert into plan (key) values ('unlimited') on conflict do nothing")

  const graphql = createGraphql(deps)
  const server = createServer((request, response) => void graphql.handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const stop = async () => {
    await deps.subscriptions.stop(0)
    graphql.stop()
    feed.stop()
    await fileTexts.close()
    setTimeout(() => server.closeAllConnections(), 500)
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await notifier.stop()
  }
  return { base, deps, receiving, graphql, stop }
}
