import { Hono } from 'hono'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Context } from '../../src/context.ts'
import { idempotency } from '../../src/rest/request/idempotency.ts'
import type { RestEnv } from '../../src/rest/route/env.ts'
import type { Viewer } from '../../src/workspace/token/viewer.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * A request with an Idempotency-Key notifies other processes once it is committed, and never when it was rolled
 * back.
 */

let service: TestService
let owner: Tenant
let agent: TestAgent
let listener: pg.Client
let notifications: string[] = []
beforeAll(async () => {
  service = await startService({ environment: { ROLES: 'api' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  listener = new pg.Client({ connectionString: service.databaseUrl })
  await listener.connect()
  listener.on('notification', ({ payload }) => void notifications.push(payload ?? ''))
  await listener.query('listen ams')
})
afterAll(() => listener.end())
beforeEach(() => {
  notifications = []
})

const withKey = (key: string) => ({ 'Idempotency-Key': key })
const addWebhook = ({ api, id }: TestAgent, key: string) =>
  api('POST', `/agents/${id}/webhooks`, { url: `http://127.0.0.1:9/hook` }, withKey(key))
/** Resolves when a later change was notified: notifications of earlier changes have then arrived too. */
const laterNotification = async (key: string) => {
  const other = await createTestAgent(service, owner)
  expect((await addWebhook(other, key)).status).toBe(201)
  await until(() => notifications.some((payload) => payload.includes(other.id)))
}

test('a request that cannot be committed sends no notification', async () => {
  await service.db.pool.query(`
    create function keep_nothing() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create constraint trigger keep_nothing after insert on webhook initially deferred
       for each row execute function keep_nothing()`)
  const { status } = await addWebhook(agent, 'refused')
  await service.db.pool.query('drop trigger keep_nothing on webhook; drop function keep_nothing')
  expect(status).toBe(500)
  await laterNotification('after the refused one')
  expect(notifications.filter((payload) => payload.includes(agent.id))).toEqual([])
})

test('a mutation that fails after its changes is rolled back and sends no notification', async () => {
  const query = `mutation ($first: Int!) {
    added: addWebhook(input: { agentId: "${agent.id}", url: "http://127.0.0.1:9/graphql" }) {
      webhook { id deliveries(first: $first) { edges { cursor } } }
    }
  }`
  const ask = (first: number) =>
    agent.api('POST', '/graphql', { query, variables: { first } }, withKey(`graphql ${first}`))
  expect((await ask(0)).body.errors).toMatchObject([{ extensions: { code: 'invalid_input' } }])
  expect((await agent.api('GET', `/agents/${agent.id}/webhooks`)).text).not.toContain('/graphql')
  await laterNotification('after the undone one')
  expect(notifications.filter((payload) => payload.includes(agent.id))).toEqual([])
  expect((await ask(1)).body.errors).toBeUndefined()
  await until(() => notifications.some((payload) => payload.includes(agent.id)))
})

test.each([201, 409])(
  'a request with the response %i sends its notifications only if it succeeded',
  async (status) => {
    const published: string[] = []
    const { id: tokenId } = await service.db.prisma.token.findFirstOrThrow({ where: { agentId: agent.id } })
    const viewer = { kind: 'agent', id: agent.id, workspaceId: owner.id, tokenId } as Viewer
    const spied = { publish: (topic: string) => void published.push(topic) }
    const clock = { now: () => new Date() }
    const given = { ...service.db, clock, keyring: service.keyring, notifier: spied } as unknown as Context
    const app = new Hono<RestEnv>()
    app.use(async (c, next) => {
      c.set('deps', given)
      c.set('viewer', viewer)
      await next()
    })
    app.use(idempotency)
    app.post('/thing', (c) => {
      const { afterCommit, notifier } = c.var.deps
      afterCommit(() => notifier.publish('thing', 'made'))
      expect(published).toEqual([])
      return c.json({}, status as 201)
    })
    expect(
      (await app.request('/thing', { method: 'POST', headers: withKey(`answered ${status}`), body: '{}' }))
        .status,
    ).toBe(status)
    expect(published).toEqual(status === 201 ? ['thing'] : [])
  },
)
