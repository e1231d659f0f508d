import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDescription, type Described, type Description } from '../support/description.ts'
import { type FuzzRequest, fuzzRequest, type Pool } from '../support/fuzz-requests.ts'
import { post } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** Another seed generates other requests: FUZZ_SEED=7 FUZZ_RUNS=2000 npx vitest run … */
const SEED = Number(process.env.FUZZ_SEED ?? 20261121)
const RUNS = Number(process.env.FUZZ_RUNS ?? 330)
const CONCURRENCY = 8
const MAX_MS = 120_000

const STATUSES: Record<string, number[]> = {
  invalid_input: [400, 405, 413, 415, 431],
  unauthorized: [401],
  plan_limit: [402],
  forbidden: [403],
  not_found: [404],
  conflict: [409],
  rate_limited: [429],
}

interface FuzzAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

let service: TestService
let owner: Tenant
let agent: TestAgent
let description: Description
let pool: Pool
const connections = new Agent({ keepAlive: true, maxSockets: CONCURRENCY * 2 })
afterAll(() => connections.destroy())

beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '10000000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  const other = await createTestAgent(service, owner, 'Other')
  const foreign = await createTestAgent(service, await service.workspace('Foreign'), 'Foreign')
  const path = `/agents/${agent.id}`
  await owner.api('PUT', `${path}/access/email`, { admit: 'anyone', senders: [] })
  await post(service, {
    from: 'ann@example.com',
    to: agent.address,
    text: 'hi',
    attachments: [{ filename: 'a', content: 'a' }],
  })
  const messages = (await owner.api('GET', `${path}/messages`)).body.items
  const connection = await agent.api('PUT', `${path}/connection`, { client: 'c', machine: 'm' })
  const webhook = await owner.api('POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
  description = createDescription((await owner.api('GET', '/openapi.json')).body)
  pool = {
    id: [agent.id, agent.id, agent.id, other.id, foreign.id],
    messageId: messages.map(({ id }: { id: string }) => id),
    addressId: [messages[0].addressId],
    connectionId: [connection.body.id],
    webhookId: [webhook.body.id],
    memberId: [owner.member],
  }
})

/** Keeps requests from deleting what the rest of the run needs. */
const poolOf = ({ id, method }: Described): Pool => {
  if (id === 'deleteAgent') return { id: pool.id!.slice(3) }
  return method === 'delete' ? { id: pool.id!, memberId: pool.memberId! } : pool
}

const tokens = {
  member: () => owner.token,
  agent: () => agent.token,
  nobody: () => null,
  garbage: () => 'aat_garbage',
}

/**
 * When a request is refused before its whole body was sent, its socket may fail after the response arrived,
 * when the request no longer handles errors.
 */
const quiet = new WeakSet<Socket>()
const endsQuietly = (socket: Socket): void => {
  if (!quiet.has(socket)) quiet.add(socket.on('error', () => undefined))
}

/** Sends a request unchanged: fetch refuses to send some of them. Reads only the head of a stream. */
const send = ({ method, path, headers, body, who }: FuzzRequest): Promise<FuzzAnswer> =>
  new Promise((resolve, reject) => {
    const token = tokens[who]()
    const sent = {
      ...headers,
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
    }
    const { hostname, port } = new URL(service.http)
    const outgoing = request(
      { agent: connections, hostname, port, method, path, headers: sent },
      async (incoming) => {
        const { statusCode: status = 0, headers: got } = incoming
        const isStream = got['content-type'] === 'text/event-stream'
        if (isStream) incoming.destroy()
        const chunks: Buffer[] = []
        if (!isStream) for await (const chunk of incoming) chunks.push(chunk as Buffer)
        resolve({ status, headers: got, text: Buffer.concat(chunks).toString() })
      },
    )
    outgoing.on('error', reject)
    outgoing.on('socket', endsQuietly)
    outgoing.end(body ?? undefined)
  })

const checkFailure = ({ status, headers, text }: FuzzAnswer, method: string): void => {
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers['content-type']).toMatch(/^application\/json/)
  if (status === 405) expect(headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/)
  if (status === 401) expect(headers['www-authenticate']).toBe('Bearer')
  if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  if (method === 'HEAD') return
  const body = JSON.parse(text)
  const {
    reason: _reason,
    messageId: _messageId,
    ...error
  } = (body as { error: Record<string, unknown> }).error
  expect({ ...(body as object), error }).toEqual({
    error: { code: expect.any(String), message: expect.stringMatching(/\S/) },
  })
  expect(STATUSES[body.error.code] ?? []).toContain(status)
}

const check = (fuzzed: FuzzRequest, answer: FuzzAnswer): void => {
  const { method, broken } = fuzzed
  const operation = description.operations.find(({ id }) => id === fuzzed.id)!
  const { status } = answer
  expect(status).toBeGreaterThanOrEqual(200)
  expect(status).toBeLessThan(500)
  if (status >= 400) checkFailure(answer, method)
  if (method !== operation.method.toUpperCase()) return
  const described = description.resolve(operation.operation.responses[status])
  expect(
    described,
    `${operation.id} responded with ${status}, which is not described: ${answer.text.slice(0, 300)}`,
  ).toBeDefined()
  if (broken) expect(status, `${operation.id} accepted an invalid request`).toBeGreaterThanOrEqual(400)
  const schema = described.content?.['application/json']?.schema
  if (schema) expect(description.faultsOf(schema, JSON.parse(answer.text))).toEqual([])
}

test('random requests never cause a 5xx, and every failure has the documented error body', {
  timeout: MAX_MS + 30_000,
}, async () => {
  const counts: Record<number, number> = {}
  const requests = fc.array(fuzzRequest(description, poolOf), {
    minLength: CONCURRENCY,
    maxLength: CONCURRENCY,
  })
  const property = fc.asyncProperty(requests, async (wilds) => {
    const answers = await Promise.all(wilds.map(send))
    for (const [index, answer] of answers.entries()) {
      counts[answer.status] = (counts[answer.status] ?? 0) + 1
      check(wilds[index]!, answer)
    }
  })
  const started = performance.now()
  const result = await fc.check(property, {
    numRuns: RUNS,
    seed: SEED,
    interruptAfterTimeLimit: MAX_MS,
    endOnFailure: process.env.CI !== undefined,
  })
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const took = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`fuzz: ${total} requests in ${took} s, by status ${JSON.stringify(counts)}\n`)
  if (result.failed)
    throw new Error(fc.defaultReportMessage(result)?.slice(0, 4_000), { cause: result.errorInstance })
  expect(total).toBeGreaterThanOrEqual(2_000)
  expect((await owner.api('GET', '/agents')).status).toBe(200)
})
