import { Hono } from 'hono'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RestDeps, RestEnv } from '../../src/rest/env.ts'
import { idempotency } from '../../src/rest/request/idempotency.ts'
import type { Viewer } from '../../src/workspace/viewer.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * The other processes are told of what a request with a key did once it is committed, and of nothing that was
 * undone.
 */

let service: TestService
let owner: Tenant
let agent: TestAgent
let listener: pg.Client
let told: string[] = []
beforeAll(async () => {
  service = await startService({ environment: { ROLES: 'api' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  listener = new pg.Client({ connectionString: service.databaseUrl })
  await listener.connect()
  listener.on('notification', ({ payload }) => void told.push(payload ?? ''))
  await listener.query('listen ams')
})
afterAll(() => listener.end())
beforeEach(() => {
  told = []
})

const withKey = (key: string) => ({ 'Idempotency-Key': key })
const addWebhook = ({ api, id }: TestAgent, key: string) =>
  api('POST', `/agents/${id}/webhooks`, { url: `http://127.0.0.1:9/hook` }, withKey(key))
/** Resolves once the others have heard what another agent does now: what this one did was told before it. */
const heardTheNext = async (key: string) => {
  const other = await createTestAgent(service, owner)
  expect((await addWebhook(other, key)).status).toBe(201)
  await until(() => told.some((payload) => payload.includes(other.id)))
}

test('a request that cannot be committed tells nobody', async () => {
  await service.db.pool.query(`
    create function keep_nothing() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create constraint trigger keep_nothing after insert on webhook initially deferred
       for each row execute function keep_nothing()`)
  const { status } = await addWebhook(agent, 'refused')
  await service.db.pool.query('drop trigger keep_nothing on webhook; drop function keep_nothing')
  expect(status).toBe(500)
  await heardTheNext('after the refused one')
  expect(told.filter((payload) => payload.includes(agent.id))).toEqual([])
})

test('a mutation that fails after it did its work is undone, and tells nobody', async () => {
  const query = `mutation ($first: Int!) {
    added: addWebhook(input: { agentId: "${agent.id}", url: "http://127.0.0.1:9/graphql" }) {
      webhook { id deliveries(first: $first) { edges { cursor } } }
    }
  }`
  const ask = (first: number) =>
    agent.api('POST', '/graphql', { query, variables: { first } }, withKey(`graphql ${first}`))
  expect((await ask(0)).body.errors).toMatchObject([{ extensions: { code: 'invalid_input' } }])
  expect((await agent.api('GET', `/agents/${agent.id}/webhooks`)).text).not.toContain('/graphql')
  await heardTheNext('after the undone one')
  expect(told.filter((payload) => payload.includes(agent.id))).toEqual([])
  expect((await ask(1)).body.errors).toBeUndefined()
  await until(() => told.some((payload) => payload.includes(agent.id)))
})

test.each([201, 409])('a request that is answered %i is told of only when it succeeded', async (status) => {
  const published: string[] = []
  const { id: tokenId } = await service.db.prisma.token.findFirstOrThrow({ where: { agentId: agent.id } })
  const viewer = { kind: 'agent', id: agent.id, workspaceId: owner.id, tokenId } as Viewer
  const notifier = { publish: (topic: string) => void published.push(topic) }
  const clock = { now: () => new Date() }
  const given = { ...service.db, clock, keyring: service.keyring, notifier } as unknown as RestDeps
  const app = new Hono<RestEnv>()
  app.use(async (c, next) => {
    c.set('deps', given)
    c.set('viewer', viewer)
    await next()
  })
  app.use(idempotency)
  app.post('/thing', (c) => {
    c.var.deps.notifier.publish('thing', 'made')
    expect(published).toEqual([])
    return c.json({}, status as 201)
  })
  expect(
    (await app.request('/thing', { method: 'POST', headers: withKey(`answered ${status}`), body: '{}' }))
      .status,
  ).toBe(status)
  expect(published).toEqual(status === 201 ? ['thing'] : [])
})
