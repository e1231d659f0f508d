import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { hashToken, newToken } from '../../src/workspace/token/token.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { callRoute, type Ids, ROUTES, TABLE, WITH_ID } from './rest-table.ts'
import { createTarget, type Target } from './rest-target.ts'

const SUB_IDS = ['addressId', 'messageId', 'tokenId', 'webhookId', 'deliveryId', 'connectionId', 'draftId']

let service: TestService
let owner: Tenant
let foreign: Tenant
let target: Target
let foreignTarget: Target
let peer: TestAgent
/** Invalid tokens by what is wrong with them. */
const invalid: Record<string, string | null> = { 'no token': null, garbage: 'amt_garbage' }

beforeAll(async () => {
  // each row creates its own target
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace('Owner')
  foreign = await service.workspace('Foreign')
  target = await createTarget(service, owner)
  foreignTarget = await createTarget(service, foreign)
  peer = await createTestAgent(service, owner, 'Peer')
  const path = `/agents/${target.agent.id}/tokens`
  const revoked = (await owner.api('POST', path, {})).body
  await owner.api('DELETE', `${path}/${revoked.id}`)
  invalid.revoked = revoked.token
  invalid.expired = newToken('agent')
  await service.db.pool.query(
    'insert into token (id, workspace_id, agent_id, hash, expires_at) values ($1, $2, $3, $4, $5)',
    [randomUUID(), owner.id, target.agent.id, hashToken(invalid.expired), new Date(Date.now() - 1_000)],
  )
})

/** Calls a route of the service. */
const call = (route: string, ids: Ids, token: string | null) => callRoute(service.http, route, ids, token)
const codeOf = (text: string) => JSON.parse(text).error.code

test('every route of the API description has a row in the table', async () => {
  const { body } = await owner.api('GET', '/openapi.json')
  const routes = Object.entries<object>(body.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(routes.sort()).toEqual([...ROUTES].sort())
})

describe.each(['no token', 'garbage', 'revoked', 'expired'])('with an invalid token (%s)', (kind) => {
  test.each(ROUTES)('%s is 401', async (route) => {
    const { status, text } = await call(route, target.ids, invalid[kind]!)
    expect({ status, code: codeOf(text) }).toEqual({ status: 401, code: 'unauthorized' })
    // The response does not reveal whether the token was revoked, has expired or never existed.
    expect(text).toBe((await call(route, target.ids, kind === 'no token' ? null : 'another')).text)
  })
})

describe('for another workspace', () => {
  test.each(WITH_ID)(
    '%s is 404 for its member and agent, with the same bytes as an unknown id',
    async (route) => {
      for (const token of [foreign.token, foreignTarget.agent.token]) {
        const theirs = await call(route, target.ids, token)
        expect({ status: theirs.status, code: codeOf(theirs.text) }).toEqual({
          status: 404,
          code: 'not_found',
        })
        expect(theirs).toEqual(await call(route, { ...target.ids, id: randomUUID() }, token))
      }
    },
  )

  const nested = WITH_ID.flatMap((route) =>
    SUB_IDS.filter((name) => route.includes(`{${name}}`)).map((name) => [name, route] as const),
  )
  test.each(nested)(
    "its %s below the caller's own agent in %s is 404, with the same bytes as an unknown one",
    async (name, route) => {
      const { agent, ids } = target
      const theirs = await call(route, { ...ids, [name]: foreignTarget.ids[name]! }, agent.token)
      expect(theirs.status).toBe(404)
      expect(theirs).toEqual(await call(route, { ...ids, [name]: randomUUID() }, agent.token))
    },
  )
})

test.each(ROUTES)('for another agent of the same workspace, %s has the status in its row', async (route) => {
  const { status, text } = await call(route, target.ids, peer.token)
  expect(status).toBe(TABLE[route]!.peer ?? 403)
  if (status === 403) expect(codeOf(text)).toBe('forbidden')
})

test('refused requests have changed nothing', async () => {
  const path = `/agents/${target.agent.id}`
  const { api } = target.agent
  expect((await api('GET', path)).body.name).toBe('Target')
  expect((await api('GET', `${path}/tokens`)).body).toHaveLength(3)
  expect((await api('GET', `${path}/webhooks`)).body).toHaveLength(1)
  expect((await api('GET', `${path}/messages`)).body.items).toHaveLength(1)
  expect((await api('GET', `${path}/access`)).body.email).toEqual({
    admit: 'list',
    senders: [owner.email],
    blocked: [owner.email],
  })
  expect((await api('GET', '/agents')).body.map(({ id }: { id: string }) => id)).toEqual([target.agent.id])
  expect((await foreign.api('GET', '/agents')).body.map(({ id }: { id: string }) => id)).toEqual([
    foreignTarget.agent.id,
  ])
})

describe.each(['member', 'agent'] as const)('for the %s', (who) => {
  test.each(ROUTES)('%s has the status in its row', async (route) => {
    const expected = TABLE[route]![who]
    // What is refused changes nothing, so all of them can share the target.
    const subject = expected === 403 ? target : await createTarget(service, owner)
    const { status, text } = await call(
      route,
      subject.ids,
      who === 'member' ? owner.token : subject.agent.token,
    )
    expect(status).toBe(expected)
    if (status === 403) expect(codeOf(text)).toBe('forbidden')
  })
})
