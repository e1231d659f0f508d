import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type ExecutionResult } from 'graphql-sse'
import { afterAll, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Two processes of the service on one database, with workers: subscribers of both receive changes made by
 * either one.
 */
const service = await startService({ environment: { RATE_LIMIT: '100000' } })
const other = await service.again({ ROLES: 'api' })
const tenant = await service.workspace()
const bases = [service.http, other.http]

type Result = ExecutionResult<Record<string, { id: number }>, { code?: string }>

const disposals: (() => void)[] = []
afterAll(() => {
  for (const dispose of disposals) dispose()
})

/** Collects the results of a subscription until the end of the file. */
const follow = (base: string, query: string, variables: Record<string, unknown>, token = tenant.token) => {
  const client = createClient({
    url: `${base}/graphql`,
    headers: { Authorization: `Bearer ${token}` },
    retryAttempts: 0,
  })
  disposals.push(() => client.dispose())
  const results: Result[] = []
  client.subscribe(
    { query, variables },
    {
      next: (result) => void results.push(result as Result),
      error: () => undefined,
      complete: () => undefined,
    },
  )
  return {
    results,
    data: <Data>(): Data[] => results.flatMap(({ data }) => (data ? [Object.values(data)[0] as Data] : [])),
  }
}

/** Creates an agent that accepts mail from anyone, because nothing here proves the sender. */
const openAgent = async (): Promise<TestAgent> => {
  const agent = await createTestAgent(service, tenant)
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}

const ask = (query: string, variables: object) => tenant.api('POST', '/graphql', { query, variables })

const openNow = async (base: string): Promise<number> =>
  Number(/^ams_graphql_subscriptions (\d+)$/m.exec(await (await fetch(`${base}/metrics`)).text())?.[1])

/**
 * Opens subscriptions on these processes and waits until they are active, so that they miss nothing
 * afterwards.
 */
const opened = async (at: readonly string[], query: string, variables: Record<string, unknown>) => {
  const before = await Promise.all(bases.map(openNow))
  const readers = at.map((base) => follow(base, query, variables))
  for (const [index, base] of bases.entries()) {
    const more = at.filter((one) => one === base).length
    await until(async () => (await openNow(base)) === before[index]! + more)
  }
  return readers
}

const MESSAGES = 'subscription ($id: UUID!) { messageChanged(agentId: $id) { id status error } }'
const SEND = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id } } }'

interface Changed {
  id: string
  status: string
}

test('status changes of a message reach subscribers on every process', async () => {
  const agent = await createTestAgent(service, tenant)
  const readers = await opened(bases, MESSAGES, { id: agent.id })
  const sent = await ask(SEND, {
    input: { agentId: agent.id, text: 'hi', channel: 'email', to: ['bo@example.com'] },
  })
  const { id } = sent.body.data.sendMessage.message
  for (const reader of readers) {
    await until(() => reader.data<Changed>().some(({ status }) => status === 'sent'))
    const changes = reader.data<Changed>()
    expect(new Set(changes.map((one) => one.id))).toEqual(new Set([id]))
    // A status that changes again at once may be skipped, but none is repeated, and the last one is correct.
    expect(['sending sent', 'sent']).toContain(changes.map(({ status }) => status).join(' '))
  }
})

const WEBHOOKS = `subscription ($id: UUID!) { webhookChanged(agentId: $id) { webhookId webhook { url attempts error lastDeliveredAt } } }`

interface WebhookEvent {
  webhookId: string
  webhook: { url: string; attempts: number; error: string | null; lastDeliveredAt: string | null } | null
}

test('webhooks that are added, fail, deliver and are removed reach subscribers on every process', async () => {
  let status = 500
  const receiver = createServer((_request, response) => response.writeHead(status).end()).listen(
    0,
    '127.0.0.1',
  )
  await once(receiver, 'listening')
  disposals.push(() => receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const agent = await openAgent()
  const readers = await opened(bases, WEBHOOKS, { id: agent.id })
  const received = async (fits: (one: WebhookEvent) => boolean) => {
    for (const reader of readers) await until(() => reader.data<WebhookEvent>().some(fits))
  }
  const added = await tenant.api('POST', `/agents/${agent.id}/webhooks`, { url })
  await received(({ webhook }) => webhook?.url === url && webhook.attempts === 0)
  await post(service, { from: tenant.email, to: agent.address, text: 'first' })
  await received(({ webhook }) => webhook?.attempts === 1 && webhook.error !== null)
  status = 204
  await service.db.pool.query('update webhook set retry_at = now() where id = $1', [added.body.id])
  await received(({ webhook }) => webhook?.lastDeliveredAt !== null && webhook?.attempts === 0)
  await tenant.api('DELETE', `/agents/${agent.id}/webhooks/${added.body.id}`)
  await received(({ webhookId, webhook }) => webhookId === added.body.id && webhook === null)
})

const EVENTS =
  'subscription ($id: UUID!, $after: SafeInt) { messageReceived(agentId: $id, after: $after) { id message { text } } }'

const write = (agent: TestAgent, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => n + from).reduce(
    (done, n) =>
      done.then(() => post(service, { from: tenant.email, to: agent.address, text: `letter ${n}` })),
    Promise.resolve() as Promise<unknown>,
  )

test('a reader that switches between processes with `after` neither loses nor repeats an event', async () => {
  const agent = await openAgent()
  const before = await Promise.all(bases.map(openNow))
  const writing = write(agent, 1, 20)
  const seen: number[] = []
  while (seen.length < 20) {
    const base = bases[seen.length % 2]!
    const reader = follow(base, EVENTS, { id: agent.id, after: seen.at(-1) ?? 0 })
    await until(() => reader.results.length >= Math.min(3, 20 - seen.length))
    seen.push(
      ...reader
        .data<{ id: number }>()
        .map(({ id }) => id)
        .slice(0, 3),
    )
    disposals.pop()?.()
  }
  await writing
  expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
  for (const [index, base] of bases.entries())
    await until(async () => (await openNow(base)) === before[index])
})

test('many subscribers of the same events share one execution', async () => {
  const agent = await openAgent()
  const readers = await opened(Array<string>(30).fill(service.http), EVENTS, { id: agent.id })
  const texts: string[] = []
  const query = service.db.pool.query
  service.db.pool.query = ((...given: Parameters<typeof query>) => {
    texts.push(typeof given[0] === 'string' ? given[0] : ((given[0] as { text?: string }).text ?? ''))
    return Reflect.apply(query, service.db.pool, given)
  }) as typeof query
  await post(service, { from: tenant.email, to: agent.address, text: 'for all' })
  for (const reader of readers) await until(() => reader.results.length === 1)
  service.db.pool.query = query
  expect(new Set(readers.map(({ results }) => JSON.stringify(results[0]))).size).toBe(1)
  // The message is read once in each process, not once for each of the thirty subscribers.
  expect(
    texts.filter((text) => /^SELECT .*"message"/s.test(text) && /"text"/.test(text)).length,
  ).toBeLessThanOrEqual(2)
})
