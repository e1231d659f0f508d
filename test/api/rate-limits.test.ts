import { getIntrospectionQuery } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { createFakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post } from '../support/letter.ts'
import { apiOf, createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'
import { SOON_MS, until } from '../support/until.ts'

/**
 * The time stands still at 15 seconds past a minute, so that no window ends in the middle of a test. Delays
 * are real.
 */
const still = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 15_000)
const clock: Clock = { now: () => still, sleep: systemClock.sleep }
const LIMIT = 20

describe('the rate limit of a token', () => {
  let service: TestService
  let owner: Tenant
  beforeAll(async () => {
    service = await startService({ environment: { RATE_LIMIT: String(LIMIT) }, world: { clock } })
    owner = await service.workspace()
  })

  test('is reported in every response, and a 429 says when to retry', async () => {
    for (let n = 1; n <= LIMIT; n++) {
      const { status, headers } = await owner.api('GET', n === 7 ? '/agents/x' : '/agents')
      expect(status).toBe(n === 7 ? 400 : 200)
      expect(headers.get('ratelimit-policy')).toBe(`"token";q=${LIMIT};w=60`)
      expect(headers.get('ratelimit')).toBe(`"token";r=${LIMIT - n};t=45`)
    }
    const refused = await owner.api('GET', '/agents')
    expectFailure(refused, 'rate_limited', /At most 20 requests a minute/)
    expect(refused.headers.get('retry-after')).toBe('45')
    expect(refused.headers.get('ratelimit')).toBe('"token";r=0;t=45')
  })

  test('applies to each token across all paths, and not to unknown tokens', async () => {
    const { api } = await service.workspace()
    const { token } = (await api('POST', '/tokens', {})).body
    for (const path of ['/agents', '/members', '/tokens', '/workspace']) {
      for (let n = 0; n < 5; n++) await api('GET', path)
    }
    expectFailure(await api('GET', '/workspace'), 'rate_limited')
    expectFailure(await api('POST', '/agents', { name: 'x', icon: 'bot' }), 'rate_limited')
    expect((await apiOf(service.http, token)('GET', '/agents')).status).toBe(200)
    for (let n = 0; n < LIMIT + 5; n++)
      expectFailure(await apiOf(service.http, 'amt_nobody')('GET', '/agents'), 'unauthorized')
  })

  test('counts a GraphQL document by its size and its cost, also when it is repeated', async () => {
    const { api } = await service.workspace()
    const remaining = async (query: string) =>
      Number(/r=(\d+)/.exec((await api('POST', '/graphql', { query })).headers.get('ratelimit')!)![1])
    expect(await remaining('{ viewer { id } }')).toBe(LIMIT - 1)
    expect(await remaining(`{ viewer { ${'id '.repeat(99)} } }`)).toBe(LIMIT - 3)
    expect(await remaining(getIntrospectionQuery())).toBe(LIMIT - 11)
    expect(await remaining(getIntrospectionQuery())).toBe(1)
    expect(await remaining(getIntrospectionQuery())).toBe(0)
    const refused = await api('POST', '/graphql', { query: '{ viewer { id } }' })
    expect(refused.status).toBe(429)
    expect(refused.body.errors[0].extensions.code).toBe('rate_limited')
  })

  test('counts each mutation of a document, and each ten queries', async () => {
    const { api } = await service.workspace()
    const remaining = async (query: string) =>
      Number(/r=(\d+)/.exec((await api('POST', '/graphql', { query })).headers.get('ratelimit')!)![1])
    const times = (count: number, field: string) =>
      Array.from({ length: count }, (_, n) => `r${n}: ${field}`).join(' ')
    expect(await remaining(`{ ${times(9, 'viewer { id }')} }`)).toBe(LIMIT - 1)
    expect(await remaining(`{ ${times(10, 'viewer { id }')} }`)).toBe(LIMIT - 3)
    const agents = times(8, 'createAgent(input: { name: "A", icon: bot }) { agent { id } }')
    expect(await remaining(`mutation { ...Agents } fragment Agents on Mutation { ${agents} }`)).toBe(
      LIMIT - 11,
    )
    expect(
      await remaining('mutation { createAgent(input: { name: "A", icon: bot }) { agent { id } } }'),
    ).toBe(LIMIT - 12)
  })

  test('counts ten lists of a query, and each search after the first', async () => {
    const { api } = await service.workspace()
    const cost = async (count: number, args: string) => {
      const field = (n: number) => `r${n}: messages(first: ${n + 1} ${args}) { edges { cursor } }`
      const query = `{ workspace { ${Array.from({ length: count }, (_, n) => field(n)).join(' ')} } }`
      const left = async (body: object) =>
        Number(/r=(\d+)/.exec((await api('POST', '/graphql', body)).headers.get('ratelimit')!)![1])
      const before = await left({ query: '{ viewer { id } }' })
      return before - (await left({ query }))
    }
    expect(await cost(10, '')).toBe(1)
    expect(await cost(11, '')).toBe(2)
    expect(await cost(1, 'q: "fox"')).toBe(1)
    expect(await cost(5, 'q: "fox"')).toBe(5)
  })

  test('counts a large body several times', async () => {
    const { api } = await service.workspace()
    const { headers } = await api('POST', '/agents/x/messages', { text: 'x'.repeat(3 * 1024 * 1024) })
    expect(headers.get('ratelimit')).toBe(`"token";r=${LIMIT - 4};t=45`)
  })

  test('counts a body that is too large to be read once', async () => {
    const { api } = await service.workspace()
    const { status, headers } = await api('POST', '/agents', { name: 'x'.repeat(3 * 1024 * 1024) })
    expect(status).toBe(413)
    expect(headers.get('ratelimit')).toBe(`"token";r=${LIMIT - 1};t=45`)
  })

  test('counts a large answer several times', async () => {
    const tenant = await service.workspace()
    const agent = await createTestAgent(service, tenant)
    const path = `/agents/${agent.id}/messages`
    const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
    const { id } = (await agent.api('POST', path, mail)).body
    await service.db.pool.query("update message set text = repeat('x', 3500000) where id = $1", [id])
    const left = ({ headers }: { headers: Headers }) => Number(/r=(\d+)/.exec(headers.get('ratelimit')!)![1])
    const before = left(await agent.api('GET', '/workspace'))
    await agent.api('GET', `${path}/${id}`)
    let asked = 0
    await until(async () => left(await agent.api('GET', '/workspace')) <= before - 7 - ++asked)
    const query = `{ message(id: "${id}") { text } }`
    const now = left(await agent.api('GET', '/workspace'))
    expect(left(await agent.api('POST', '/graphql', { query }))).toBe(now - 4)
  })

  test('is shared between two processes within a second', async () => {
    const { token, api } = await service.workspace()
    const elsewhere = apiOf((await service.again()).http, token)
    await Promise.all(
      Array.from({ length: LIMIT / 2 }, () =>
        Promise.all([api('GET', '/agents'), elsewhere('GET', '/agents')]),
      ),
    )
    const started = performance.now()
    const statuses = () => Promise.all([api('GET', '/agents'), elsewhere('GET', '/agents')])
    await until(async () => (await statuses()).every(({ status }) => status === 429))
    expect(performance.now() - started).toBeLessThan(SOON_MS)
  })
})

test('of one token, 16 requests run at once and 200 wait', async () => {
  const service = await startService({ world: { clock } })
  const { api } = await service.workspace()
  // The token is looked up once, as long as the time stands still.
  await api('GET', '/workspace')
  const client = await service.db.pool.connect()
  await client.query('begin; lock table agent in access exclusive mode')
  const answers = Array.from({ length: 217 }, (_, n) =>
    n % 2 ? api('GET', '/agents') : api('POST', '/graphql', { query: '{ agents { id } }' }),
  )
  const first = await Promise.race(answers)
  expect(first.status).toBe(429)
  expect(first.headers.get('retry-after')).toBe('1')
  expect(first.text).toContain('Too many requests with this token at once: 16 run and 200 wait.')
  await client.query('rollback')
  client.release()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(216)
  expect((await api('GET', '/agents')).status).toBe(200)
})

test('the rate limit of a token is reset in the next minute', async () => {
  const fake = createFakeClock(still)
  const service = await startService({ environment: { RATE_LIMIT: '3' }, world: { clock: fake } })
  const { api } = await service.workspace()
  for (let n = 0; n < 3; n++) await api('GET', '/agents')
  expectFailure(await api('GET', '/agents'), 'rate_limited')
  fake.advance(44_999)
  expectFailure(await api('GET', '/agents'), 'rate_limited')
  fake.advance(1)
  expect((await api('GET', '/agents')).headers.get('ratelimit')).toBe('"token";r=2;t=60')
})

describe('the rate limit of an agent', () => {
  let service: TestService
  let owner: Tenant
  beforeAll(async () => {
    service = await startService({ world: { clock, resolver: fakeResolver(proves('example.com')) } })
    owner = await service.workspace()
  })

  test('is 60 sends a minute over all tokens, and does not affect another agent', async () => {
    const agent = await createTestAgent(service, owner)
    const path = `/agents/${agent.id}/messages`
    const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
    const send = (n: number) => (n % 2 ? agent : owner).api('POST', path, mail)
    const statuses = await Promise.all(Array.from({ length: 60 }, async (_, n) => (await send(n)).status))
    expect(new Set(statuses)).toEqual(new Set([201]))
    const refused = await agent.api('POST', path, mail)
    expectFailure(refused, 'rate_limited', /at most 60 messages a minute/)
    expect(refused.headers.get('retry-after')).toBe('45')
    expect((await agent.api('GET', path)).status).toBe(200)
    const other = await createTestAgent(service, owner, 'Other')
    expect((await other.api('POST', `/agents/${other.id}/messages`, mail)).status).toBe(201)
    expect(await service.db.prisma.message.count({ where: { agentId: agent.id } })).toBe(60)
  })

  test('is not used up by requests of another workspace', async () => {
    const agent = await createTestAgent(service, owner, 'Wanted')
    const stranger = await service.workspace()
    const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
    const statuses = await Promise.all(
      Array.from(
        { length: 61 },
        async () => (await stranger.api('POST', `/agents/${agent.id}/messages`, mail)).status,
      ),
    )
    expect(new Set(statuses)).toEqual(new Set([404]))
    expect((await agent.api('POST', `/agents/${agent.id}/messages`, mail)).status).toBe(201)
  })

  test('is 30 mails a minute from one verified sender, and a refused mail creates no event', async () => {
    const agent = await createTestAgent(service, owner, 'Popular')
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    const mail = (from: string) => post(service, { from, to: agent.address, text: 'hi' })
    for (let batch = 0; batch < 3; batch++)
      await Promise.all(Array.from({ length: 10 }, () => mail('ann@example.com')))
    await mail('Ann <ANN@example.com>')
    expect(await newest(agent)).toMatchObject([
      { status: 'refused', refusal: 'rate_limit', counterpart: 'ann@example.com' },
    ])
    await mail('bo@example.com')
    expect(await newest(agent)).toMatchObject([{ status: 'received', counterpart: 'bo@example.com' }])
    const events = (await agent.api('GET', `/agents/${agent.id}/events?limit=100`)).body.items
    expect(events).toHaveLength(31)
  })
})

describe('the rate limit of agents created by agents', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ world: { clock } })
  })

  test('is 60 an hour for all agents of a workspace, and does not affect members', async () => {
    const tenant = await service.workspace()
    const first = await createTestAgent(service, tenant, 'First')
    const made = []
    for (let n = 0; n < 59; n++) made.push(await first.api('POST', '/agents', { name: 'Child', icon: 'bot' }))
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]))
    const child = made[0]!.body.id
    const { token } = (await first.api('POST', `/agents/${child}/tokens`, {})).body
    const createBy = (api: Tenant['api']) => api('POST', '/agents', { name: 'Grandchild', icon: 'bot' })
    expect((await createBy(apiOf(service.http, token))).status).toBe(201)
    const refused = await createBy(apiOf(service.http, token))
    expectFailure(refused, 'rate_limited', /^A workspace's agents can create at most 60 agents an hour\.$/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await createBy(tenant.api)).status).toBe(201)
  })
})
