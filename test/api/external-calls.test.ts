import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Requests that wait for an external system (here DNS, which hangs) hold no database connection, and only a
 * limited number of them can wait concurrently.
 */

const waiting: (() => void)[] = []
let hangs = true
let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  clock = createFakeClock()
  const lookup = async () => {
    if (hangs) await new Promise<void>((resolve) => waiting.push(resolve))
    return [{ address: '203.0.113.7', family: 4 }]
  }
  service = await startService({ world: { clock, lookup }, environment: { WEBHOOK_ALLOW: '203.0.113.7' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})
beforeEach(() => {
  hangs = true
})

const release = (): void => {
  hangs = false
  for (const go of waiting.splice(0)) go()
}
const urlOf = (name: string): string => `https://${name}.example/hook`
const add = ({ id, api }: TestAgent, key: string, url: string = urlOf(key)) =>
  api('POST', `/agents/${id}/webhooks`, { url }, { 'Idempotency-Key': key })
const allWait = (count: number) => until(() => waiting.length === count)

test('other requests are served while 80 requests with an Idempotency-Key wait for DNS', async () => {
  const agents = await Promise.all(
    Array.from({ length: 8 }, (_, n) => createTestAgent(service, owner, `Crowd ${n}`)),
  )
  let answered = 0
  const running = agents.flatMap((each) =>
    Array.from({ length: 10 }, async (_, n) => {
      const answer = await add(each, `crowd-${n}`)
      answered++
      return answer
    }),
  )
  await allWait(80)
  expect((await owner.api('GET', '/agents')).status).toBe(200)
  expect(
    (
      await owner.api(
        'POST',
        '/agents',
        { name: 'Meanwhile', icon: 'bot' },
        { 'Idempotency-Key': 'meanwhile' },
      )
    ).status,
  ).toBe(201)
  expect(answered).toBe(0)
  release()
  const answers = await Promise.all(running)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
  const again = await add(agents[0]!, 'crowd-0')
  expect(again).toMatchObject({ status: 201, text: answers[0]!.text })
  expect(again.headers.get('idempotency-replayed')).toBe('true')
})

test('a token can have 10 requests waiting for DNS, and another is rate limited until one finishes', async () => {
  const running = Array.from({ length: 10 }, (_, n) => add(agent, `most-${n}`))
  await allWait(10)
  const refused = await add(agent, 'more')
  expectFailure(refused, 'rate_limited', /At most 10 such requests can wait for external systems/)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  const query = `mutation { addWebhook(input: { agentId: "${agent.id}", url: "https://more.example/hook" }) { secret } }`
  const { body } = await agent.api('POST', '/graphql', { query }, { 'Idempotency-Key': 'more' })
  expect(body.errors).toMatchObject([{ extensions: { code: 'rate_limited' } }])
  release()
  await Promise.all(running)
  await Promise.all(
    (await agent.api('GET', `/agents/${agent.id}/webhooks`)).body.map(({ id }: { id: string }) =>
      agent.api('DELETE', `/agents/${agent.id}/webhooks/${id}`),
    ),
  )
  const { body: made } = await agent.api('POST', '/graphql', { query }, { 'Idempotency-Key': 'more' })
  expect(made.data.addWebhook.secret).toMatch(/^whsec_/)
})

test('an Idempotency-Key is in use on every process while its request waits', async () => {
  const running = add(agent, 'waits')
  await allWait(1)
  const elsewhere = apiOf((await service.again()).http, agent.token)
  for (const api of [agent.api, elsewhere])
    expectFailure(await add({ ...agent, api }, 'waits'), 'conflict', /still running/)
  expectFailure(
    await add(agent, 'waits', 'https://other.example/hook'),
    'invalid_input',
    /was used for another request/,
  )
  release()
  const { status, text } = await running
  expect(status).toBe(201)
  expect((await add(agent, 'waits')).text).toBe(text)
})

test('a failed request releases its Idempotency-Key', async () => {
  hangs = false
  const { status } = await owner.api(
    'POST',
    `/agents/${agent.id}/webhooks`,
    { url: 'https://10.0.0.1/' },
    { 'Idempotency-Key': 'fails' },
  )
  expect(status).toBe(400)
  expect(await service.db.prisma.idempotencyKey.count({ where: { key: 'fails' } })).toBe(0)
})

test('an Idempotency-Key is released after a minute of waiting, and the slow request then changes nothing', async () => {
  const url = 'https://slow.example/hook'
  const slow = add(agent, 'slow', url)
  await allWait(1)
  expectFailure(await add(agent, 'slow', url), 'conflict', /still running/)
  clock.advance(60_000)
  const again = add(agent, 'slow', url)
  await allWait(2)
  release()
  const answers = await Promise.all([slow, again])
  expectFailure(answers[0], 'unavailable', /took too long, and nothing was done/)
  expect(answers[1].status).toBe(201)
  expect((await add(agent, 'slow', url)).text).toBe(answers[1].text)
  expect(await service.db.prisma.webhook.count({ where: { agentId: agent.id, url } })).toBe(1)
})
