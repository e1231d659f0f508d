import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { pruneSessions } from '../../src/workspace/token/session-token.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { type CookieClient, cookieClient, formTokenIn, signedIn } from '../support/cookie-client.ts'
import { expectPage } from '../support/page.ts'
import { waitsForLock } from '../support/rows.ts'
import { apiOf, createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const WHO = '{ viewer { kind email tokenId expiresAt } }'

let clock: FakeClock
let service: TestService
let owner: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock }, environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
})

const who = async (browser: CookieClient, headers: Record<string, string> = {}) => {
  const response = await browser.ask(WHO, {}, headers)
  const { data, errors } = (await response.json()) as {
    data?: { viewer: { email: string; tokenId: string; expiresAt: string } } | null
    errors?: { extensions: { code: string } }[]
  }
  return { status: response.status, viewer: data?.viewer, code: errors?.[0]?.extensions.code }
}

/** Adds a member to the owner's workspace; returns a browser in which they are signed in. */
const colleague = async () => {
  const email = `${Math.random().toString(36).slice(2)}@example.com`
  const { body } = await owner.api('POST', '/members/invitations', { email })
  const page = await cookieClient(service).submit(new URL(body.url).pathname, {}, { Origin: 'null' })
  const token = /<code>(amt_\w+)<\/code>/.exec(page.text)![1]!
  const { id } = (await owner.api('GET', '/members')).body.find(
    (one: { email: string }) => one.email === email,
  )
  return { id: id as string, token, api: apiOf(service.http, token), browser: await signedIn(service, token) }
}

const sessionOf = (browser: CookieClient) => [...browser.cookies.values()][0]!

test('a pasted token becomes a session, whose cookie only this host gets, and of which only a hash is stored', async () => {
  const browser = cookieClient(service)
  const page = await browser.get('/app/sign-in')
  expectPage(page, 200, /Sign in/)
  const port = new URL(service.http).port
  const answer = await browser.submit('/app/sign-in/token', { token: owner.token })
  expect([answer.status, answer.location]).toEqual([303, '/app'])
  const [cookie] = answer.headers.getSetCookie()
  expect(cookie).toMatch(
    new RegExp(
      `^__Host-ams-${port}=ams_[0-9A-Za-z]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$`,
    ),
  )
  const token = sessionOf(browser)
  const { rows } = await service.db.pool.query(
    `select s.browser, t.hash, t.expires_at, s.ends_at from session s join token t on t.id = s.token_id where t.member_id = $1`,
    [owner.member],
  )
  expect(rows).toEqual([
    {
      browser: 'Firefox on Linux',
      hash: createHash('sha256').update(token).digest(),
      expires_at: new Date(clock.now().getTime() + 12 * HOUR_MS),
      ends_at: new Date(clock.now().getTime() + 30 * 24 * HOUR_MS),
    },
  ])
  expect(await who(browser)).toMatchObject({ status: 200, viewer: { email: owner.email } })
  const listed = await (await browser.ask('{ viewer { sessions { browser current } } }')).text()
  expect(JSON.parse(listed).data.viewer.sessions).toEqual([{ browser: 'Firefox on Linux', current: true }])
  expect(listed).not.toContain(token)
  expect((await browser.get('/app/account')).location).toBe('/app/profile')
  const tokens = (await owner.api('GET', '/tokens')).body
  expect(tokens).toHaveLength(1)
  const audit = (await owner.api('GET', '/audit?action=session.create')).body.items[0]
  expect(audit).toMatchObject({
    actor: { kind: 'member', id: owner.member },
    detail: { way: 'token', browser: 'Firefox on Linux' },
  })
})

test('Safari, which refuses Secure cookies on http://localhost, gets a plain one there', async () => {
  const safari =
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'
  const browser = await signedIn(service, owner.token, safari)
  expect([...browser.cookies.keys()]).toEqual([`ams-${new URL(service.http).port}`])
  expect(await who(browser)).toMatchObject({ status: 200 })
})

test.each([
  ['no token', ''],
  ['an unknown token', `amt_${'x'.repeat(43)}`],
  ['a session', 'session'],
  ['an agent’s token', 'agent'],
])('%s signs nobody in, and is not shown again', async (_, given) => {
  const agent = await createTestAgent(service, owner)
  const session = sessionOf(await signedIn(service, owner.token))
  const token = given === 'agent' ? agent.token : given === 'session' ? session : given
  const browser = cookieClient(service)
  const answer = await browser.submit('/app/sign-in/token', { token })
  expectPage(answer, given === 'agent' ? 403 : 401, /role="alert"/)
  if (token) expect(answer.text).not.toContain(token)
  expect(browser.cookies.size).toBe(0)
})

test('the cookie counts neither on REST nor on MCP, Message URLs and streams, also as a bearer token', async () => {
  const agent = await createTestAgent(service, owner)
  const browser = await signedIn(service, owner.token)
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
  const origin = service.http.replace('127.0.0.1', 'localhost')
  const own = { Cookie: cookie, Origin: origin, 'X-Requested-By': 'test' }
  const anyone = apiOf(service.http, null)
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const requests = [
    ['GET', `/agents/${agent.id}`],
    ['GET', '/agents'],
    ['POST', '/agents', { name: 'x', icon: 'bot' }],
    ['POST', `/a/${agent.id}`, { text: 'hi' }],
    ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
    ['GET', `/agents/${agent.id}/connections/${body.id}/events`],
  ] as const
  for (const [method, path, sent] of requests) {
    expect((await anyone(method, path, sent, own)).status, path).toBe(401)
    const bearer = { ...own, Authorization: `Bearer ${sessionOf(browser)}` }
    expect((await anyone(method, path, sent, bearer)).status, path).toBe(401)
  }
  const asBearer = { Authorization: `Bearer ${sessionOf(browser)}` }
  expect(await who(browser, asBearer)).toMatchObject({ status: 401 })
  expect(await who(browser)).toMatchObject({ status: 200 })
})

test.each<[string, Record<string, string>, number]>([
  ['without the header', { 'X-Requested-By': '' }, 403],
  ['from another port', { Origin: 'http://localhost:1' }, 403],
  ['from another host', { Origin: 'https://example.com' }, 403],
  ['with an opaque origin', { Origin: 'null' }, 403],
  ['without an origin', { Origin: '' }, 403],
  ['with an invalid Authorization beside it', { Authorization: 'Basic eDp5' }, 401],
])('a GraphQL request %s does not count', async (_, headers, status) => {
  const browser = await signedIn(service, owner.token)
  expect(await who(browser, headers)).toMatchObject({ status })
  expect(await who(browser)).toMatchObject({ status: 200 })
})

test('a GET of GraphQL does not count with a session, nor does a body that is not JSON', async () => {
  const browser = await signedIn(service, owner.token)
  const origin = service.http.replace('127.0.0.1', 'localhost')
  const answer = await browser.get(`/graphql?query=${encodeURIComponent(WHO)}`, {
    Origin: origin,
    'X-Requested-By': 'test',
  })
  expect(answer.status).toBe(403)
  const form = await browser.submit('/graphql', { query: WHO }, { 'X-Requested-By': 'test' })
  expect(form.status).toBe(415)
})

test('an owner exports the workspace in the browser, by a form of its page', async () => {
  const browser = await signedIn(service, owner.token)
  const page = await browser.get('/app/export')
  expectPage(page, 200, /Download the archive/)
  const form = { form: formTokenIn(page) }
  const exports = async () => (await owner.api('GET', '/audit?action=workspace.export')).body.items.length
  expect((await browser.submit('/app/export', {})).status).toBe(403)
  expect((await browser.submit('/app/export', form, { Origin: 'https://example.com' })).status).toBe(403)
  expect(await exports()).toBe(0)
  const archive = await browser.submit('/app/export', form)
  expect([archive.status, archive.headers.get('content-disposition')]).toEqual([
    200,
    'attachment; filename="workspace.tar"',
  ])
  expect(archive.text).toContain('workspace.json')
  expect(archive.text.endsWith('\0'.repeat(1_024))).toBe(true)
  expect(await exports()).toBe(1)

  const other = (await colleague()).browser
  expectPage(await other.get('/app/export'), 403, /Only an owner/)
  const theirs = { form: formTokenIn(await other.get('/app/passkeys')) }
  expect((await other.submit('/app/export', theirs)).status).toBe(403)
  expect(await exports()).toBe(1)
})

test('a session ends 12 hours after its last use', async () => {
  const browser = await signedIn(service, owner.token)
  for (let turn = 0; turn < 3; turn++) {
    clock.advance(12 * HOUR_MS - 1_000)
    const { viewer } = await who(browser)
    expect(viewer?.expiresAt).toBe(new Date(clock.now().getTime() + 12 * HOUR_MS).toISOString())
    await until(async () => {
      const row = await service.db.prisma.token.findUniqueOrThrow({ where: { id: viewer!.tokenId } })
      return row.lastUsedAt?.getTime() === clock.now().getTime()
    })
  }
  clock.advance(12 * HOUR_MS)
  expect(await who(browser)).toMatchObject({ status: 401 })
  const page = await browser.get('/app')
  expect([page.status, page.location]).toEqual([303, '/app/sign-in'])
})

test('a session ends 30 days after signing in, however often it is used', async () => {
  const browser = await signedIn(service, owner.token)
  const start = clock.now().getTime()
  for (let day = 0; day < 59; day++) {
    clock.advance(12 * HOUR_MS - 1_000)
    const { viewer } = await who(browser)
    await until(async () => {
      const row = await service.db.prisma.token.findUniqueOrThrow({ where: { id: viewer!.tokenId } })
      return row.lastUsedAt?.getTime() === clock.now().getTime()
    })
  }
  clock.advance(120_000)
  const { viewer } = await who(browser)
  expect(viewer?.expiresAt).toBe(new Date(start + 30 * 24 * HOUR_MS).toISOString())
  clock.advance(start + 30 * 24 * HOUR_MS - clock.now().getTime())
  expect(await who(browser)).toMatchObject({ status: 401 })
})

test('signing in again makes a new token and ends the earlier session: no value given before counts', async () => {
  const browser = await signedIn(service, owner.token)
  const earlier = sessionOf(browser)
  const [name] = browser.cookies.keys()
  await browser.submit('/app/sign-in/token', { token: owner.token })
  expect(sessionOf(browser)).not.toBe(earlier)
  const attacker = cookieClient(service)
  attacker.cookies.set(name!, earlier)
  expect(await who(attacker)).toMatchObject({ status: 401 })
  const planted = cookieClient(service)
  planted.cookies.set(name!, `ams_${'a'.repeat(43)}`)
  await planted.submit('/app/sign-in/token', { token: owner.token })
  expect(sessionOf(planted)).not.toContain('aaaa')
})

test('a second cookie of the same name, which another port can set, makes neither count', async () => {
  const browser = await signedIn(service, owner.token)
  const [pair] = [...browser.cookies].map((each) => each.join('='))
  const other = pair!.replace(/=.*/, `=ams_${'a'.repeat(43)}`)
  for (const cookie of [`${other}; ${pair}`, `${pair}; ${other}`])
    expect(await who(browser, { Cookie: cookie })).toMatchObject({ status: 401 })
})

test('forms need the page’s token and our origin; other forms and another session’s token are refused', async () => {
  const browser = await signedIn(service, owner.token)
  const other = await signedIn(service, owner.token)
  const form = formTokenIn(await browser.get('/app/passkeys'))
  for (const [given, origin] of [
    ['', null],
    [formTokenIn(await other.get('/app/passkeys')), null],
    [form, 'http://localhost:1'],
    [form, 'null'],
  ] as const) {
    const headers = origin ? { Origin: origin } : {}
    expectPage(await browser.submit('/app/sign-out', { form: given }, headers), 403, /did not work/)
  }
  expect(await who(browser)).toMatchObject({ status: 200 })
  const out = await browser.submit('/app/sign-out', { form })
  expect([out.status, out.location, browser.cookies.size]).toEqual([303, '/app/sign-in', 0])
})

test('a form to sign in from another origin signs nobody in', async () => {
  for (const origin of ['http://localhost:1', 'https://example.com', 'null', '']) {
    const browser = cookieClient(service)
    expectPage(
      await browser.submit('/app/sign-in/token', { token: owner.token }, { Origin: origin }),
      403,
      /pages of/,
    )
    expect(browser.cookies.size).toBe(0)
  }
})

test.each([
  ['/app?x=1', '/app?x=1'],
  ['//evil.example/', '/app'],
  ['/\\evil.example', '/app'],
  ['/app/..//evil.example', '/app'],
  ['https://evil.example', '/app'],
  ['javascript:alert(1)', '/app'],
  ['/app\r\nSet-Cookie: a=b', '/app'],
  ['/\t/evil.example', '/app'],
  ['a long path', '/app'],
])(
  'after signing in, the browser goes to %j only if that is a path of the service',
  async (given, expected) => {
    const to = given === 'a long path' ? `/${'x'.repeat(5_000)}` : given
    const browser = cookieClient(service)
    const page = await browser.get(`/app/sign-in?to=${encodeURIComponent(to)}`)
    expect(page.text).toContain(`name="to" value="${expected}"`)
    const answer = await browser.submit('/app/sign-in/token', { token: owner.token, to })
    expect([answer.status, answer.location]).toEqual([303, expected])
  },
)

test('a path beyond /app is opened by a page of its own, since form-action applies to redirects', async () => {
  const browser = cookieClient(service)
  const page = await browser.submit('/app/sign-in/token', { token: owner.token, to: '/oauth/ask?x=1&y="' })
  expectPage(page, 200, /content="0; url=\/oauth\/ask\?x=1&amp;y=%22"/)
})

test('what was asked survives signing in', async () => {
  const browser = cookieClient(service)
  const asked = await browser.get('/app?a=b')
  expect(asked.location).toBe('/app/sign-in?to=%2Fapp%3Fa%3Db')
  const elsewhere = await browser.get('/app?a=b', { 'Sec-Fetch-Site': 'cross-site' })
  expectPage(elsewhere, 200, /content="0; url=\/app\?a=b"/)
})

test('127.0.0.1 leads to the name in PUBLIC_URL, other hosts do not', async () => {
  const port = Number(new URL(service.http).port)
  const visit = (host: string) =>
    new Promise<string | undefined>((resolve, reject) => {
      const sent = httpRequest({
        host: '127.0.0.1',
        port,
        path: '/app/sign-in?to=%2Fapp',
        headers: { Host: host },
      })
      sent.on('response', (response) => resolve(response.resume().headers.location)).on('error', reject)
      sent.end()
    })
  expect(await visit(`127.0.0.1:${port}`)).toBe(`http://localhost:${port}/app/sign-in?to=%2Fapp`)
  expect(await visit(`localhost:${port}`)).toBeUndefined()
  expect(await visit(`evil.example:${port}`)).toBeUndefined()
  expect(await visit('localhost:1')).toBeUndefined()
})

test('browsers that open / are sent to /app, and programs are told what this is', async () => {
  const browser = cookieClient(service)
  expect((await browser.get('/', { Accept: 'text/html,*/*' })).location).toBe('/app')
  const { status, headers, text } = await browser.get('/', { Accept: '*/*' })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  for (const path of ['/docs', '/openapi.json', '/mcp']) expect(text).toContain(path)
})

/** Ends a session, as the web application does. */
const end = async (browser: CookieClient, id: string): Promise<unknown> => {
  const mutation = 'mutation ($id: UUID!) { revokeSession(input: { sessionId: $id }) { sessionId } }'
  return (await browser.ask(mutation, { id })).json()
}

test('ended sessions end at once in every process, with their subscriptions', async () => {
  const agent = await createTestAgent(service, owner)
  const [mine, other] = [await signedIn(service, owner.token), await signedIn(service, owner.token)]
  const second = await service.again({ PUBLIC_URL: service.http.replace('127.0.0.1', 'localhost') })
  const elsewhere = { ...service, http: second.http }
  expect(await who(other)).toMatchObject({ status: 200 })
  const cookie = [...other.cookies].map((pair) => pair.join('=')).join('; ')
  const headers = {
    Cookie: cookie,
    Origin: service.http.replace('127.0.0.1', 'localhost'),
    'X-Requested-By': 'test',
    'Content-Type': 'application/json',
    Accept: 'text/event-stream',
  }
  const query = 'subscription ($id: UUID!) { messageReceived(agentId: $id) { id } }'
  const stream = await fetch(`${elsewhere.http}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables: { id: agent.id } }),
  })
  expect(stream.status).toBe(200)
  const reading = stream.text()
  const { viewer } = await who(other)
  const ended = await end(mine, viewer!.tokenId)
  expect(ended).toMatchObject({ data: { revokeSession: { sessionId: viewer!.tokenId } } })
  expect(await who(other)).toMatchObject({ status: 401 })
  expect(await reading).toContain('unauthorized')
  expect(await who(mine)).toMatchObject({ status: 200 })
  expect(await end(mine, viewer!.tokenId)).toMatchObject({ errors: [{ extensions: { code: 'not_found' } }] })
  const { detail } = (await owner.api('GET', '/audit?action=session.revoke')).body.items[0]
  expect(detail).toEqual({ member: owner.member, sessions: [viewer!.tokenId] })
})

test('signing out everywhere ends the member’s sessions and nobody else’s', async () => {
  const { id, browser, token } = await colleague()
  const [second, ownersOwn] = [await signedIn(service, token), await signedIn(service, owner.token)]
  const { viewer } = await who(ownersOwn)
  expect(await end(browser, viewer!.tokenId)).toMatchObject({
    errors: [{ extensions: { code: 'not_found' } }],
  })
  const endAll = 'mutation ($id: UUID!) { revokeSessions(input: { memberId: $id }) { count } }'
  expect(await (await browser.ask(endAll, { id })).json()).toEqual({ data: { revokeSessions: { count: 2 } } })
  expect([await who(browser), await who(second)]).toMatchObject([{ status: 401 }, { status: 401 }])
  expect(await who(ownersOwn)).toMatchObject({ status: 200 })
})

test('removing a member ends their sessions', async () => {
  const { id, browser } = await colleague()
  expect(await who(browser)).toMatchObject({ status: 200 })
  expect((await owner.api('DELETE', `/members/${id}`)).status).toBe(204)
  expect(await who(browser)).toMatchObject({ status: 401 })
})

test('a member has at most 50 sessions: the one unused for the longest time ends', async () => {
  const { token, id, browser } = await colleague()
  clock.advance(60_000)
  for (let count = 0; count < 50; count++) await signedIn(service, token)
  expect(await service.db.prisma.token.count({ where: { memberId: id, session: { isNot: null } } })).toBe(50)
  expect(await who(browser)).toMatchObject({ status: 401 })
})

test('a session that is used while those that have ended are deleted goes on', async () => {
  const browser = await signedIn(service, owner.token)
  const id = (await who(browser)).viewer!.tokenId
  const { prisma } = service.db
  const endsAt = (ms: number, { token }: Pick<typeof prisma, 'token'> = prisma) =>
    token.update({ where: { id }, data: { expiresAt: new Date(clock.now().getTime() + ms) } })
  await endsAt(-1)
  const { pruning } = await prisma.$transaction(
    async (tx) => {
      await endsAt(HOUR_MS, tx as typeof prisma)
      const pruning = pruneSessions(service.db, clock.now())
      await until(() => waitsForLock(service.db, '^delete from token'))
      return { pruning }
    },
    { timeout: 80_000 },
  )
  expect(await pruning).toBe(0)
  expect(await who(browser)).toMatchObject({ status: 200 })
  await endsAt(-1)
  expect(await pruneSessions(service.db, clock.now())).toBe(1)
})

test('a session has its own rate limit', async () => {
  const browser = await signedIn(service, owner.token)
  const response = await browser.ask(WHO)
  expect(response.headers.get('ratelimit')).toMatch(/^"token";r=99999/)
})

test('browsers are told to use https alone where PUBLIC_URL is https, with every response, and only there', async () => {
  const secure = await startService({ environment: { PUBLIC_URL: 'https://agents.example' } })
  for (const path of [
    '/healthz',
    '/nothing',
    '/app/sign-in',
    '/agents',
    '/graphql',
    '/oauth/authorize',
    '/mcp',
  ]) {
    const { headers } = await fetch(secure.http + path, { redirect: 'manual' })
    expect(headers.get('strict-transport-security'), path).toBe('max-age=31536000')
    const plain = await fetch(service.http + path, { redirect: 'manual' })
    expect(plain.headers.has('strict-transport-security'), path).toBe(false)
  }
})
