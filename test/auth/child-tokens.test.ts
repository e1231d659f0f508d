import { beforeAll, expect, test } from 'vitest'
import { createSignInLink } from '../../src/auth/sign-in-link.ts'
import { systemClock } from '../../src/core/clock.ts'
import { hashToken, newToken } from '../../src/workspace/token/token.ts'
import { cookieClient, signedIn } from '../support/cookie-client.ts'
import { openEvents } from '../support/events.ts'
import { postRpc } from '../support/mcp.ts'
import { connect, discover } from '../support/oauth.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Tokens that were made with a token: they have no more than it, expire no later, and end with it. */

let service: TestService
let other: { http: string }
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  other = await service.again()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
const agentTokens = () => `/agents/${agent.id}/tokens`

/** Makes a token with a token; of the agent, if the path is that of its tokens. */
const make = async (token: string, path: string, input: object = {}) => {
  const { status, body } = await apiOf(service.http, token)('POST', path, input)
  expect({ status, body }).toMatchObject({ status: 201 })
  return body
}

const statusOf = async (token: string, path = `/agents/${agent.id}`, http = service.http) =>
  (await apiOf(http, token)('GET', path)).status

test('a token that is revoked ends those that were made with it, and what they have open, in every process', async () => {
  const parent = await make(owner.token, '/tokens')
  const child = await make(parent.token, '/tokens')
  const grandchild = await make(child.token, agentTokens())
  const sibling = await make(owner.token, agentTokens())
  expect([child.parentId, grandchild.parentId]).toEqual([parent.id, child.id])

  const connection = await apiOf(service.http, grandchild.token)('PUT', `/agents/${agent.id}/connection`, {
    ...{ client: 'c', machine: 'm' },
  })
  const url = `${other.http}/agents/${agent.id}/connections/${connection.body.id}/events`
  const stream = await openEvents(url, grandchild.token)
  expect(stream.status).toBe(200)
  expect((await owner.api('DELETE', `/tokens/${parent.id}`)).status).toBe(204)
  await stream.ended
  for (const { token } of [parent, child, grandchild])
    for (const http of [service.http, other.http])
      await until(async () => (await statusOf(token, '/agents', http)) === 401)
  expect(await statusOf(sibling.token)).toBe(200)

  const { body } = await owner.api('GET', '/audit?action=token.revoke&limit=1')
  expect(body.items[0].detail).toEqual({ token: parent.id, ended: [child.id, grandchild.id] })
})

test('a token has no more scopes than the one that it is made with, nor has one that is made with it', async () => {
  const scopes = ['messages:read', 'tokens', 'audit']
  const parent = await make(owner.token, '/tokens', { scopes })
  expect((await make(parent.token, '/tokens')).scopes).toEqual(scopes)
  const child = await make(parent.token, '/tokens', { scopes: ['tokens', 'messages:read'] })
  expect(child.scopes).toEqual(['messages:read', 'tokens'])
  // An agent's token cannot have what only members can.
  expect((await make(parent.token, agentTokens())).scopes).toEqual(['messages:read', 'tokens'])
  for (const [token, wanted, missing] of [
    [parent.token, ['messages:read', 'settings'], 'settings'],
    [child.token, ['audit'], 'audit'],
  ] as const)
    expect(await apiOf(service.http, token)('POST', '/tokens', { scopes: wanted })).toMatchObject({
      status: 403,
      body: {
        error: { code: 'forbidden', message: `This token does not have the scope ${missing}.` },
      },
    })
  for (const wrong of [['audit'], [], ['everything']])
    expect((await owner.api('POST', agentTokens(), { scopes: wrong })).status).toBe(400)
  const { body } = await owner.api('GET', `/audit?action=token.create&limit=100`)
  const made = body.items.find(({ detail }: { detail: { token: string } }) => detail.token === child.id)
  expect(made.detail).toEqual({ token: child.id, scopes: ['messages:read', 'tokens'], expiresAt: null })
})

test('a token expires no later than the one that it is made with', async () => {
  const [soon, later] = [inHours(1), inHours(2)]
  const parent = await make(owner.token, '/tokens', { expiresAt: soon })
  expect((await make(parent.token, agentTokens())).expiresAt).toBe(soon)
  const child = await make(parent.token, '/tokens', { expiresAt: later })
  expect(child.expiresAt).toBe(soon)
  expect((await make(child.token, '/tokens', { expiresAt: later })).expiresAt).toBe(soon)
  expect((await make(owner.token, '/tokens', { expiresAt: later })).expiresAt).toBe(later)
})

test('what an agent makes for the agents that it created ends with its token', async () => {
  const own = await make(owner.token, agentTokens())
  const created = await apiOf(service.http, own.token)('POST', '/agents', { name: 'Helper', icon: 'bot' })
  const helper = await make(own.token, `/agents/${created.body.id}/tokens`)
  expect(await statusOf(helper.token, `/agents/${created.body.id}`)).toBe(200)
  await owner.api('DELETE', `${agentTokens()}/${own.id}`)
  expect(await statusOf(helper.token, `/agents/${created.body.id}`)).toBe(401)
})

const CREATE =
  'mutation ($input: CreateTokenInput!) { createToken(input: $input) { token record { id parentId } } }'

/** Makes a token of the agent in a browser. */
const makeIn = async (browser: Awaited<ReturnType<typeof signedIn>>) => {
  const { data } = (await (await browser.ask(CREATE, { input: { agentId: agent.id } })).json()) as {
    data: { createToken: { token: string; record: { parentId: string | null } } }
  }
  return data.createToken
}

test('what a member makes in the web application outlives the session', async () => {
  const deps = { ...service.db, clock: systemClock, publicUrl: () => service.http }
  const { url } = await createSignInLink(deps, owner.member, { browser: null, path: '/app' })
  const browser = cookieClient(service)
  await browser.submit('/app/sign-in/link', { link: url })
  const made = await makeIn(browser)
  expect(made.record.parentId).toBeNull()
  await browser.ask('mutation { revokeSessions(input: { everyone: true }) { count } }')
  expect(await statusOf(made.token)).toBe(200)
})

test('a session that was opened with a token ends with it, and so does what was made in it', async () => {
  const pasted = await make(owner.token, '/tokens')
  const browser = await signedIn(service, pasted.token)
  const made = await makeIn(browser)
  expect(made.record.parentId).toBe(pasted.id)
  await owner.api('DELETE', `/tokens/${pasted.id}`)
  expect((await browser.ask('{ viewer { id } }')).status).toBe(401)
  expect(await statusOf(made.token)).toBe(401)
})

test('an app that is connected in such a session ends with the token, too', async () => {
  const expiresAt = inHours(1)
  const pasted = await make(owner.token, '/tokens', { expiresAt })
  const browser = await signedIn(service, pasted.token)
  const { accessToken } = await connect(await discover(service), browser, agent.id)
  const app = (await owner.api('GET', '/connected-apps')).body.at(-1)
  expect(app.expiresAt).toBe(expiresAt)
  const mcp = async () => (await postRpc(service.http, accessToken, 'tools/list')).status
  expect(await mcp()).toBe(200)
  await owner.api('DELETE', `/tokens/${pasted.id}`)
  expect(await mcp()).toBe(401)
  expect((await owner.api('GET', '/connected-apps')).body).toEqual([])
})

test('a session does not outlast the token that it was opened with, which may not have scopes', async () => {
  const expiresAt = inHours(1)
  const browser = await signedIn(service, (await make(owner.token, '/tokens', { expiresAt })).token)
  const { data } = (await (await browser.ask('{ viewer { expiresAt } }')).json()) as {
    data: { viewer: { expiresAt: string } }
  }
  expect(new Date(data.viewer.expiresAt).getTime()).toBeLessThanOrEqual(new Date(expiresAt).getTime())
  const limited = await make(owner.token, '/tokens', { scopes: ['messages:read'] })
  const refused = await cookieClient(service).submit('/app/sign-in/token', { token: limited.token })
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('has only some scopes')])
})

test('a member who is removed takes along what was made with their tokens', async () => {
  const email = 'leaving@example.com'
  const member = await service.db.prisma.member.create({ data: { workspaceId: owner.id, email } })
  const token = newToken('member')
  await service.db.prisma.token.create({
    data: { workspaceId: owner.id, memberId: member.id, hash: Uint8Array.from(hashToken(token)) },
  })
  const made = await make(token, agentTokens())
  expect(await statusOf(made.token)).toBe(200)
  expect((await owner.api('DELETE', `/members/${member.id}`)).status).toBe(204)
  await until(async () => (await statusOf(made.token)) === 401)
})

test('a token that is being made while its parent is revoked is not valid', async () => {
  for (let round = 0; round < 10; round++) {
    const parent = await make(owner.token, '/tokens')
    const [made] = await Promise.all([
      apiOf(service.http, parent.token)('POST', agentTokens(), {}),
      owner.api('DELETE', `/tokens/${parent.id}`),
    ])
    expect([201, 401]).toContain(made.status)
    if (made.status === 201) await until(async () => (await statusOf(made.body.token)) === 401)
  }
})
