import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newest, post } from '../support/letter.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * The AI SDK subscribes to events over webhooks since its version 7, which asks for Node 22. So it is no dependency:
 * the test installs it into a temporary folder.
 */

const ENABLED = process.env.AI_SDK === '1'
const SDK = '@ai-sdk/mcp@2.0.99'

interface Subscription {
  id: string
  key: string
}
interface Store {
  get(key: string): Promise<Subscription | undefined>
  getById(id: string): Promise<Subscription | undefined>
  set(one: Subscription): Promise<void>
  update(key: string, patch: Partial<Subscription>): Promise<void>
  delete(key: string): Promise<void>
}
interface Event {
  cursor?: string | null
  data: Record<string, unknown>
}
interface Client {
  callTool(call: { name: string; arguments: object }): Promise<unknown>
  close(): Promise<void>
  experimental_events: {
    list(): Promise<{ events: { name: string }[] }>
    subscribe(input: object): Promise<Subscription>
    refresh(input: { id: string }): Promise<Subscription>
    unsubscribe(input: { id: string }): Promise<void>
  }
}
interface Sdk {
  createMCPClient(options: object): Promise<Client>
  experimental_createMCPEventWebhook(options: {
    store: Store
    onEvent: (given: { event: Event }) => Promise<void>
    onTerminated: (given: { termination: { error: { message: string } } }) => Promise<void>
    onError: (error: unknown) => void
  }): (request: Request) => Promise<Response>
}

let service: SharedService
let owner: Tenant
let sdk: Sdk
const closers: (() => unknown)[] = []

const createOpenAgent = async (): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const mail = (agent: TestAgent) =>
  post(service, { from: 'ann@example.com', to: agent.address, subject: 'Hi', text: 'hi' })

const installSdk = async (folder: string): Promise<Sdk> => {
  execFileSync('npm', ['install', '--prefix', folder, '--no-audit', SDK], { stdio: 'ignore' })
  const entry = createRequire(join(folder, 'package.json')).resolve('@ai-sdk/mcp')
  return (await import(pathToFileURL(entry).href)) as Sdk
}

/** The AI SDK's subscriber: its client, and its webhook behind a real server. */
const openSubscriber = async (agent: TestAgent) => {
  const kept = new Map<string, Subscription>()
  const store: Store = {
    get: async (key) => kept.get(key),
    getById: async (id) => [...kept.values()].find((one) => one.id === id),
    set: async (one) => void kept.set(one.key, one),
    update: async (key, patch) => void kept.set(key, { ...kept.get(key)!, ...patch }),
    delete: async (key) => void kept.delete(key),
  }
  const events: Event[] = []
  const ended: string[] = []
  const errors: unknown[] = []
  const handle = sdk.experimental_createMCPEventWebhook({
    store,
    onEvent: async ({ event }) => void events.push(event),
    onTerminated: async ({ termination }) => void ended.push(termination.error.message),
    onError: (error) => errors.push(error),
  })
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${request.url}`
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const answer = await handle(new Request(url, { method: 'POST', headers, body: Buffer.concat(chunks) }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  }).listen(0, '127.0.0.1')
  await until(() => server.listening)
  const client = await sdk.createMCPClient({
    transport: {
      type: 'http',
      url: `${service.http}/mcp`,
      headers: { Authorization: `Bearer ${agent.token}` },
    },
    experimental_events: { store },
  })
  closers.push(
    () => client.close(),
    () => server.close(),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return { client, store: kept, events, ended, errors, url }
}

describe.skipIf(!ENABLED)(`${SDK} (skipped without AI_SDK=1: it needs the npm registry)`, () => {
  const folder = ENABLED ? mkdtempSync(join(tmpdir(), 'ai-sdk-')) : ''
  beforeAll(async () => {
    sdk = await installSdk(folder)
    service = await sharedService()
    owner = await service.workspace()
  })
  afterAll(async () => {
    await Promise.all(closers.map((close) => close()))
    rmSync(folder, { recursive: true, force: true })
  })

  test('subscribes, is challenged, hears, reads, answers, renews and leaves', async () => {
    const agent = await createOpenAgent()
    const { client, events, store, errors, url } = await openSubscriber(agent)
    const { events: offered } = await client.experimental_events.list()
    expect(offered.map(({ name }) => name)).toContain('message.received')
    const delivery = { mode: 'webhook' as const, url, allowInsecureLocalhost: true }
    const made = await client.experimental_events.subscribe({
      name: 'message.received',
      arguments: { channels: ['email'] },
      delivery,
    })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^sub_/),
      cursor: '0',
      truncated: false,
      refreshBefore: expect.any(String),
    })
    await mail(agent)
    await until(() => events.length === 1)
    const { message } = events[0]!.data as { message: { id: string } }
    const read = await client.callTool({ name: 'read_message', arguments: { messageId: message.id } })
    expect(JSON.stringify(read)).toContain('OUTSIDE')
    await client.callTool({ name: 'reply', arguments: { messageId: message.id, text: 'Thanks' } })
    expect((await newest(agent))[0]).toMatchObject({ direction: 'outbound', text: 'Thanks' })
    const renewed = await client.experimental_events.refresh({ id: made.id })
    expect(renewed.id).toBe(made.id)
    await mail(agent)
    await until(() => events.length === 2)
    expect(events.map(({ cursor }) => cursor)).toEqual(['1', '2'])
    await client.experimental_events.unsubscribe({ id: made.id })
    expect(store.size).toBe(0)
    expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([])
    expect(errors).toEqual([])
  })

  test('is told that its token was revoked', async () => {
    const agent = await createOpenAgent()
    const { client, ended, store, url } = await openSubscriber(agent)
    const delivery = { mode: 'webhook' as const, url, allowInsecureLocalhost: true }
    await client.experimental_events.subscribe({ name: 'message.received', delivery })
    const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
    await owner.api('DELETE', `/agents/${agent.id}/tokens/${token.id}`)
    await until(() => ended.length === 1)
    expect(ended[0]).toMatch(/no longer exists/)
    expect(store.size).toBe(0)
  })
})
