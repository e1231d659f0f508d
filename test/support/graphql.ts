import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from 'vitest'
import type { Channel, Inbound } from '../../src/channel/channel.ts'
import { systemClock } from '../../src/core/clock.ts'
import { invalidInput } from '../../src/core/errors.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { Feed } from '../../src/event/feed.ts'
import { Texts } from '../../src/event/texts.ts'
import type { GraphqlDeps } from '../../src/graphql/context.ts'
import { createGraphql } from '../../src/graphql/handler.ts'
import { type ReceiveDeps, receive } from '../../src/message/receive.ts'
import { createDraftStore } from '../../src/message/send.ts'
import { createArrivalStore } from '../../src/message/store.ts'
import { createAllow } from '../../src/webhook/address.ts'
import { createLookup } from '../../src/webhook/lookup.ts'
import { createKeyring } from '../../src/workspace/keyring.ts'
import { Plans } from '../../src/workspace/plan.ts'
import { RateLimits } from '../../src/workspace/rate-limits.ts'
import { KnownViewers } from '../../src/workspace/viewer.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { openTestDatabase } from './database.ts'

const MAIL_DOMAIN = 'agents.localhost'

/** An email channel that sends nothing and believes every address with an @. */
const email: Channel = {
  kind: 'email',
  limits: { text: 32_000, subject: true, cc: true, coldStart: true },
  normalize(recipient) {
    if (!recipient.includes('@')) throw invalidInput('to', 'must be an email address')
    return recipient.toLowerCase()
  },
  matches: (entry, address) => entry === address,
  send: async ({ envelopeTo }) => ({ accepted: envelopeTo, rejected: [] }),
}

export interface GraphqlAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers whose shape the schema promises
  data: any
  errors: { message: string; path?: (string | number)[]; extensions: { code: string; field?: string; nextId?: number } }[] | undefined
}

/** Asks as GraphQL's clients do. */
export type Ask = (query: string, variables?: object, headers?: Record<string, string>) => Promise<GraphqlAnswer>

export interface TestTenant {
  workspace: string
  member: string
  email: string
  token: string
  ask: Ask
}

const letterTo = (address: string, from: string, text: string): Inbound => ({
  channel: 'email',
  recipients: [address],
  from: { address: from, name: 'Ann' },
  to: [address],
  cc: [],
  subject: 'Hello',
  text,
  replyText: text,
  attachments: [{ name: 'a.txt', type: 'text/plain', content: Buffer.from('abc') }],
  messageId: `${randomUUID()}@example.com`,
  inReplyTo: null,
  references: [],
  proven: true,
  automatic: null,
  checks: [{ name: 'dmarc', verdict: 'pass', detail: 'aligned' }],
  raw: Buffer.from(`raw ${randomUUID()}`),
})

/** What no test should cause is seen where it was caused. */
const loud: Logger = {
  ...silentLogger,
  error: (fields, text) => process.stderr.write(`${text}: ${String((fields as { err?: Error }).err?.stack)}\n`),
  child: () => loud,
}

interface Options {
  log?: Logger
  rateLimit?: number
  persisted?: ReadonlyMap<string, string>
  introspection?: boolean
}

/** The GraphQL skin alone, on a bare server with a database of its own. Ended after the file's last test. */
export const startGraphql = async ({ log = loud, rateLimit = 100_000, persisted, introspection = true }: Options = {}) => {
  const db = await openTestDatabase(10)
  const masterKey = randomBytes(32)
  const allow = createAllow(['127.0.0.1'])
  const notifier = createNotifier({ url: db.url, pool: db.pool, log, clock: systemClock })
  await notifier.start()
  const shared = { prisma: db.prisma, pool: db.pool, clock: systemClock, log, notifier, mailDomain: MAIL_DOMAIN, channels: { email } }
  const keyring = createKeyring(db, masterKey)
  const texts = new Texts({ notifier, sealer: keyring, clock: systemClock, log })
  const feed = new Feed({ ...shared, texts })
  feed.start()
  const knownViewers = new KnownViewers()
  knownViewers.follow(notifier)
  const limits = { knownViewers, plans: new Plans(shared), rates: new RateLimits(shared) }
  const deps: GraphqlDeps = {
    ...shared,
    ...limits,
    feed,
    texts,
    rateLimit,
    persisted,
    introspection,
    publicUrl: () => 'http://localhost',
    mailer: { normalize: (address) => email.normalize(address), send: () => undefined },
    drafts: createDraftStore(db),
    keyring,
    allow,
    lookup: createLookup(allow),
  }
  const receiving: ReceiveDeps = { ...shared, ...limits, feed, arrivals: createArrivalStore(db) }
  await db.pool.query("insert into plan (key) values ('unlimited') on conflict do nothing")

  const graphql = createGraphql(deps)
  const server = createServer((request, response) => void graphql.handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const askWith =
    (token: string | null): Ask =>
    async (query, variables = {}, headers = {}) => {
      const response = await fetch(`${base}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }), ...headers },
        body: JSON.stringify({ query, variables }),
      })
      const { data, errors } = (await response.json()) as GraphqlAnswer
      return { status: response.status, headers: response.headers, data, errors }
    }

  const tenant = async (address = `${randomUUID()}@example.com`): Promise<TestTenant> => {
    const made = await createWorkspace({ ...deps, masterKey }, { name: 'Test', ownerEmail: address, plan: 'unlimited' })
    return { ...made, email: address, ask: askWith(made.token) }
  }

  /** An agent of the tenant's, with a token of its own. */
  const agent = async ({ ask }: TestTenant, name = 'Support Bot') => {
    const { data } = await ask(
      `mutation ($name: String!) { createAgent(input: { name: $name, icon: bot }) { agent { id addresses { value } } } }`,
      { name },
    )
    const { id, addresses } = data.createAgent.agent
    const made = await ask(`mutation ($id: UUID!) { createToken(input: { agentId: $id }) { token record { id } } }`, { id })
    const { token, record } = made.data.createToken
    return {
      id: id as string,
      address: addresses[0].value as string,
      token: token as string,
      tokenId: record.id as string,
      ask: askWith(token),
    }
  }

  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    graphql.stop()
    feed.stop()
    setTimeout(() => server.closeAllConnections(), 500)
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await notifier.stop()
  }
  afterAll(stop)

  return {
    base,
    deps,
    askWith,
    tenant,
    agent,
    graphql,
    stop,
    /** Delivers a mail from the tenant's owner, who is on every list. */
    letter: (to: { address: string }, from: TestTenant, text: string) => receive(receiving, letterTo(to.address, from.email, text)),
  }
}
