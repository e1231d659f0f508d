import { randomBytes, randomUUID } from 'node:crypto'
import type { Inbound } from '../../src/core/channel/inbound.ts'
import { receive } from '../../src/message/receiving/receive.ts'
import { hashToken } from '../../src/workspace/token/token.ts'
import { authenticate } from '../../src/workspace/token/viewer.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { afterFile } from './after-file.ts'
import { openTestDatabase } from './database.ts'
import { type ServerOptions, startServer } from './graphql-server.ts'

export interface GraphqlAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the schema defines the shape of the answers
  data: any
  errors:
    | {
        message: string
        path?: (string | number)[]
        extensions: { code: string; field?: string; nextId?: number }
      }[]
    | undefined
}

/** Sends a query as GraphQL clients do. */
export type Ask = (
  query: string,
  variables?: object,
  headers?: Record<string, string>,
) => Promise<GraphqlAnswer>

export interface TestTenant {
  workspace: string
  member: string
  email: string
  token: string
  ask: Ask
}

const letterTo = (address: string, from: string, text: string, more: Partial<Inbound> = {}): Inbound => ({
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
  ...more,
})

/**
 * Starts the GraphQL layer alone, on a bare HTTP server with a separate database. Stopped after the file's
 * last test.
 */
export const startGraphql = async (options: ServerOptions = {}) => {
  const masterKey = randomBytes(32)
  const {
    base,
    deps,
    receiving,
    graphql,
    stop: stopSkin,
  } = await startServer(await openTestDatabase(10), masterKey, options)

  const askWith =
    (token: string | null): Ask =>
    async (query, variables = {}, headers = {}) => {
      const response = await fetch(`${base}/graphql`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...headers,
        },
        body: JSON.stringify({ query, variables }),
      })
      const { data, errors } = (await response.json()) as GraphqlAnswer
      return { status: response.status, headers: response.headers, data, errors }
    }

  const tenant = async (address = `${randomUUID()}@example.com`): Promise<TestTenant> => {
    const made = await createWorkspace(
      { ...deps, masterKey },
      { name: 'Test', ownerEmail: address, plan: 'unlimited' },
    )
    return { ...made, email: address, ask: askWith(made.token) }
  }

  /** Creates an agent of the tenant, with its own token. */
  const agent = async ({ ask }: TestTenant, name = 'Support Bot') => {
    const { data } = await ask(
      `mutation ($name: String!) { createAgent(input: { name: $name, icon: bot }) { agent { id addresses { value } } } }`,
      { name },
    )
    const { id, addresses } = data.createAgent.agent
    const made = await ask(
      `mutation ($id: UUID!) { createToken(input: { agentId: $id }) { token record { id } } }`,
      { id },
    )
    const { token, record } = made.data.createToken
    return {
      id: id as string,
      address: addresses[0].value as string,
      token: token as string,
      tokenId: record.id as string,
      ask: askWith(token),
    }
  }

  /** Caches the token's viewer for an hour instead of a second, for tests that count statements. */
  const know = async (token: string) => {
    const viewer = await authenticate(deps, token, '')
    deps.knownViewers.add(hashToken(token), viewer, new Date(Date.now() + 3_600_000))
  }

  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopSkin()
    return stopped
  }
  afterFile(stop)

  return {
    base,
    deps,
    askWith,
    know,
    tenant,
    agent,
    graphql,
    stop,
    /** Delivers a mail from the tenant's owner, who is on every allowlist. */
    letter: (to: { address: string }, from: TestTenant, text: string, more?: Partial<Inbound>) =>
      receive(receiving, letterTo(to.address, from.email, text, more)),
  }
}
