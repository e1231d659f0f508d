import { beforeAll, expect, test } from 'vitest'
import { openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
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
})

const connect = (client: string, api = agent.api) =>
  api('PUT', `/agents/${agent.id}/connection`, { client, machine: 'laptop' })
const listeners = async () => (await owner.api('GET', `/agents/${agent.id}/listeners`)).body
const streamOf = (id: string) => `${service.http}/agents/${agent.id}/connections/${id}/events`

/** Subscribes over GraphQL as the connected client, until `close`. */
const subscribeAs = async (connectionId: string) => {
  const closing = new AbortController()
  const query = `subscription { messageReceived(agentId: "${agent.id}", connectionId: "${connectionId}") { id } }`
  const response = await fetch(`${service.http}/graphql`, {
    method: 'POST',
    signal: closing.signal,
    headers: {
      Authorization: `Bearer ${agent.token}`,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    },
    body: JSON.stringify({ query }),
  })
  expect(response.status).toBe(200)
  return { close: () => closing.abort() }
}

const openOf = async (gauge: string): Promise<number> =>
  Number(new RegExp(`^${gauge} (\\d+)$`, 'm').exec((await owner.api('GET', '/metrics')).text)![1])

/** Starts counting how often a connection's lease ends; returns a function that returns the count. */
const countLeaseEnds = async () => {
  await service.db.pool.query(`
    create table lease_end (connection_id uuid);
    create function note_lease_end() returns trigger language plpgsql as
      'begin insert into lease_end values (new.id); return null; end';
    create trigger lease_end after update on connection
      for each row when (new.lease_until is null) execute function note_lease_end()`)
  return async (connectionId: string) => {
    const { rows } = await service.db.pool.query('select from lease_end where connection_id = $1', [
      connectionId,
    ])
    return rows.length
  }
}

test("only the agent's own token can connect a client", async () => {
  expectFailure(await connect('c', owner.api), 'forbidden', /Only the agent's own token/)
  const other = await createTestAgent(service, owner, 'Other')
  expectFailure(await connect('c', other.api), 'forbidden')
  const connected = await connect('my-client')
  const [token] = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
  expect(connected.status).toBe(200)
  expect(connected.body).toEqual({
    id: expect.any(String),
    client: 'my-client',
    machine: 'laptop',
    tokenId: token.id,
  })
})

test('a client is listed as a listener while its stream is open', async () => {
  const { id } = (await connect('first')).body
  expect(await listeners()).toEqual([])
  const stream = await openEvents(streamOf(id), agent.token)
  expect(await listeners()).toEqual([{ kind: 'client', client: 'first', machine: 'laptop' }])
  stream.close()
  await until(async () => (await listeners()).length === 0)
})

test('a client with a stream and a GraphQL subscription stays a listener until both are closed', async () => {
  const leaseEndsOf = await countLeaseEnds()
  for (const order of ['stream first', 'subscription first']) {
    const { id } = (await connect(order)).body
    const client = { kind: 'client', client: order, machine: 'laptop' }
    const both = [
      { one: await openEvents(streamOf(id), agent.token), gauge: 'ams_streams' },
      { one: await subscribeAs(id), gauge: 'ams_graphql_subscriptions' },
    ]
    if (order === 'subscription first') both.reverse()
    const [first, second] = both
    first!.one.close()
    await until(async () => (await openOf(first!.gauge)) === 0)
    expect(await openOf(second!.gauge)).toBe(1)
    expect(await listeners()).toEqual([client])
    second!.one.close()
    await until(async () => (await listeners()).length === 0)
    expect(await leaseEndsOf(id)).toBe(1)
  }
})

test('a new client replaces the first, whose connection then responds with 204', async () => {
  const first = (await connect('first')).body
  const old = await openEvents(streamOf(first.id), agent.token)
  const second = (await connect('second')).body
  await old.ended
  expect(old.frames).toEqual([{ id: null, event: 'replaced', data: {} }])
  const stream = await openEvents(streamOf(second.id), agent.token)
  expect(await listeners()).toEqual([{ kind: 'client', client: 'second', machine: 'laptop' }])
  const again = await openEvents(streamOf(first.id), agent.token)
  expect(again.status).toBe(204)
  expect(again.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  stream.close()
})

test.each([
  [{ machine: 'm' }, /^client: is required/],
  [{ client: 'c' }, /^machine: is required/],
  [{ client: '', machine: 'm' }, /^client: /],
  [{ client: 'c'.repeat(201), machine: 'm' }, /^client: /],
  [{ client: 'c', machine: 'm', id: 'x' }, /^id: is not a known field/],
])('connecting with %j is refused', async (body, says) => {
  expectFailure(await agent.api('PUT', `/agents/${agent.id}/connection`, body), 'invalid_input', says)
})

test('a webhook is listed as a listener', async () => {
  const added = await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
  expect(await listeners()).toEqual([{ kind: 'webhook', id: added.body.id, url: 'http://127.0.0.1:9/hook' }])
  await owner.api('DELETE', `/agents/${agent.id}/webhooks/${added.body.id}`)
})

test('a connection of another agent is not found', async () => {
  const other = await createTestAgent(service, owner, 'Another')
  const { body } = await other.api('PUT', `/agents/${other.id}/connection`, { client: 'c', machine: 'm' })
  expectFailure(await agent.api('GET', `/agents/${agent.id}/connections/${body.id}/events`), 'not_found')
})
