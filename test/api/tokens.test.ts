import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { SOON_MS, until } from '../support/until.ts'

let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const mint = async (body: object = {}) => (await owner.api('POST', `/agents/${agent.id}/tokens`, body)).body

test('a token is returned once, and only its hash is stored', async () => {
  const [{ id: ownerTokenId }] = (await owner.api('GET', '/tokens')).body
  const answer = await owner.api('POST', `/agents/${agent.id}/tokens`, { name: 'laptop' })
  expect(answer.status).toBe(201)
  const { token, ...shown } = answer.body
  expect(token).toMatch(/^aat_[0-9A-Za-z]{43}$/)
  expect(shown).toEqual({
    id: expect.any(String),
    name: 'laptop',
    createdAt: expect.any(String),
    lastUsedAt: null,
    expiresAt: null,
    scopes: null,
    parentId: ownerTokenId,
  })
  const list = await owner.api('GET', `/agents/${agent.id}/tokens`)
  expect(list.body).toContainEqual(shown)
  expect(list.text).not.toContain(token)
  const { rows } = await service.db.pool.query('select hash, token::text as whole from token where id = $1', [
    shown.id,
  ])
  expect(rows[0].hash).toEqual(createHash('sha256').update(token).digest())
  expect(rows[0].whole).not.toContain(token)
})

test('a member and an agent can each have at most 100 tokens', async () => {
  const { api } = await service.workspace()
  const other = (await api('POST', '/agents', { name: 'Many', icon: 'bot' })).body
  for (const path of ['/tokens', `/agents/${other.id}/tokens`]) {
    const answers = await Promise.all(Array.from({ length: 102 }, () => api('POST', path, {})))
    const refused = answers.filter(({ status }) => status !== 201)
    expect((await api('GET', path)).body).toHaveLength(100)
    for (const answer of refused) expectFailure(answer, 'conflict', /at most 100 tokens/)
    expect(
      (await api('DELETE', `${path}/${answers.find(({ status }) => status === 201)!.body.id}`)).status,
    ).toBe(204)
    expect((await api('POST', path, {})).status).toBe(201)
  }
})

test('the last use of a token is recorded', async () => {
  const { id, token } = await mint()
  await apiOf(service.http, token)('GET', `/agents/${agent.id}`)
  const used = await until(async () => {
    const { body } = await owner.api('GET', `/agents/${agent.id}/tokens`)
    return body.find((one: { id: string }) => one.id === id).lastUsedAt
  })
  expect(used).toBe(clock.now().toISOString())
})

test('the name and expiry of a token can be null', async () => {
  expect(await mint({ name: null, expiresAt: null })).toMatchObject({ name: null, expiresAt: null })
})

describe('revoking a token', () => {
  test('takes effect immediately, and closes its stream within a second', async () => {
    const { id, token } = await mint()
    const own = apiOf(service.http, token)
    const connection = await own('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
    const stream = await openEvents(
      `${service.http}/agents/${agent.id}/connections/${connection.body.id}/events`,
      token,
    )
    expect(stream.status).toBe(200)
    const started = performance.now()
    expect((await owner.api('DELETE', `/agents/${agent.id}/tokens/${id}`)).status).toBe(204)
    expectFailure(await own('GET', `/agents/${agent.id}`), 'unauthorized', /^This token is not valid\.$/)
    await stream.ended
    expect(performance.now() - started).toBeLessThan(SOON_MS)
    expectFailure(await owner.api('DELETE', `/agents/${agent.id}/tokens/${id}`), 'not_found')
  })

  test('is possible with that token itself', async () => {
    const { id, token } = await mint()
    const own = apiOf(service.http, token)
    expect((await own('DELETE', `/agents/${agent.id}/tokens/${id}`)).status).toBe(204)
    expectFailure(await own('GET', `/agents/${agent.id}`), 'unauthorized')
  })

  test('of another agent is not found', async () => {
    const other = await createTestAgent(service, owner, 'Other')
    const { id } = (await owner.api('GET', `/agents/${other.id}/tokens`)).body[0]
    expectFailure(
      await owner.api('DELETE', `/agents/${agent.id}/tokens/${id}`),
      'not_found',
      /^There is no token with this id\.$/,
    )
    expect((await other.api('GET', `/agents/${other.id}`)).status).toBe(200)
  })
})

test('an expired token is unauthorized, and its stream is closed', async () => {
  const { token } = await mint({ expiresAt: new Date(clock.now().getTime() + 60_000).toISOString() })
  const own = apiOf(service.http, token)
  const connection = await own('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(
    `${service.http}/agents/${agent.id}/connections/${connection.body.id}/events`,
    token,
  )
  expect(stream.status).toBe(200)
  clock.advance(60_000)
  expectFailure(await own('GET', `/agents/${agent.id}`), 'unauthorized', /^This token is not valid\.$/)
  await stream.ended
})

test('a token is valid until its expiry and no longer, even if it was used just before', async () => {
  const { token } = await mint({ expiresAt: new Date(clock.now().getTime() + 1_000).toISOString() })
  const own = apiOf(service.http, token)
  clock.advance(999)
  expect((await own('GET', `/agents/${agent.id}`)).status).toBe(200)
  clock.advance(1)
  expectFailure(await own('GET', `/agents/${agent.id}`), 'unauthorized', /^This token is not valid\.$/)
})

test.each([
  [{ expiresAt: '2020-01-01T00:00:00Z' }, /^expiresAt: must be in the future/],
  [{ expiresAt: '9999-12-31T23:59:59-01:00' }, /^expiresAt: must be in the years 1 to 9999 in UTC/],
  [{ expiresAt: 'tomorrow' }, /^expiresAt: must be an ISO 8601 timestamp/],
  [{ expiresAt: 5 }, /^expiresAt: /],
  [{ expiresAt: '+275760-09-13T00:00:00Z' }, /^expiresAt: /],
  [{ name: '' }, /^name: /],
  [{ name: 'n'.repeat(101) }, /^name: /],
  [{ token: 'aat_mine' }, /^token: is not a known field/],
])('creating a token with %j is refused', async (body, says) => {
  expectFailure(await owner.api('POST', `/agents/${agent.id}/tokens`, body), 'invalid_input', says)
})

describe('an agent', () => {
  test('cannot create tokens for itself, so that a leaked token cannot outlive its revocation', async () => {
    expectFailure(await agent.api('POST', `/agents/${agent.id}/tokens`, {}), 'forbidden')
  })

  test('can create tokens for an agent that it created, and is on the access lists of that agent', async () => {
    const made = await agent.api('POST', '/agents', { name: 'Helper', icon: 'wrench' })
    expect(made.status).toBe(201)
    const minted = await agent.api('POST', `/agents/${made.body.id}/tokens`, {})
    expect(minted.status).toBe(201)
    const helper = apiOf(service.http, minted.body.token)
    const access = await helper('GET', `/agents/${made.body.id}/access`)
    expect(access.body).toMatchObject({
      email: { admit: 'list', senders: [agent.address] },
      url: { admit: 'list', senders: [agent.id] },
    })
    expectFailure(await agent.api('GET', `/agents/${made.body.id}`), 'forbidden')
    expect((await agent.api('GET', '/agents')).body).toHaveLength(1)
  })
})

test.each([
  ['no Authorization header', null],
  ['an empty token', 'Bearer '],
  ['another scheme', 'Basic abc'],
  ['an unknown token', `Bearer aat_${'x'.repeat(43)}`],
  ['a token of 8,000 characters', `Bearer ${'x'.repeat(8_000)}`],
  ['SQL as the token', "Bearer ' or 1=1 --"],
])('a request with %s is unauthorized', async (_, header) => {
  const nobody = apiOf(service.http, null)
  expectFailure(
    await nobody('GET', '/agents', undefined, header === null ? {} : { Authorization: header }),
    'unauthorized',
  )
})

test('the authentication scheme is case-insensitive', async () => {
  const nobody = apiOf(service.http, null)
  expect((await nobody('GET', '/agents', undefined, { Authorization: `bEARER ${owner.token}` })).status).toBe(
    200,
  )
})
