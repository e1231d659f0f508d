import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { createOwnToken } from '../../src/workspace/member/member-token.ts'
import type { Viewer } from '../../src/workspace/token/viewer.ts'
import { createFakeClock } from '../support/clock.ts'
import {
  apiOf,
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { beginRequest } from '../support/slow-request.ts'
import { until } from '../support/until.ts'

/** Requests whose token is revoked while their body is still being sent. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

/** Creates a token of the member or the agent that has not been used yet. */
const fresh = async (of: 'member' | 'agent'): Promise<{ id: string; token: string; path: string }> => {
  const path = of === 'member' ? '/tokens' : `/agents/${agent.id}/tokens`
  const { id, token } = (await owner.api('POST', path, {})).body
  return { id, token, path: `${path}/${id}` }
}

/** Waits until the service has recorded the use of a token, which shows that it was authenticated. */
const used = (id: string) =>
  until(async () => (await service.db.prisma.token.findUniqueOrThrow({ where: { id } })).lastUsedAt)

const REQUESTS = [
  ['member', 'POST', 'a token of the agent', () => `/agents/${agent.id}/tokens`, {}, {}],
  ['member', 'POST', 'a token of their own', () => '/tokens', {}, {}],
  ['member', 'POST', 'an invitation', () => '/members/invitations', { email: 'eve@example.com' }, {}],
  ['member', 'POST', 'an agent', () => '/agents', { name: 'Late', icon: 'bot' }, {}],
  [
    'member',
    'POST',
    'an agent, with an Idempotency-Key',
    () => '/agents',
    { name: 'Late', icon: 'bot' },
    { 'Idempotency-Key': 'late' },
  ],
  ['agent', 'POST', 'secrets', () => `/agents/${agent.id}/secrets/reveal`, {}, {}],
  [
    'agent',
    'POST',
    'a webhook',
    () => `/agents/${agent.id}/webhooks`,
    { url: 'http://127.0.0.1:9/late' },
    {},
  ],
  ['agent', 'POST', 'a set-up link', () => `/agents/${agent.id}/addresses/setups`, { channel: 'email' }, {}],
  [
    'agent',
    'PUT',
    'wider access',
    () => `/agents/${agent.id}/access/email`,
    { admit: 'anyone', senders: [] },
    {},
  ],
] as const

test.each(REQUESTS)(
  'a request of the %s is refused if its token is revoked before its body arrives: %s for %s',
  async (of, method, _, path, body, more) => {
    const { id, token, path: own } = await fresh(of)
    const request = await beginRequest(service.http, token, method, path(), body, more)
    await used(id)
    expect((await owner.api('DELETE', own)).status).toBe(204)
    expect(await request.finish()).toMatchObject({
      status: 401,
      body: expect.stringContaining('This token is not valid.'),
    })
    const before = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body.length
    const good = await beginRequest(service.http, owner.token, 'POST', `/agents/${agent.id}/tokens`, {})
    expect((await good.finish()).status).toBe(201)
    expect((await owner.api('GET', `/agents/${agent.id}/tokens`)).body).toHaveLength(before + 1)
  },
)

test('a request without a Content-Type is refused if its token is revoked before its body arrives', async () => {
  const { id, token, path } = await fresh('agent')
  const hook = (
    await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/rotated' })
  ).body
  const rotate = `/agents/${agent.id}/webhooks/${hook.id}/rotate`
  const untyped = { 'Content-Type': '', 'Idempotency-Key': 'rotate' }
  const request = await beginRequest(service.http, token, 'POST', rotate, {}, untyped)
  await used(id)
  await owner.api('DELETE', path)
  expect((await request.finish()).status).not.toBe(201)
  expect((await owner.api('POST', rotate)).status).toBe(201)
})

test('an operation on /graphql/stream is refused if its token is revoked before its body arrives', async () => {
  const { id, token, path } = await fresh('agent')
  const query = `mutation { updateAgent(input: { agentId: "${agent.id}", name: "Late" }) { agent { name } } }`
  const request = await beginRequest(
    service.http,
    token,
    'POST',
    '/graphql/stream',
    { query },
    { Accept: 'text/event-stream' },
  )
  await used(id)
  await owner.api('DELETE', path)
  expect((await request.finish()).status).toBe(401)
  expect((await owner.api('GET', `/agents/${agent.id}`)).body.name).toBe('Support Bot')
})

test('a token that is revoked after authentication cannot create another token', async () => {
  const { id, token } = (await owner.api('POST', '/tokens', {})).body
  const viewer = { kind: 'member', id: owner.member, workspaceId: owner.id, tokenId: id } as Viewer
  const deps = { ...service.db, clock: createFakeClock() }
  await createOwnToken(deps, viewer, {})
  await owner.api('DELETE', `/tokens/${id}`)
  await expect(createOwnToken(deps, viewer, {})).rejects.toMatchObject({ code: 'unauthorized' })
  await expect(createOwnToken(deps, { ...viewer, tokenId: randomUUID() }, {})).rejects.toMatchObject({
    code: 'unauthorized',
  })
  expect((await apiOf(service.http, token)('GET', '/agents')).status).toBe(401)
})

test('a call of an MCP tool is refused if its token is revoked before its body arrives', async () => {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_secrets', arguments: {} },
  }
  const more = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18' }
  const { id, token, path } = await fresh('agent')
  const request = await beginRequest(service.http, token, 'POST', '/mcp', call, more)
  await used(id)
  expect((await owner.api('DELETE', path)).status).toBe(204)
  expect((await request.finish()).status).toBe(401)
  const other = await fresh('agent')
  expect(
    (await (await beginRequest(service.http, other.token, 'POST', '/mcp', call, more)).finish()).status,
  ).toBe(200)
})
