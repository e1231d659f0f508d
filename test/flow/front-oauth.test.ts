import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newClientId } from '../../src/auth/oauth/client-id.ts'
import { deriveKey } from '../../src/workspace/index.ts'
import { hashToken } from '../../src/workspace/token/token.ts'
import { ams, endAms, startAms } from '../support/ams.ts'
import { startCells, type TestCells } from '../support/cells.ts'
import { type CookieClient, cookieClient, formTokenIn, type Visited } from '../support/cookie-client.ts'
import { postRpc } from '../support/mcp.ts'
import {
  begin,
  type Discovered,
  decide,
  discover,
  post,
  redeem,
  refresh,
  register,
  revoke,
} from '../support/oauth.ts'
import { expectPage } from '../support/page.ts'
import { temporaryDir } from '../support/postgres.ts'
import { apiOf, createTestAgent, type Tenant, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Connecting apps through a front to two installations: a client registers with any, a member is in one. */

const get = vi.fn<(url: string) => Promise<Buffer>>()
let world: TestCells
let owners: [Tenant, Tenant]
let agents: [TestAgent, TestAgent]
let found: Discovered
beforeAll(async () => {
  world = await startCells({ environment: { RATE_LIMIT: '100000' }, world: { get } })
  owners = [await world.cells[0].workspace('First'), await world.cells[1].workspace('Second')]
  agents = [
    await createTestAgent(world.service, { api: apiOf(base(), owners[0].token) }, 'One'),
    await createTestAgent(world.service, { api: apiOf(base(), owners[1].token) }, 'Two'),
  ]
  found = await discover(world.service)
})
afterAll(endAms)

const base = () => world.service.http
const both = [0, 1] as const
const sentTo = (at: number) => world.cells[at]!.httpTap.sent()
const mcpStatus = async (token: string) => (await postRpc(base(), token, 'tools/list')).status
const allow = (at: 0 | 1) => ({ agent: agents[at].id, decision: 'allow' })
const toForm = (form: Record<string, string>) => post(`${base()}/oauth/token`, form)

/** Follows redirects, and pages that lead on at once, to a page of the service. */
const follow = async (browser: CookieClient, from: string): Promise<{ at: string; page: Visited }> => {
  let [at, page] = [from, await browser.get(from)]
  for (let hops = 0; hops < 10; hops++) {
    const next = page.location ?? /content="0; url=(\/[^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&')
    if (!next) return { at, page }
    at = next.replace(base(), '')
    page = await browser.get(at)
  }
  throw new Error(`goes round in circles at ${at}`)
}

const signIn = (browser: CookieClient, at: 0 | 1, to = '/app') =>
  browser.submit('/app/sign-in/token', { token: owners[at].token, to })

const signedIn = async (at: 0 | 1) => {
  const browser = cookieClient(world.service)
  await signIn(browser, at)
  return browser
}

/** Opens an authorization request in a browser in which nobody is signed in. Returns where to go on after signing in. */
const ask = async (browser: CookieClient, path: string): Promise<string> => {
  const { at, page } = await follow(browser, path)
  expectPage(page, 200, /Sign in/)
  return new URL(at, base()).searchParams.get('to')!
}

const connect = async (browser: CookieClient, at: 0 | 1, client?: oauth.Client) => {
  const registered = client ?? (await register(found))
  const begun = await begin(found, registered)
  const returned = await decide(browser, await follow(browser, begun.path), allow(at))
  const tokens = await redeem(found, registered, begun, returned)
  return { client: registered, begun, returned, tokens }
}

describe('an app', () => {
  test.each(both)('that registers anywhere is connected to the agent of a member in one (%i)', async (at) => {
    const client = await register(found, { client_name: 'Hosted Client' })
    const browser = cookieClient(world.service)
    const begun = await begin(found, client)
    const to = await ask(browser, begun.path)
    expect(to).toMatch(/^\/oauth\/consent\//)
    expect((await signIn(browser, at, to)).text).toContain(`url=${to}`)
    const consent = await follow(browser, to)
    expectPage(consent.page, 200, /Connect client.example\?/)
    expect(consent.page.text).toContain('“Hosted Client”')
    const returned = await decide(browser, consent, allow(at))
    expect(returned.href).toMatch(/^https:\/\/client\.example\/callback\?/)
    const tokens = await redeem(found, client, begun, returned)
    expect(await mcpStatus(tokens.access_token)).toBe(200)
    const [app] = (await apiOf(base(), owners[at].token)('GET', '/connected-apps')).body
    expect(app).toMatchObject({ name: 'Hosted Client', clientId: client.client_id, host: 'client.example' })
    const renewed = await refresh(found, client, tokens.refresh_token!)
    expect(await mcpStatus(renewed.access_token)).toBe(200)
    await revoke(found, client, renewed.refresh_token!)
    expect(await mcpStatus(renewed.access_token)).toBe(401)
    const secrets = [
      ...[tokens.access_token, tokens.refresh_token!, renewed.access_token, renewed.refresh_token!],
      ...[returned.searchParams.get('code')!, begun.verifier, owners[at].token],
    ]
    const [session] = [...browser.cookies].filter(([name]) => !name.includes('oauth'))
    for (const secret of [...secrets, session![1]]) expect(sentTo(1 - at)).not.toContain(secret)
    for (const secret of secrets) expect(sentTo(at)).toContain(secret)
  })

  test('is asked for once by a member who is signed in, though the first request comes without the session', async () => {
    const browser = await signedIn(1)
    const { path } = await begin(found, await register(found))
    // What browsers do for a link on another site.
    const session = [...browser.cookies]
    browser.cookies.clear()
    const started = await browser.get(path, { 'Sec-Fetch-Site': 'cross-site' })
    const page = await browser.get(started.location!, { 'Sec-Fetch-Site': 'cross-site' })
    expectPage(page, 200, /One moment/)
    for (const [name, value] of session) browser.cookies.set(name, value)
    expectPage((await follow(browser, started.location!)).page, 200, /Connect client.example\?/)
  })

  test.each(both)(
    'is connected by whoever signs in meanwhile, in another installation too (%i)',
    async (at) => {
      const browser = await signedIn(at)
      const begun = await begin(found, await register(found))
      const first = await follow(browser, begun.path)
      expect(first.page.text).toContain(owners[at].email)
      const other = at === 0 ? 1 : 0
      await signIn(browser, other, first.at)
      const second = await follow(browser, first.at)
      expect(second.page.text).toContain(owners[other].email)
      expect((await decide(browser, second, allow(other))).searchParams.has('code')).toBe(true)
    },
  )

  test('is connected after a link by email', async () => {
    const browser = cookieClient(world.service)
    const to = await ask(browser, (await begin(found, await register(found))).path)
    await browser.submit('/app/sign-in/email', { email: owners[1].email, to })
    const outbox = join(world.cells[1].dataDir, 'outbox')
    const mailed = () =>
      (existsSync(outbox) ? readdirSync(outbox) : [])
        .map((name) =>
          readFileSync(join(outbox, name), 'utf8').replaceAll('=\r\n', '').replaceAll('=3D', '='),
        )
        .map((mail) => /\/app\/sign-in\?to=([^#\s]+)#(asl_\w{43})/.exec(mail))
        .find((link) => link !== null)
    const [, path, link] = (await until(mailed))!
    expect(decodeURIComponent(path!)).toBe(to)
    await browser.submit('/app/sign-in/link', { link: link!, to })
    expectPage((await follow(browser, to)).page, 200, /Connect client.example\?/)
  })

  test.each(both)('is connected after a session that has expired (%i)', async (at) => {
    const browser = await signedIn(at)
    await world.cells[at].db.pool.query(
      `update token set expires_at = now() - interval '1 hour' where id in (select token_id from session)`,
    )
    const { path } = await begin(found, await register(found))
    const to = await ask(browser, path)
    await signIn(browser, at === 0 ? 1 : 0, to)
    expectPage((await follow(browser, to)).page, 200, /Connect client.example\?/)
  })

  test('that registered while an installation was down is known there afterwards', async () => {
    await world.cells[0].httpTap.cut()
    const client = await register(found)
    const meanwhile = await connect(await signedIn(1), 1, client)
    await world.cells[0].httpTap.mend()
    const stranger = apiOf(base(), `amt_${'x'.repeat(43)}`)
    await until(async () => (await stranger('GET', '/agents')).status === 401)
    const later = await connect(await signedIn(0), 0, client)
    for (const { tokens } of [meanwhile, later]) expect(await mcpStatus(tokens.access_token)).toBe(200)
  })

  test('that only registers is stored nowhere; one that is connected is, and outlives the secret', async () => {
    const count = async () =>
      Promise.all(world.cells.map(({ db }) => db.prisma.oauthRecord.count({ where: { kind: 'Client' } })))
    const before = await count()
    const client = await register(found)
    expect(await count()).toEqual(before)
    await connect(await signedIn(1), 1, client)
    expect(await count()).toEqual([before[0], before[1]! + 1])
    const rotated = await world.cells[1].again({ CELL_SECRET: 'another-'.repeat(5) })
    const { path } = await begin(found, client)
    const { headers } = await fetch(rotated.http + path, { redirect: 'manual' })
    expect(headers.get('location')).toMatch(/^\/oauth\/consent\//)
  })

  test.each(both)(
    'that registered with one installation before it was behind a front is still known there (%i)',
    async (at) => {
      const client = { client_id: `${at}`.repeat(43), token_endpoint_auth_method: 'none' } as const
      const { pool } = world.cells[at].db
      const payload = {
        client_id: client.client_id,
        redirect_uris: ['https://client.example/callback'],
        token_endpoint_auth_method: 'none',
      }
      await pool.query(
        `insert into oauth_record (kind, hash, payload, expires_at) values ('Client', $1, $2, now() + interval '1 day')`,
        [hashToken(client.client_id), payload],
      )
      const browser = cookieClient(world.service)
      const begun = await begin(found, client)
      const to = await ask(browser, begun.path)
      await signIn(browser, at, to)
      const { client: same, tokens } = await connect(browser, at, client)
      expect((await refresh(found, same, tokens.refresh_token!)).access_token).toMatch(/^aot_/)
      // For members of the other one it is no client.
      const other = await signedIn(at === 0 ? 1 : 0)
      expectPage((await follow(other, begun.path)).page, 400, /This app could not be connected/)
    },
  )

  test('with keys of its own proves itself to the installation that has its code', async () => {
    const { privateKey, publicKey } = await oauth.generateKeyPair('ES256', { extractable: true })
    const client = { client_id: 'https://client.example/oauth/client.json' }
    const jwks = { keys: [await crypto.subtle.exportKey('jwk', publicKey)] }
    const redirect_uris = ['https://client.example/callback']
    const document = { ...client, redirect_uris, jwks, token_endpoint_auth_method: 'private_key_jwt' }
    get.mockResolvedValue(Buffer.from(JSON.stringify(document)))
    const browser = await signedIn(1)
    const begun = await begin(found, client)
    const returned = await decide(browser, await follow(browser, begun.path), allow(1))
    const answer = oauth.validateAuthResponse(found.server, client, returned, begun.state)
    const response = await oauth.authorizationCodeGrantRequest(
      ...([found.server, client, oauth.PrivateKeyJwt(privateKey), answer] as const),
      ...([begun.redirectUri, begun.verifier, { [oauth.allowInsecureRequests]: true }] as const),
    )
    expect(response.status).toBe(200)
    expect(await mcpStatus(((await response.json()) as { access_token: string }).access_token)).toBe(200)
  })
})

test('ams login and logout work', async () => {
  const home = temporaryDir()
  const [opened, program] = [join(home, 'opened'), join(home, 'browser')]
  writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`)
  chmodSync(program, 0o755)
  const env = { HOME: home, BROWSER: program }
  const login = startAms(env, ['login', '--url', base(), '--browser'])
  await until(() => existsSync(opened))
  const { pathname, search } = new URL(readFileSync(opened, 'utf8'))
  const browser = cookieClient(world.service)
  const to = await ask(browser, pathname + search)
  await signIn(browser, 1, to)
  const returned = await decide(browser, await follow(browser, to), allow(1))
  expect((await fetch(returned)).status).toBe(200)
  expect(await login.exited).toMatchObject({ code: 0, stdout: expect.stringContaining(agents[1].id) })
  const { token } = JSON.parse(readFileSync(join(home, '.config', 'ams', 'credentials.json'), 'utf8'))
  expect((await apiOf(base(), token)('GET', `/agents/${agents[1].id}`)).status).toBe(200)
  expect((await ams(env, ['logout'])).code).toBe(0)
  expect((await apiOf(base(), token)('GET', `/agents/${agents[1].id}`)).status).toBe(401)
  expect(sentTo(0)).not.toContain(token)
  rmSync(home, { recursive: true, force: true })
})

describe('an id of a client', () => {
  const pageOf = async (client_id: string) => {
    const { path } = await begin(found, { client_id })
    return (await cookieClient(world.service).get(path, { Accept: 'text/html' })) as Visited
  }

  test('that was changed, is too long, or was made with another secret is refused', async () => {
    const { client_id: id } = await register(found)
    const key = deriveKey(Buffer.from('another-'.repeat(5)), 'ids of OAuth clients')
    const foreign = newClientId(key, { redirect_uris: ['https://client.example/callback'] })
    const changed = `${id.slice(0, 90)}${id[90] === 'A' ? 'B' : 'A'}${id.slice(91)}`
    for (const wrong of [changed, foreign, `${id}${'A'.repeat(4_000)}`, `${id}.`]) {
      const page = await pageOf(wrong)
      expectPage(page, 400, /This app could not be connected/)
      expect(page.text).toContain('invalid_client')
      expect(page.text).not.toContain('href')
      const token = await toForm({ grant_type: 'refresh_token', refresh_token: 'x', client_id: wrong })
      expect([token.status, token.body.error]).toEqual([401, 'invalid_client'])
    }
  })

  test('is for its redirect URIs alone', async () => {
    const client = await register(found)
    const { path } = await begin(found, client, { redirect_uri: 'https://evil.example/callback' })
    const page = await (await signedIn(1)).get(path, { Accept: 'text/html' })
    expectPage(page, 400, /This app could not be connected/)
  })

  test('is not made for metadata that is too long for it', async () => {
    const redirect_uris = Array.from({ length: 3 }, (_, n) => `https://a.example/${n}${'x'.repeat(500)}`)
    const response = await fetch(found.server.registration_endpoint!, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ redirect_uris }),
    })
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: 'invalid_client_metadata',
        error_description: 'client_name and redirect_uris must be at most 1400 bytes long together',
      },
    ])
  })
})

describe('a secret in a form', () => {
  const secret = () => `art_${randomBytes(32).toString('hex').slice(0, 43)}`
  const send = (path: string, type: string, body: string | Uint8Array) =>
    fetch(base() + path, { method: 'POST', headers: { 'Content-Type': type }, body: body as string })
  const FORM = 'application/x-www-form-urlencoded'
  /** In any encoding of the request. */
  const expectUnseen = (...secrets: string[]) => {
    for (const at of both)
      for (const each of secrets) {
        expect(sentTo(at)).not.toContain(each)
        expect(sentTo(at)).not.toContain([...each].join('\0'))
        expect(sentTo(at)).not.toContain([...each].join('%00'))
      }
  }

  test.each([
    ['/oauth/token', 'authorization_code', 'code', 'invalid_grant'],
    ['/oauth/token', 'refresh_token', 'refresh_token', 'invalid_grant'],
    ['/oauth/revoke', '', 'token', undefined],
  ])('that no installation has is shown to none (%s, %s)', async (path, grant_type, field, error) => {
    const { client_id } = await register(found)
    const given = secret()
    const form = { grant_type, client_id, [field]: given, redirect_uri: 'https://client.example/callback' }
    const body = new URLSearchParams({ ...form, code_verifier: 'x'.repeat(43) }).toString()
    const response = await send(path, FORM, body)
    const text = await response.text()
    expect([response.status, text && JSON.parse(text).error]).toEqual(error ? [400, error] : [200, ''])
    expectUnseen(given)
  })

  test('is read alike by front and installation, however the form is written', async () => {
    const { client_id } = await register(found)
    const [one, two] = [secret(), secret()]
    const utf16 = Buffer.from(
      `grant_type=refresh_token&client_id=${client_id}&refresh_token=${one}`,
      'utf16le',
    )
    const statuses = await Promise.all([
      send('/oauth/token', 'application/json', JSON.stringify({ refresh_token: one })),
      send('/oauth/token', `${FORM}; charset=utf-16le`, utf16),
      send('/oauth/token', 'multipart/form-data; boundary=x', `--x\r\n\r\n${one}\r\n--x--`),
      send(
        '/oauth/token',
        FORM,
        `grant_type=refresh_token&refresh_token=${one}&refresh_token=${two}&client_id=${client_id}`,
      ),
      send('/oauth/token', FORM, `grant_type=refresh_token&code=${one}&client_id=${client_id}&token=${two}`),
    ]).then((all) => Promise.all(all.map(async (each) => [each.status, (await each.json()).error])))
    expect(statuses).toEqual(Array(5).fill([400, 'invalid_request']))
    expectUnseen(one, two)
  })

  test('goes to its installation alone, with another one beside it', async () => {
    const [first, second] = [await connect(await signedIn(0), 0), await connect(await signedIn(1), 1)]
    const [{ refresh_token: ofFirst }, { refresh_token: ofSecond }] = [first.tokens, second.tokens]
    const { status, body } = await toForm({
      ...{ grant_type: 'refresh_token', client_id: second.client.client_id, resource: found.resource },
      ...{ refresh_token: ofSecond!, code: ofFirst!, token: ofFirst! },
    })
    expect([status, await mcpStatus(body.access_token!)]).toEqual([200, 200])
    expect(sentTo(1)).not.toContain(ofFirst)
    expect(sentTo(0)).not.toContain(ofSecond)
    // A token in the header decides where the request goes, and the form does not come along.
    const headers = { Authorization: `Bearer ${owners[0].token}` }
    const form = { token: body.refresh_token!, client_id: second.client.client_id }
    await fetch(`${base()}/oauth/revoke`, { method: 'POST', headers, body: new URLSearchParams(form) })
    expect(sentTo(0)).not.toContain(body.refresh_token)
  })
})

describe('an attack', () => {
  test('with a code that was used ends what it got, wherever the second use arrives', async () => {
    const { client, begun, returned, tokens } = await connect(await signedIn(1), 1)
    const form = {
      grant_type: 'authorization_code',
      client_id: client.client_id,
      code_verifier: begun.verifier,
    }
    const code = returned.searchParams.get('code')!
    const replayed = await toForm({ ...form, code, redirect_uri: 'https://client.example/callback' })
    expect([replayed.status, replayed.body.error]).toEqual([400, 'invalid_grant'])
    expect(await mcpStatus(tokens.access_token)).toBe(401)
  })

  test('with the page of another browser’s request finds nothing, in no installation', async () => {
    const attacker = cookieClient(world.service)
    const to = await ask(attacker, (await begin(found, await register(found))).path)
    for (const at of both) {
      const victim = await signedIn(at)
      const { page } = await follow(victim, to)
      expectPage(page, 400, /This request has expired/)
      expectPage(await victim.get(to.replace('consent', 'again')), 400, /This request has expired/)
      expectPage(await victim.submit(to, { ...allow(at), form: 'x' }), 400, /This request has expired/)
      expectPage(await victim.get(to.replace('consent', 'authorize')), 400, /This request has expired/)
    }
  })

  test('with the session of another installation cannot go on with what was decided in one', async () => {
    const browser = await signedIn(1)
    const consent = await follow(browser, (await begin(found, await register(found))).path)
    const form = { form: formTokenIn(consent.page), ...allow(1) }
    expect((await browser.submit(consent.at, form)).text).toContain('is connected')
    await signIn(browser, 0)
    const resume = consent.at.replace('consent', 'authorize')
    expectPage(await browser.get(resume), 400, /This request has expired/)
    // Nor is a request that was decided made again.
    expectPage((await follow(browser, consent.at)).page, 400, /This request has expired/)
  })

  test('with the id of a request that nobody has made leads nowhere, and no installation sees it', async () => {
    const id = randomBytes(16).toString('hex')
    const browser = await signedIn(1)
    browser.cookies.set('__Host-ams-oauth-1', 'x')
    for (const path of [`/oauth/again/${id}`, `/oauth/again/${id}?to=//evil.example`]) {
      const page = await browser.get(path)
      expectPage(page, 400, /This request has expired/)
    }
    for (const at of both) expect(sentTo(at)).not.toContain(id)
    for (const path of ['/oauth/again/', '/oauth/again//evil.example', '/oauth/again/..%2f..%2fapp'])
      expect([path, (await browser.get(path)).status]).toEqual([path, 404])
  })
})
