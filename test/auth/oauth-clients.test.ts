import { createServer } from 'node:http'
import * as oauth from 'oauth4webapi'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { ClientDocuments } from '../../src/auth/oauth/client-documents.ts'
import { pruneApps } from '../../src/auth/oauth/connected-app.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { isWithin } from '../../src/web/oauth/limits.ts'
import type { RateLimits } from '../../src/workspace/limit/rate-limits.ts'
import { afterFile } from '../support/after-file.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { type CookieClient, signedIn } from '../support/cookie-client.ts'
import { postRpc } from '../support/mcp.ts'
import {
  begin,
  connect,
  type Discovered,
  decide,
  discover,
  openConsent,
  redeem,
  refresh,
  register,
} from '../support/oauth.ts'
import { expectPage } from '../support/page.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** Clients that introduce themselves: by a metadata document, whose URL is their id, or by registering. */

const CLIENT = 'https://client.example/oauth/client.json'
const document = (changes: object = {}) => ({
  client_id: CLIENT,
  client_name: 'Document Client',
  redirect_uris: ['https://client.example/callback'],
  token_endpoint_auth_method: 'none',
  scope: 'openid profile',
  logo_uri: 'https://client.example/logo.png',
  ...changes,
})

let clock: FakeClock
let service: TestService
let guarded: TestService
let owner: Tenant
let agent: TestAgent
let browser: CookieClient
let found: Discovered
const get = vi.fn<(url: string) => Promise<Buffer>>()
beforeAll(async () => {
  clock = createFakeClock()
  const environment = { RATE_LIMIT: '100000', TRUST_PROXY: '127.0.0.1,::1' }
  service = await startService({ world: { clock, get }, environment })
  guarded = await startService({ environment: { WEBHOOK_ALLOW: '' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  browser = await signedIn(service, owner.token)
  found = await discover(service)
})

const serving = (text: object | string) =>
  get.mockResolvedValue(Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)))
const ask = async (clientId: string, changes: Record<string, string> = {}) => {
  const begun = await begin(found, { client_id: clientId }, changes)
  return browser.get(begun.path, { Accept: 'text/html' })
}
/** Documents are cached; a URL of its own for each test. */
const fresh = () => `https://client.example/${Math.random().toString(36).slice(2)}.json`

describe('a client metadata document', () => {
  test('names the client and its host, and is fetched once for all processes', async () => {
    serving(document())
    const client = { client_id: CLIENT, token_endpoint_auth_method: 'none' } as const
    const begun = await begin(found, client)
    const consent = await openConsent(browser, begun)
    expect(consent.page.text).toContain('It is what <strong>client.example</strong> calls “Document Client”')
    expect(consent.page.text).not.toContain('Nobody has verified')
    const returned = await decide(browser, consent, { agent: agent.id, decision: 'allow' })
    const tokens = await redeem(found, client, begun, returned)
    expect((await postRpc(service.http, tokens.access_token, 'tools/list')).status).toBe(200)
    expect(get.mock.calls.filter(([url]) => url === CLIENT)).toHaveLength(1)

    // While the client's server is down, its members stay connected.
    get.mockRejectedValue(new Error('connection refused'))
    clock.advance(2 * 3_600_000)
    const renewed = await refresh(found, client, tokens.refresh_token!)
    expect((await postRpc(service.http, renewed.access_token, 'tools/list')).status).toBe(200)
  })

  test.each([
    ['is about another client', (url: string) => document({ client_id: `${url}x` })],
    ['has a secret', (url: string) => document({ client_id: url, client_secret: 's' })],
    ['has no redirect URI', (url: string) => document({ client_id: url, redirect_uris: [] })],
    [
      'has a redirect URI without TLS',
      (url: string) => document({ client_id: url, redirect_uris: ['http://client.example/cb'] }),
    ],
    ['is no object', () => '[]'],
    ['is no JSON', () => '<html>'],
    ['is huge', (url: string) => document({ client_id: url, client_name: 'x'.repeat(30_000) })],
  ])('that %s is refused', async (_what, made) => {
    const url = fresh()
    serving(made(url))
    expectPage(await ask(url), 400, /This app could not be connected/)
  })

  test('with a redirect URI that is not in it is refused', async () => {
    const url = fresh()
    serving(document({ client_id: url }))
    expectPage(await ask(url, { redirect_uri: 'https://evil.example/' }), 400, /could not be connected/)
  })

  test.each([
    'http://client.example/client.json',
    'https://user@client.example/client.json',
    'https://client.example/a/../client.json',
    'https://client.example/client.json#fragment',
    'file:///etc/passwd',
  ])('is not fetched from %s', async (url) => {
    get.mockClear()
    expectPage(await ask(url), 400, /This app could not be connected/)
    expect(get).not.toHaveBeenCalled()
  })

  test('is not fetched from inside the network, whatever the URL looks like', async () => {
    let reached = 0
    const inside = createServer((_request, response) => {
      reached++
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => inside.once('listening', resolve))
    afterFile(async () => void inside.close())
    const { port } = inside.address() as { port: number }
    const there = await discover(guarded)
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `2130706433:${port}`,
      '169.254.169.254',
    ]) {
      const begun = await begin(there, { client_id: `https://${host}/client.json` })
      const answer = await fetch(new URL(begun.path, guarded.http), { headers: { Accept: 'text/html' } })
      const text = await answer.text()
      expect([answer.status, text.includes('could not be connected')]).toEqual([400, true])
      // What was found there is not told.
      expect(text).not.toMatch(/ECONN|refused|timeout|certificate/i)
    }
    expect(reached).toBe(0)
  })

  test('is not fetched from what WEBHOOK_ALLOW permits to webhooks', async () => {
    let reached = 0
    const inside = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1')
    inside.on('connection', () => reached++)
    await new Promise((resolve) => inside.once('listening', resolve))
    afterFile(async () => void inside.close())
    const { port } = inside.address() as { port: number }
    const environment = { WEBHOOK_ALLOW: '127.0.0.0/8,::1,localhost,internal' }
    const open = await startService({ environment })
    const there = await discover(open)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      const begun = await begin(there, { client_id: `https://${host}/client.json` })
      const answer = await fetch(new URL(begun.path, open.http), { headers: { Accept: 'text/html' } })
      expect(answer.status).toBe(400)
    }
    expect(reached).toBe(0)
  })

  test('is fetched at most so often for one address', async () => {
    get.mockClear()
    get.mockRejectedValue(new Error('no such host'))
    const from = { 'X-Forwarded-For': '203.0.113.7' }
    for (let index = 0; index < 35; index++) {
      const { path } = await begin(found, { client_id: fresh() })
      await browser.get(path, { Accept: 'text/html', ...from })
    }
    expect(get).toHaveBeenCalledTimes(30)
  })

  test('has keys that are fetched no more often', async () => {
    const id = fresh()
    const keys = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${id}?keys` }
    serving(document({ client_id: id, ...keys }))
    expect((await ask(id)).location).toContain('/oauth/consent/')
    get.mockClear()
    get.mockRejectedValue(new Error('no such host'))
    const { privateKey } = await oauth.generateKeyPair('ES256')
    for (let turn = 0; turn < 35; turn++) {
      const form = { code: 'x', code_verifier: 'x'.repeat(43) }
      const { status } = await oauth.genericTokenEndpointRequest(
        ...([found.server, { client_id: id }, oauth.PrivateKeyJwt(privateKey)] as const),
        ...(['authorization_code', form] as const),
        { headers: { 'X-Forwarded-For': '203.0.113.8' }, [oauth.allowInsecureRequests]: true },
      )
      expect(status).toBeGreaterThanOrEqual(400)
    }
    expect(get).toHaveBeenCalledTimes(30)
  })

  test('that is known stays usable when no more may be fetched', async () => {
    let mayFetch = true
    const log = silentLogger
    const deps = { pool: service.db.pool, get, clock, log, mayFetch: () => mayFetch }
    const documents = new ClientDocuments(deps)
    const known = fresh()
    serving(document({ client_id: known }))
    await documents.fetch(known)
    clock.advance(10 * 60_000)
    mayFetch = false
    get.mockClear()
    expect(await (await documents.fetch(known)).json()).toMatchObject({ client_id: known })
    await expect(documents.fetch(fresh())).rejects.toThrow('too many documents')
    expect(get).not.toHaveBeenCalled()
  })
})

describe('a registration', () => {
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(found.server.registration_endpoint!, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('makes a public client of every client, without a secret and without what it may not have', async () => {
    const response = await send({
      redirect_uris: ['https://client.example/callback'],
      client_name: 'Wants\u202e a lot\u0007',
      grant_types: ['authorization_code', 'client_credentials', 'password'],
      response_types: ['token'],
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'admin openid',
      client_id: 'chosen',
      jwks_uri: 'http://169.254.169.254/',
      sector_identifier_uri: 'http://169.254.169.254/',
      logo_uri: 'http://169.254.169.254/',
    })
    expect(response.status).toBe(201)
    const client = (await response.json()) as Record<string, unknown>
    expect(client).toMatchObject({
      client_name: 'Wants  a lot',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
    expect(client.client_id).toMatch(/^[0-9A-Za-z]{43}$/)
    for (const name of ['client_secret', 'scope', 'jwks_uri', 'sector_identifier_uri', 'logo_uri'])
      expect(client).not.toHaveProperty(name)
  })

  test.each([
    ['no redirect URI', {}],
    ['too many', { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) }],
    ['http', { redirect_uris: ['http://client.example/'] }],
    ['javascript:', { redirect_uris: ['javascript:alert(1)'] }],
    ['data:', { redirect_uris: ['data:text/html,a'] }],
    ['a fragment', { redirect_uris: ['https://client.example/#a'] }],
    ['credentials', { redirect_uris: ['https://a:b@client.example/'] }],
    ['no URL', { redirect_uris: ['client'] }],
    ...[
      ...[
        'intent://a#Intent;end',
        'ms-msdt:/id',
        'search-ms:query=a',
        'chrome://settings',
        'view-source:https://a.example',
      ],
      ...[
        'about:blank',
        'blob:https://a.example/1',
        'file:///a',
        'vbscript:a',
        'ms-word:ofe',
        'x-apple.systempreferences:a',
      ],
      ...['app:/cb', 'tel:1', 'mailto:a@b.example', 'ws://a.example', 'feed:https://a.example'],
    ].map((uri) => [uri, { redirect_uris: [uri] }] as [string, object]),
    ['a huge name', { redirect_uris: ['https://a.example/'], client_name: 'x'.repeat(201) }],
    ['an array', []],
    ['no JSON', '{'],
    ['a huge body', `{"redirect_uris":["https://a.example/"],"x":"${'x'.repeat(100_000)}"}`],
  ])('with %s is refused', async (_what, body) => {
    const response = await send(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: expect.stringMatching(/^invalid_/) })
  })

  test.each([
    'https://a.example/cb',
    'http://127.0.0.1:1/cb',
    'http://[::1]/cb',
    'com.example.app:/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
  ])('with the redirect URI %s is accepted', async (uri) => {
    expect((await send({ redirect_uris: [uri] })).status).toBe(201)
  })

  const consentOf = async (client_name: string, uri = 'https://evil.example/cb') => {
    const client = await register(found, { client_name, redirect_uris: [uri] })
    const { page } = await openConsent(browser, await begin(found, client, { redirect_uri: uri }))
    return page.text
  }

  test.each([
    'ChatGPT of openai.com',
    'claude\uff0eai',
    'claude。ai',
    'claude\u00ad.ai',
    'https://claude',
    'claude\u2219ai',
    'claude\u30fbai',
    'claude\u2022ai',
    'claude\u06d4ai',
    'claude\u0660ai',
    'claude\ua4f8ai',
    'https\u2236\u2044\u2044claude',
    'support@claude',
    '\u202e\u2066',
  ])('that calls itself %j is shown by its host alone', async (name) => {
    const text = await consentOf(name)
    expect(text).toContain('<h1>Connect evil.example?</h1>')
    expect(text).not.toMatch(/openai|claude/i)
    expect(text).toContain('It calls itself “evil.example”')
  })

  test('has its name below the host, within quotation marks that it cannot close', async () => {
    const text = await consentOf('Nice” verified by “Us')
    expect(text).toContain('“Nice verified by Us”. Nobody has verified this name')
    for (const mark of ['\u201f', '\u275e', '\u301e', '\u2033', '\u02ee', "''", '\u2019\u2019', '\u203a'])
      expect(await consentOf(`Nice${mark} by us`)).toContain('calls itself “Nice by us”')
    expect(await consentOf('Bob’s l’App & Co - Agent+')).toContain('“Bob’s l’App &amp; Co - Agent+”')
    expect(text.indexOf('Nice')).toBeGreaterThan(text.indexOf('evil.example'))
  })

  test('of an app is shown by its scheme: what follows is no host', async () => {
    const text = await consentOf('App', 'evil.app://claude.ai/cb')
    expect(text).toContain('<strong>evil.app:</strong>')
    expect(text).not.toContain('claude.ai')
  })

  test('flood: one address registers at most 20 clients an hour, and others still can', async () => {
    const body = { redirect_uris: ['https://client.example/callback'] }
    const from = (address: string) => send(body, { 'X-Forwarded-For': address })
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async () => (await from('203.0.113.9')).status),
    )
    expect(statuses.filter((status) => status === 201)).toHaveLength(20)
    const refused = await from('203.0.113.9')
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
    expect((await from('203.0.113.10')).status).toBe(201)
  })

  test('flood: many addresses use up what all have together, and yet another one registers and connects', async () => {
    const body = { redirect_uris: ['https://client.example/callback'] }
    const rates = new Map<string, number>()
    const takeAll = (uses: readonly { key: string; limit: number }[]) => {
      const over = uses.find(({ key, limit }) => (rates.get(key) ?? 0) >= limit)
      if (over) return over
      for (const { key } of uses) rates.set(key, (rates.get(key) ?? 0) + 1)
      return null
    }
    const limits = { takeAll: takeAll as RateLimits['takeAll'] }
    for (const what of ['register', 'document'] as const) {
      for (let address = 0; address < 100; address++)
        for (let turn = 0; turn < 30; turn++) isWithin(limits, what, `203.0.113.${address}`)
      expect(isWithin(limits, what, '203.0.113.0')).toBe(false)
      expect(isWithin(limits, what, '198.51.100.1')).toBe(true)
    }
    expect((await send(body, { 'X-Forwarded-For': '198.51.100.1' })).status).toBe(201)
    const pending = Array.from({ length: 301 }, () => isWithin(limits, 'pending', '203.0.113.7'))
    expect([pending.indexOf(false), isWithin(limits, 'pending', '198.51.100.1')]).toEqual([300, true])
  })

  test('that nobody uses is deleted after a day; a client that is connected stays', async () => {
    const unused = await register(found)
    const { client, refreshToken } = await connect(found, browser, agent.id)
    clock.advance(25 * 3_600_000)
    expectPage(await ask(unused.client_id), 400, /This app could not be connected/)
    const renewed = await refresh(found, client, refreshToken)
    expect(renewed.access_token).toMatch(/^aot_/)
  })
})

test('an app is disconnected when its last token has expired, and an hour after a consent whose code was not redeemed', async () => {
  const tenant = await service.workspace()
  const own = await createTestAgent(service, tenant)
  const browser = await signedIn(service, tenant.token)
  await connect(found, browser, own.id, { client_name: 'Used' })
  const begun = await begin(found, await register(found, { client_name: 'Not redeemed' }))
  await decide(browser, await openConsent(browser, begun), { agent: own.id, decision: 'allow' })
  const notifier = { publish: () => undefined }
  const deps = { ...service.db, clock, notifier, endSubscriptions: async () => undefined }
  const leftAfter = async (seconds: number): Promise<string[]> => {
    await pruneApps(deps, new Date(clock.now().getTime() + seconds * 1_000))
    return (await tenant.api('GET', '/connected-apps')).body.map(({ name }: { name: string }) => name)
  }
  const [hour, month] = [3_600, 30 * 24 * 3_600]
  expect(await leftAfter(hour - 1)).toEqual(['Used', 'Not redeemed'])
  expect(await leftAfter(hour + 1)).toEqual(['Used'])
  expect(await leftAfter(month - 1)).toEqual(['Used'])
  expect(await leftAfter(month + 1)).toEqual([])
})
