import { beforeAll, expect, test } from 'vitest'
import { scopesOf } from '../../src/core/scopes.ts'
import { type CookieClient, cookieClient, signedIn } from '../support/cookie-client.ts'
import { openMcp, postRpc, streamRpc } from '../support/mcp.ts'
import {
  begin,
  type Connected,
  connect,
  type Discovered,
  decide,
  discover,
  openConsent,
  post,
  publicUrlOf,
  redeem,
  refresh,
  register,
  revoke,
} from '../support/oauth.ts'
import { expectPage } from '../support/page.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** What a hosted client gets: from the 401 at /mcp to its tokens, what they are good for, and how they end. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: CookieClient
let found: Discovered
let other: { http: string }
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  browser = await signedIn(service, owner.token)
  found = await discover(service)
  other = await service.again({ PUBLIC_URL: publicUrlOf(service) })
})

const mcpStatus = async (token: string, http = service.http) =>
  (await postRpc(http, token, 'tools/list')).status

const appsOf = async ({ api }: Tenant) => (await api('GET', '/connected-apps')).body

test('the metadata says what there is, and nothing that is not there', async () => {
  const issuer = publicUrlOf(service)
  const { body } = await apiOf(service.http, null)('GET', '/.well-known/openid-configuration')
  expect(body).toEqual({ ...found.server })
  expect(body).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    code_challenge_methods_supported: ['S256'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    scopes_supported: ['agent', ...scopesOf('agent')],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  })
  expect(found.resource).toBe(`${issuer}/mcp`)
  // The URLs are those of PUBLIC_URL, whatever a request says.
  const forged = await fetch(`${service.http}/.well-known/oauth-authorization-server`, {
    headers: { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' },
  })
  expect(await forged.json()).toEqual(body)
})

test('the member learns who asks for what, and the client acts as the agent that the member chose', async () => {
  const client = await register(found, { client_name: 'Hosted <b>Client</b>' })
  const begun = await begin(found, client)
  const consent = await openConsent(browser, begun)
  expectPage(consent.page, 200, /Connect client.example\?/)
  expect(consent.page.text).toContain('You will return to <strong>client.example</strong>')
  expect(consent.page.text).toContain('Nobody has verified this name')
  expect(consent.page.text).toContain(owner.email)

  const returned = await decide(browser, consent, { agent: agent.id, decision: 'allow' })
  expect(`${returned.origin}${returned.pathname}`).toBe('https://client.example/callback')
  expect(returned.searchParams.get('iss')).toBe(publicUrlOf(service))
  const tokens = await redeem(found, client, begun, returned)
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'agent' })
  expect([tokens.access_token, tokens.refresh_token]).toEqual([
    expect.stringMatching(/^aot_[0-9A-Za-z]{43}$/),
    expect.stringMatching(/^art_[0-9A-Za-z]{43}$/),
  ])

  const mcp = await openMcp(service.http, tokens.access_token)
  const { result } = await mcp.call('whoami')
  expect(JSON.stringify(result)).toContain(agent.id)
  await mcp.close()
  // Any process accepts it, and none stores it.
  expect(await mcpStatus(tokens.access_token, other.http)).toBe(200)
  const { rows } = await service.db.pool.query<{ text: string }>(
    'select coalesce(string_agg(r::text, $1), $1) as text from oauth_record r',
    ['\n'],
  )
  expect(rows[0]!.text).toContain('AccessToken')
  for (const secret of [tokens.access_token, tokens.refresh_token!, returned.searchParams.get('code')!])
    expect(rows[0]!.text).not.toContain(secret)
})

test('a new agent is made on the consent page', async () => {
  const client = await register(found)
  const begun = await begin(found, client)
  const form = { agent: 'new', name: 'Made for an app', decision: 'allow' }
  const returned = await decide(browser, await openConsent(browser, begun), form)
  const tokens = await redeem(found, client, begun, returned)
  const mcp = await openMcp(service.http, tokens.access_token)
  expect((await mcp.call('whoami')).text).toContain('Made for an app')
  await mcp.close()
})

test('a form with a mistake is shown again, and connects nothing', async () => {
  const consent = await openConsent(browser, await begin(found, await register(found)))
  const form = { form: /name="form" value="([^"]+)"/.exec(consent.page.text)![1]!, decision: 'allow' }
  const nameless = await browser.submit(consent.at, { ...form, agent: 'new', name: ' ' })
  expectPage(nameless, 400, /Connect client.example\?/)
  expect((await browser.submit(consent.at, { ...form, agent: 'no-id' })).status).toBe(400)
  const foreign = await createTestAgent(service, await service.workspace('Foreign'))
  const stolen = await browser.submit(consent.at, { ...form, agent: foreign.id })
  expect([stolen.status, stolen.text]).toEqual([
    404,
    expect.stringContaining('There is no agent with this id'),
  ])
})

test('a denied request tells the client so, and connects nothing', async () => {
  const before = await appsOf(owner)
  const begun = await begin(found, await register(found))
  const returned = await decide(browser, await openConsent(browser, begun), { decision: 'deny' })
  expect(Object.fromEntries(returned.searchParams)).toEqual({
    error: 'access_denied',
    error_description: 'the user denied the request',
    state: begun.state,
    iss: publicUrlOf(service),
  })
  expect(await appsOf(owner)).toEqual(before)
})

test('who is not signed in signs in first, and what was asked survives it', async () => {
  const visitor = cookieClient(service)
  const begun = await begin(found, await register(found))
  const started = await visitor.get(begun.path)
  expect([started.status, started.location]).toEqual([303, expect.stringMatching(/^\/oauth\/consent\//)])
  // From another site no cookie comes along, so that a page of ours leads here once more.
  const fromElsewhere = await visitor.get(started.location!, { 'Sec-Fetch-Site': 'cross-site' })
  expectPage(fromElsewhere, 200, /One moment/)
  expect(fromElsewhere.text).toContain(`<meta http-equiv="refresh" content="0; url=${started.location}">`)
  const asked = await visitor.get(started.location!)
  expect(asked.location).toBe(`/app/sign-in?to=${encodeURIComponent(started.location!)}`)
  const signed = await visitor.submit('/app/sign-in/token', { token: owner.token, to: started.location! })
  expect(signed.text).toContain(`url=${started.location}`)
  expectPage(await visitor.get(started.location!), 200, /Connect client.example\?/)
})

test('an access token is for /mcp only', async () => {
  const { accessToken } = await connect(found, browser, agent.id)
  const api = apiOf(service.http, accessToken)
  expect(await mcpStatus(accessToken)).toBe(200) // known to this process from here on
  expect((await api('GET', `/agents/${agent.id}`)).status).toBe(401)
  expect((await api('POST', `/agents/${agent.id}/secrets/reveal`, {})).status).toBe(401)
  expect((await api('POST', '/graphql', { query: '{ viewer { id } }' })).status).toBe(401)
})

test('a token that was issued for another resource is refused', async () => {
  const { accessToken } = await connect(found, browser, agent.id)
  await service.db.pool.query(
    `update oauth_record set payload = jsonb_set(payload, '{aud}', '"https://other.example/mcp"') where kind = 'AccessToken'`,
  )
  expect(await mcpStatus(accessToken)).toBe(401)
})

test('a refresh replaces both tokens; the app stays the same', async () => {
  const app: Connected = await connect(found, browser, agent.id, { client_name: 'Renewed' })
  const renewed = await refresh(found, app.client, app.refreshToken)
  expect(renewed.refresh_token).not.toBe(app.refreshToken)
  expect(await mcpStatus(renewed.access_token)).toBe(200)
  const again = await refresh(found, app.client, renewed.refresh_token!)
  expect(await mcpStatus(again.access_token)).toBe(200)
  expect((await appsOf(owner)).filter(({ name }: { name: string }) => name === 'Renewed')).toHaveLength(1)
})

test('a refresh that cannot be stored completely changes nothing, so that the client can repeat it', async () => {
  const { client, refreshToken } = await connect(found, browser, agent.id)
  // The last statement of the refresh fails.
  await service.db.pool.query(
    `alter table oauth_record add constraint broken check (kind <> 'AccessToken') not valid`,
  )
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: client.client_id }
  const failed = await post(found.server.token_endpoint!, form)
  await service.db.pool.query('alter table oauth_record drop constraint broken')
  expect([failed.status, failed.body.error]).toEqual([500, 'server_error'])
  expect(await mcpStatus((await refresh(found, client, refreshToken)).access_token)).toBe(200)
})

test('apps are listed, and a disconnected one loses its tokens and its stream in every process', async () => {
  const { client, accessToken, refreshToken } = await connect(found, browser, agent.id, {
    client_name: 'Gone',
  })
  const app = (await appsOf(owner)).find(({ name }: { name: string }) => name === 'Gone')
  expect(app).toMatchObject({
    host: 'client.example',
    clientId: client.client_id,
    agent: { id: agent.id, name: 'Support Bot' },
    member: { email: owner.email },
  })
  const query = '{ workspace { connectedApps { id name agentName memberEmail } } }'
  const { body } = await owner.api('POST', '/graphql', { query })
  expect(body.data.workspace.connectedApps).toContainEqual({
    ...{ id: app.id, name: 'Gone', agentName: 'Support Bot', memberEmail: owner.email },
  })
  // It is no bearer token of the agent.
  const tokens = (await owner.api('GET', `/agents/${agent.id}/tokens`)).body
  expect(tokens.map(({ name }: { name: string }) => name)).toEqual(['test'])
  expect((await owner.api('DELETE', `/agents/${agent.id}/tokens/${app.id}`)).status).toBe(404)

  const args = { name: 'message.received', arguments: {}, cursor: null }
  const stream = await streamRpc(other.http, accessToken, 'events/stream', args)
  await until(() => stream.of('notifications/events/active').length === 1)
  expect((await owner.api('DELETE', `/connected-apps/${app.id}`)).status).toBe(204)
  await stream.ended
  expect([await mcpStatus(accessToken), await mcpStatus(accessToken, other.http)]).toEqual([401, 401])
  await expect(refresh(found, client, refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' })
  expect((await owner.api('DELETE', `/connected-apps/${app.id}`)).status).toBe(404)

  const audit = (await owner.api('GET', `/audit?agentId=${agent.id}&limit=100`)).body.items
  const ofApp = audit.filter(({ detail }: { detail: { token?: string } }) => detail.token === app.id)
  expect(ofApp.map(({ action }: { action: string }) => action)).toEqual(['app.disconnect', 'app.connect'])
  expect(ofApp[1]).toMatchObject({
    actor: { kind: 'member' },
    detail: { name: 'Gone', host: 'client.example' },
  })
})

test('a client that revokes its token is disconnected', async () => {
  const { client, accessToken, refreshToken } = await connect(found, browser, agent.id)
  await revoke(found, client, refreshToken)
  expect(await mcpStatus(accessToken)).toBe(401)
})

test('the app ends with the member who connected it, and with the agent', async () => {
  const email = 'leaving@example.com'
  const { body: invitation } = await owner.api('POST', '/members/invitations', { email })
  const joined = await cookieClient(service).submit(new URL(invitation.url).pathname, {}, { Origin: 'null' })
  const token = /<code>(amt_\w+)<\/code>/.exec(joined.text)![1]!
  const theirs = await connect(found, await signedIn(service, token), agent.id)
  expect(await mcpStatus(theirs.accessToken)).toBe(200)
  const members = (await owner.api('GET', '/members')).body
  const { id } = members.find((one: { email: string }) => one.email === email)
  expect((await owner.api('DELETE', `/members/${id}`)).status).toBe(204)
  expect(await mcpStatus(theirs.accessToken)).toBe(401)

  const brief = await createTestAgent(service, owner, 'Brief')
  const app = await connect(found, browser, brief.id)
  expect(await mcpStatus(app.accessToken)).toBe(200)
  expect((await owner.api('DELETE', `/agents/${brief.id}`)).status).toBe(204)
  expect(await mcpStatus(app.accessToken)).toBe(401)
})
