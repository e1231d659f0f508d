import { beforeAll, expect, test } from 'vitest'
import { createDescription } from '../support/description.ts'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/webhooks`
})

test('a webhook can be added once, listed without its secret, and removed', async () => {
  const url = 'http://127.0.0.1:9/hook'
  const added = await agent.api('POST', path, { url })
  expect(added.status).toBe(201)
  const { secret, ...shown } = added.body
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/)
  expect(shown).toEqual({
    id: expect.any(String),
    url,
    name: null,
    events: ['message.received'],
    headers: {},
    body: null,
    createdAt: expect.any(String),
    pausedAt: null,
    error: null,
    attempts: 0,
    retryAt: null,
    lastDeliveredAt: null,
  })
  expect(await owner.api('POST', path, { url })).toMatchObject({ status: 200, body: added.body })
  const list = await agent.api('GET', path)
  expect(list.body).toEqual([shown])
  expect(list.text).not.toContain('whsec_')
  const { rows } = await service.db.pool.query('select webhook::text as whole from webhook where id = $1', [
    shown.id,
  ])
  expect(rows[0].whole).not.toContain(secret)
  expect((await agent.api('DELETE', `${path}/${shown.id}`)).status).toBe(204)
  expectFailure(
    await agent.api('DELETE', `${path}/${shown.id}`),
    'not_found',
    /^There is no webhook with this id\.$/,
  )
  expect((await agent.api('GET', path)).body).toEqual([])
})

test('adding the same URL concurrently creates one webhook with one secret', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => agent.api('POST', path, { url: 'http://127.0.0.1:9/race' })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
  expect(new Set(answers.map(({ body }) => `${body.id} ${body.secret}`)).size).toBe(1)
})

test('an agent can have at most 10 webhooks', async () => {
  const full = await createTestAgent(service, owner, 'Full')
  const add = (n: number) =>
    full.api('POST', `/agents/${full.id}/webhooks`, { url: `http://127.0.0.1:9/${n}` })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => add(n)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
  for (const refused of answers.filter(({ status }) => status !== 201))
    expectFailure(refused, 'conflict', /10/)
})

test.each([
  [{}, /^url: is required/],
  [{ url: '' }, /^url: /],
  [{ url: 'nonsense' }, /^url: /],
  [{ url: 'http://example.com/' }, /^url: /],
  [{ url: 'ftp://example.com/' }, /^url: /],
  [{ url: 'https://localhost/' }, /^url: /],
  [{ url: 'https://10.0.0.1/' }, /^url: /],
  [{ url: 'https://169.254.169.254/latest/meta-data' }, /^url: /],
  [{ url: 'https://[::1]/' }, /^url: /],
  [{ url: 'https://2130706434/' }, /^url: /],
  [{ url: 'https://0x7f.2/' }, /^url: /],
  [{ url: `https://example.com/${'x'.repeat(2_048)}` }, /^url: /],
  [{ url: 'http://127.0.0.1:9/hook', secret: 'whsec_mine' }, /^secret: is not a known field/],
])('adding a webhook with %j is refused', async (body, says) => {
  expectFailure(await agent.api('POST', path, body), 'invalid_input', says)
})

test('a webhook of another agent is not found', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  const { body } = await other.api('POST', `/agents/${other.id}/webhooks`, {
    url: 'http://127.0.0.1:9/other',
  })
  expectFailure(await agent.api('DELETE', `${path}/${body.id}`), 'not_found')
  expectFailure(await agent.api('GET', `${path}/${body.id}/deliveries`), 'not_found')
  expect((await other.api('GET', `/agents/${other.id}/webhooks/${body.id}/deliveries`)).body).toEqual({
    items: [],
    nextCursor: null,
  })
})

test('deliveries of emails and of Message URL messages match their OpenAPI description', async () => {
  const receiver = await createReceiver()
  const agent = await createTestAgent(service, owner, 'Described')
  const { body: hook } = await agent.api('POST', `/agents/${agent.id}/webhooks`, {
    url: `${receiver.url}/described`,
  })
  receiver.expect('/described', hook.secret)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await post(service, { from: 'ann@example.com', to: agent.address, text: 'hi' })
  expect((await owner.api('POST', `/a/${agent.id}`, { text: 'hey' })).status).toBe(200)
  const posted = await receiver.got('/described', 2)
  const { body: document } = await owner.api('GET', '/openapi.json')
  const { faultsOf } = createDescription(document)
  const { requestBody, parameters } = document.webhooks.messageReceived.post
  const { schema } = requestBody.content['application/json']
  expect(posted.map(({ verified }) => [verified.data.message.channel, faultsOf(schema, verified)])).toEqual([
    ['email', []],
    ['url', []],
  ])
  for (const { name } of parameters) expect(posted[0]!.headers).toHaveProperty(name)
  await receiver.close()
})
