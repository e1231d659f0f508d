import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { hashToken, newToken } from '../../src/workspace/token.ts'
import { storeApp } from '../support/connected-app.ts'
import { post } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/**
 * Who may do what, for every route of the API description: a route without a row fails. Without a valid token
 * every route is 401; for tokens of another workspace every route with an id is 404, with the same bytes as for
 * an unknown id; for another agent of the same workspace a route is 403 unless its row says otherwise.
 */
interface Row {
  member: number
  agent: number
  peer?: number
  body?: unknown
  /** Query string that the route requires. */
  query?: string
}

const TABLE: Record<string, Row> = {
  'GET /workspace': { member: 200, agent: 200, peer: 200 },
  'PATCH /workspace': { member: 200, agent: 403, body: {} },
  'DELETE /workspace': { member: 200, agent: 403 },
  'POST /workspace/restore': { member: 200, agent: 403 },
  'GET /export': { member: 200, agent: 403 },
  'GET /agents/{id}/export': { member: 200, agent: 200 },
  'GET /audit': { member: 200, agent: 403 },
  'GET /counts': { member: 200, agent: 403 },
  'GET /agents/{id}/counts': { member: 200, agent: 200 },
  'GET /messages': { member: 200, agent: 403 },
  'GET /members': { member: 200, agent: 403 },
  'PATCH /members/me': { member: 200, agent: 403, body: {} },
  'PATCH /members/{memberId}': { member: 200, agent: 403, body: { role: 'member' } },
  'DELETE /members/{memberId}': { member: 204, agent: 403 },
  'POST /members/invitations': {
    member: 201,
    agent: 403,
    body: () => ({ email: `${randomUUID()}@example.com` }),
  },
  'GET /members/invitations': { member: 200, agent: 403 },
  'DELETE /members/invitations/{invitationId}': { member: 204, agent: 403 },
  'GET /members/me/identities': { member: 200, agent: 403 },
  'POST /members/me/identities': { member: 409, agent: 403, body: { channel: 'sms', value: '+15551234567' } },
  'POST /members/me/identities/telegram': { member: 409, agent: 403, body: {} },
  'POST /members/me/identities/verify': { member: 400, agent: 403, body: { channel: 'sms', code: '000000' } },
  // The channel of the target has no identities.
  'DELETE /members/me/identities/{channel}/{value}': { member: 400, agent: 400, peer: 400 },
  // This service has no SMS: a request that passes authorization is a conflict.
  'GET /phone-numbers': { member: 200, agent: 403 },
  'GET /phone-numbers/available': { member: 409, agent: 403, query: 'country=US' },
  'POST /phone-numbers': { member: 409, agent: 403, body: { value: '+15005550101' } },
  'DELETE /phone-numbers/{phoneNumberId}': { member: 409, agent: 403 },
  'GET /domains': { member: 200, agent: 403 },
  'POST /domains': { member: 201, agent: 403, body: () => ({ name: `${randomUUID()}.example` }) },
  'GET /domains/{domainId}': { member: 200, agent: 403 },
  'POST /domains/{domainId}/verify': { member: 200, agent: 403 },
  'DELETE /domains/{domainId}': { member: 204, agent: 403 },
  'POST /tokens': { member: 201, agent: 403, body: {} },
  'GET /tokens': { member: 200, agent: 403 },
  // The token of the target belongs to the agent, but members find only their own tokens here.
  'DELETE /tokens/{tokenId}': { member: 404, agent: 403 },
  'GET /connected-apps': { member: 200, agent: 403 },
  'DELETE /connected-apps/{appId}': { member: 204, agent: 403 },
  'POST /agents': { member: 201, agent: 201, peer: 201, body: { name: 'New', icon: 'bot' } },
  'GET /agents': { member: 200, agent: 200, peer: 200 },
  'GET /agents/{id}': { member: 200, agent: 200 },
  'PATCH /agents/{id}': { member: 200, agent: 200, body: { name: 'Renamed' } },
  'DELETE /agents/{id}': { member: 204, agent: 204 },
  'GET /agents/{id}/addresses': { member: 200, agent: 200 },
  'PATCH /agents/{id}/addresses/{addressId}': {
    member: 200,
    agent: 200,
    body: () => ({ value: `${randomUUID()}@agents.localhost` }),
  },
  'DELETE /agents/{id}/addresses/{addressId}': { member: 409, agent: 409 },
  'POST /agents/{id}/addresses/setups': { member: 201, agent: 201, body: { channel: 'telegram' } },
  'GET /agents/{id}/access': { member: 200, agent: 200 },
  'PUT /agents/{id}/access/{channel}': { member: 200, agent: 200, body: { senders: [] } },
  'POST /agents/{id}/access/{channel}/senders': {
    member: 200,
    agent: 200,
    body: { sender: 'bo@example.com' },
  },
  'DELETE /agents/{id}/access/{channel}/senders/{sender}': { member: 204, agent: 204 },
  'POST /agents/{id}/access/{channel}/blocked': {
    member: 200,
    agent: 200,
    body: { sender: 'bo@example.com' },
  },
  'DELETE /agents/{id}/access/{channel}/blocked/{sender}': { member: 204, agent: 204 },
  'POST /agents/{id}/tokens': { member: 201, agent: 403, body: {} },
  'GET /agents/{id}/tokens': { member: 200, agent: 200 },
  'DELETE /agents/{id}/tokens/{tokenId}': { member: 204, agent: 204 },
  'PUT /agents/{id}/connection': { member: 403, agent: 200, body: { client: 'c', machine: 'm' } },
  'GET /agents/{id}/connections/{connectionId}/events': { member: 403, agent: 200 },
  'GET /agents/{id}/listeners': { member: 200, agent: 200 },
  'GET /agents/{id}/events': { member: 200, agent: 200 },
  'POST /agents/{id}/messages': {
    member: 201,
    agent: 201,
    body: { channel: 'email', to: ['bo@example.com'], text: 'hi' },
  },
  'GET /agents/{id}/messages': { member: 200, agent: 200 },
  'PATCH /agents/{id}/messages': {
    member: 200,
    agent: 200,
    body: ({ messageId }: Ids) => ({ ids: [messageId], read: true }),
  },
  'PATCH /agents/{id}/messages/{messageId}': { member: 200, agent: 200, body: { labels: ['orders'] } },
  'POST /agents/{id}/messages/release': {
    member: 200,
    agent: 200,
    body: ({ messageId }: Ids) => ({ ids: [messageId] }),
  },
  'POST /agents/{id}/messages/{messageId}/release': { member: 200, agent: 200, body: {} },
  'DELETE /agents/{id}/messages/{messageId}': { member: 204, agent: 204 },
  'POST /agents/{id}/messages/delete': {
    member: 204,
    agent: 204,
    body: ({ messageId }: Ids) => ({ ids: [messageId] }),
  },
  'GET /agents/{id}/messages/{messageId}': { member: 200, agent: 200 },
  // the body of this test is JSON
  'POST /agents/{id}/imports': { member: 415, agent: 415, body: {} },
  'POST /agents/{id}/drafts': { member: 201, agent: 201, body: { text: 'hi' } },
  'GET /agents/{id}/drafts': { member: 200, agent: 200 },
  'GET /agents/{id}/drafts/{draftId}': { member: 200, agent: 200 },
  'PATCH /agents/{id}/drafts/{draftId}': { member: 200, agent: 200, body: { text: 'hello' } },
  'DELETE /agents/{id}/drafts/{draftId}': { member: 204, agent: 204 },
  'POST /agents/{id}/drafts/{draftId}/send': { member: 201, agent: 201 },
  // the message was received, so nothing waits
  'POST /agents/{id}/messages/{messageId}/approve': { member: 404, agent: 404 },
  'POST /agents/{id}/messages/{messageId}/reject': { member: 404, agent: 404 },
  'POST /agents/{id}/messages/{messageId}/cancel': { member: 404, agent: 404 },
  // it does not say how to unsubscribe
  'POST /agents/{id}/messages/{messageId}/unsubscribe': { member: 409, agent: 409 },
  'GET /agents/{id}/messages/{messageId}/recipients': { member: 200, agent: 200 },
  'GET /agents/{id}/messages/{messageId}/raw': { member: 200, agent: 200 },
  'POST /agents/{id}/messages/{messageId}/raw/link': { member: 201, agent: 201 },
  'GET /agents/{id}/messages/{messageId}/html': { member: 200, agent: 200 },
  'POST /agents/{id}/messages/{messageId}/html/link': { member: 201, agent: 201, body: {} },
  'GET /agents/{id}/messages/{messageId}/headers': { member: 200, agent: 200 },
  'GET /agents/{id}/messages/{messageId}/attachments/{index}': { member: 200, agent: 200 },
  'POST /agents/{id}/messages/{messageId}/attachments/{index}/link': { member: 201, agent: 201 },
  'GET /agents/{id}/suppressions': { member: 200, agent: 200 },
  'DELETE /agents/{id}/suppressions/{recipient}': { member: 204, agent: 204 },
  'GET /agents/{id}/secrets': { member: 200, agent: 200 },
  'PUT /agents/{id}/secrets/{name}': { member: 200, agent: 200, body: { value: 'v' } },
  'DELETE /agents/{id}/secrets/{name}': { member: 204, agent: 204 },
  'POST /agents/{id}/secrets/reveal': { member: 403, agent: 200, body: {} },
  'POST /agents/{id}/url': { member: 200, agent: 403, body: { text: 'hi' } },
  'POST /a/{id}': { member: 200, agent: 403, body: { text: 'hi' } },
  'POST /agents/{id}/webhooks': { member: 201, agent: 201, body: { url: 'http://127.0.0.1:9/another' } },
  'GET /agents/{id}/webhooks': { member: 200, agent: 200 },
  'PATCH /agents/{id}/webhooks/{webhookId}': { member: 200, agent: 200, body: { name: 'CRM' } },
  'DELETE /agents/{id}/webhooks/{webhookId}': { member: 204, agent: 204 },
  'GET /agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}': { member: 200, agent: 200 },
  'POST /agents/{id}/webhooks/{webhookId}/resend': {
    member: 201,
    agent: 201,
    body: { since: '2026-01-01T00:00:00Z' },
  },
  'GET /agents/{id}/webhooks/{webhookId}/deliveries': { member: 200, agent: 200 },
  // a test cannot be resent
  'POST /agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend': { member: 409, agent: 409 },
  'POST /agents/{id}/webhooks/{webhookId}/rotate': { member: 201, agent: 201 },
  'POST /agents/{id}/webhooks/{webhookId}/test': { member: 201, agent: 201 },
  'POST /agents/{id}/webhooks/{webhookId}/replay': { member: 201, agent: 201, body: { after: 0 } },
}

const ROUTES = Object.keys(TABLE)
const WITH_ID = ROUTES.filter((route) => route.includes('{id}'))
const SUB_IDS = ['addressId', 'messageId', 'tokenId', 'webhookId', 'deliveryId', 'connectionId', 'draftId']

const SUPPRESSED = {
  channel: 'email',
  recipient: 'gone@example.com',
  reason: 'bounce',
  detail: '550 5.1.1',
} as const

type Ids = Record<string, string>
interface Target {
  agent: TestAgent
  ids: Ids
}

let service: TestService
let owner: Tenant
let foreign: Tenant
let target: Target
let foreignTarget: Target
let peer: TestAgent
/** Invalid tokens by what is wrong with them. */
const invalid: Record<string, string | null> = { 'no token': null, garbage: 'amt_garbage' }

const createTarget = async (tenant: Tenant): Promise<Target> => {
  const agent = await createTestAgent(service, tenant, 'Target')
  const path = `/agents/${agent.id}`
  const spare = await tenant.api('POST', `${path}/tokens`, { name: 'spare' })
  const webhook = await tenant.api('POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
  const delivery = await tenant.api('POST', `${path}/webhooks/${webhook.body.id}/test`)
  const connection = await agent.api('PUT', `${path}/connection`, { client: 'c', machine: 'm' })
  await agent.api('PUT', `${path}/secrets/KEY`, { value: 'v' })
  await service.db.prisma.suppression.create({ data: { ...SUPPRESSED, agentId: agent.id } })
  await post(service, {
    from: tenant.email,
    to: agent.address,
    text: 'hi',
    html: '<p>hi</p>',
    attachments: [{ filename: 'a.txt', content: 'a' }],
  })
  const email = `${randomUUID()}@example.com`
  const member = await service.db.prisma.member.create({ data: { workspaceId: tenant.id, email } })
  // Created directly, since a workspace cannot send that many in an hour.
  const expiresAt = new Date(Date.now() + 3_600_000)
  const asked = {
    workspaceId: tenant.id,
    email: `${randomUUID()}@example.com`,
    tokenHash: Uint8Array.from(randomBytes(32)),
    expiresAt,
  }
  const invitation = await service.db.prisma.invitation.create({ data: asked })
  const own = { workspaceId: tenant.id, name: `${randomUUID()}.example`, ownershipToken: 't' }
  const domain = await service.db.prisma.domain.create({ data: own }) // directly, since generating its key takes a while
  const number = { workspaceId: tenant.id, value: `+1500${randomInt(1e7, 1e8)}`, providerId: 'PN1' }
  const phoneNumber = await service.db.prisma.phoneNumber.create({ data: number })
  const [message] = (await agent.api('GET', `${path}/messages`)).body.items
  await agent.api('POST', `${path}/access/email/blocked`, { sender: tenant.email })
  const content = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
  const draft = await agent.api('POST', `${path}/drafts`, content)
  return {
    agent,
    ids: {
      id: agent.id,
      addressId: message.addressId,
      channel: 'email',
      index: '0',
      name: 'KEY',
      recipient: SUPPRESSED.recipient,
      sender: tenant.email,
      tokenId: spare.body.id,
      webhookId: webhook.body.id,
      deliveryId: delivery.body.id,
      connectionId: connection.body.id,
      memberId: member.id,
      domainId: domain.id,
      phoneNumberId: phoneNumber.id,
      invitationId: invitation.id,
      appId: await storeApp(service.db, {
        workspaceId: tenant.id,
        agentId: agent.id,
        memberId: tenant.member,
      }),
      messageId: message.id,
      draftId: draft.body.id,
    },
  }
}

beforeAll(async () => {
  // each row creates its own target
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace('Owner')
  foreign = await service.workspace('Foreign')
  target = await createTarget(owner)
  foreignTarget = await createTarget(foreign)
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

/** Calls a route and reads its response, or only the head of a stream. */
const call = async (route: string, ids: Ids, token: string | null) => {
  const [method = '', path = ''] = route.split(' ')
  const given = TABLE[route]!.body
  const body = typeof given === 'function' ? given(ids) : given
  const leaving = new AbortController()
  const query = TABLE[route]!.query ? `?${TABLE[route]!.query}` : ''
  const response = await fetch(
    service.http + path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? `no-${name}`) + query,
    {
      method,
      signal: leaving.signal,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
  )
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const text = isStream ? '' : await response.text()
  leaving.abort()
  return { status: response.status, text }
}
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
    const subject = await createTarget(owner)
    const { status, text } = await call(
      route,
      subject.ids,
      who === 'member' ? owner.token : subject.agent.token,
    )
    expect(status).toBe(TABLE[route]![who])
    if (status === 403) expect(codeOf(text)).toBe('forbidden')
  })
})
