import { beforeAll, expect, test, vi } from 'vitest'
import { Subscriptions } from '../../src/agent/listening/subscriptions.ts'
import { Turns } from '../../src/core/turns.ts'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('PATCH', `/agents/${agent.id}`, { eventTypes: ['message.sent'] })
})

const log = (query: string, who: Pick<Tenant, 'api'> = agent) =>
  who.api('GET', `/agents/${agent.id}/events?${query}`)
const mail = (subject: string) =>
  post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'x' })
/** The service runs in this process. */
const [opened, closed] = [
  vi.spyOn(Subscriptions.prototype, 'open'),
  vi.spyOn(Subscriptions.prototype, 'close'),
]
const open = () => opened.mock.calls.length - closed.mock.calls.length
const waiting = () => until(() => open() > 0)

test('the log tells its newest id, and a request waits for the next event without being a listener', async () => {
  expect((await log('limit=1')).body).toEqual({ items: [], nextCursor: null, lastId: 0 })
  const asked = log('after=0&wait=30')
  await waiting()
  expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([])
  await mail('One')
  expect((await asked).body).toMatchObject({ items: [{ id: 1 }], lastId: 1 })
  expect((await log('after=0&wait=30', owner)).body.items).toHaveLength(1)
  expect(open()).toBe(0)
})

test("a position beyond the log's end counts as its end, as in the stream", async () => {
  const { lastId } = (await log('limit=1')).body
  const asked = log(`after=${lastId + 1_000}&wait=30`)
  await waiting()
  await mail('Beyond')
  expect((await asked).body).toMatchObject({ items: [{ id: lastId + 1 }], lastId: lastId + 1 })
})

test('it waits for the types that it names', async () => {
  const { lastId } = (await log('limit=1')).body
  const asked = log(`after=${lastId}&wait=30&types=message.received`)
  await waiting()
  const to = ['bo@example.com']
  await agent.api('POST', `/agents/${agent.id}/messages`, { channel: 'email', to, subject: 'S', text: 'x' })
  await until(async () => (await log('limit=1')).body.lastId === lastId + 1)
  await mail('Two')
  const { items } = (await asked).body
  expect(items).toMatchObject([{ id: lastId + 2, type: 'message.received' }])
})

test('it ends when the time is up, the token is revoked, or the client is gone', async () => {
  const { lastId } = (await log('limit=1')).body
  expect((await log(`after=${lastId}&wait=1`)).body).toEqual({ items: [], nextCursor: null, lastId })
  const made = await owner.api('POST', `/agents/${agent.id}/tokens`, { name: 'short' })
  const headers = { Authorization: `Bearer ${made.body.token}` }
  const url = `${service.http}/agents/${agent.id}/events?after=${lastId}&wait=50`
  const revoked = fetch(url, { headers })
  await waiting()
  await owner.api('DELETE', `/agents/${agent.id}/tokens/${made.body.id}`)
  expect((await revoked).status).toBe(401)
  const leaving = new AbortController()
  const left = fetch(url, { headers: { Authorization: `Bearer ${agent.token}` }, signal: leaving.signal })
  left.catch(() => undefined)
  await waiting()
  leaving.abort()
  await until(() => open() === 0)
})

test('many that wait keep no other request of the token waiting', async () => {
  const { lastId } = (await log('limit=1')).body
  const asked = Array.from({ length: 30 }, () => log(`after=${lastId}&wait=50`))
  await until(() => open() === 30)
  expect((await log('limit=1')).status).toBe(200)
  await mail('Three')
  for (const { body } of await Promise.all(asked)) expect(body.items).toHaveLength(1)
})

test('other requests take turns whatever their query says', async () => {
  const run = vi.spyOn(Turns.prototype, 'run')
  await agent.api('GET', `/agents/${agent.id}/messages?wait=1`)
  await agent.api('POST', '/graphql?wait=1', { query: '{ __typename }' })
  expect(run).toHaveBeenCalledTimes(2)
})

test.each(['-1', '51', 'x'])('wait=%s is refused', async (wait) => {
  expectFailure(await log(`wait=${wait}`), 'invalid_input', /^wait: /)
})
