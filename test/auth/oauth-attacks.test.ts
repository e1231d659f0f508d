import * as oauth from 'oauth4webapi'
import { beforeAll, describe, expect, test } from 'vitest'
import { type CookieClient, cookieClient, formTokenIn, signedIn } from '../support/cookie-client.ts'
import { postRpc } from '../support/mcp.ts'
import {
  begin,
  connect,
  type Discovered,
  decide,
  discover,
  openConsent,
  post,
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

/** Attacks on the authorization server (RFC 9700): each is refused, and what it aimed at stays as it was. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let browser: CookieClient
let found: Discovered
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  browser = await signedIn(service, owner.token)
  found = await discover(service)
})

const mcpStatus = async (token: string) => (await postRpc(service.http, token, 'tools/list')).status
const allow = () => ({ agent: agent.id, decision: 'allow' })

/** A client with a code that it has not redeemed yet. */
const withCode = async () => {
  const client = await register(found)
  const begun = await begin(found, client)
  const returned = await decide(browser, await openConsent(browser, begun), allow())
  const form = {
    grant_type: 'authorization_code',
    code: returned.searchParams.get('code')!,
    redirect_uri: begun.redirectUri,
    client_id: client.client_id,
    code_verifier: begun.verifier,
  }
  return { client, begun, returned, form }
}
const askToken = (form: Record<string, string>) => post(found.server.token_endpoint!, form)

test('an authorization request of more than 8 KiB is refused, and not stored', async () => {
  const client = await register(found)
  const { path } = await begin(found, client, { state: 'x'.repeat(9_000) })
  const rows = await service.db.prisma.oauthRecord.count()
  expectPage(await browser.get(path), 414, /longer than 8 KiB/)
  expect(await service.db.prisma.oauthRecord.count()).toBe(rows)
})

/** Follows an authorization request, and returns the error that the client or the member gets. */
const errorOf = async (changes: Record<string, string | null>) => {
  const begun = await begin(found, await register(found), changes)
  const answer = await browser.get(begun.path, { Accept: 'text/html' })
  if (answer.location === null) return { page: answer }
  return { toClient: new URL(answer.location) }
}

test('code replay: the second use gets nothing, and ends what the first one got', async () => {
  const { client, begun, returned, form } = await withCode()
  const tokens = await redeem(found, client, begun, returned)
  expect(await mcpStatus(tokens.access_token)).toBe(200)
  const replayed = await askToken(form)
  expect([replayed.status, replayed.body.error]).toEqual([400, 'invalid_grant'])
  expect(await mcpStatus(tokens.access_token)).toBe(401)
})

test('a code that is redeemed twice at the same time is redeemed at most once, and then ends', async () => {
  const { form } = await withCode()
  const answers = await Promise.all([askToken(form), askToken(form), askToken(form)])
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  for (const { body } of answers) if (body.access_token) expect(await mcpStatus(body.access_token)).toBe(401)
})

test('a stolen code is worthless without its verifier, for another client, and with another redirect URI', async () => {
  const { form } = await withCode()
  const other = await register(found)
  const { code_verifier, ...withoutVerifier } = form
  for (const changed of [
    withoutVerifier,
    { ...form, code_verifier: 'x'.repeat(43) },
    { ...form, client_id: other.client_id },
    { ...form, redirect_uri: 'https://client.example/other' },
  ]) {
    const { status, body } = await askToken(changed)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
  }
  expect((await askToken(form)).status).toBe(200)
})

describe('PKCE downgrade', () => {
  test.each([
    ['no challenge', { code_challenge: null, code_challenge_method: null }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no method, which would mean plain', { code_challenge_method: null }],
  ])('%s is refused', async (_what, changes) => {
    const { toClient } = await errorOf(changes)
    expect(toClient?.searchParams.get('error')).toBe('invalid_request')
    expect(toClient?.searchParams.has('code')).toBe(false)
  })
})

test('mix-up: every answer names its issuer, and a client refuses one of another', async () => {
  const { begun, client, returned } = await withCode()
  expect(found.server.authorization_response_iss_parameter_supported).toBe(true)
  returned.searchParams.set('iss', 'https://evil.example')
  expect(() => oauth.validateAuthResponse(found.server, client, returned, begun.state)).toThrow(/iss/)
  const { toClient } = await errorOf({ code_challenge: null, code_challenge_method: null })
  expect(toClient?.searchParams.get('iss')).toBe(found.server.issuer)
})

describe('redirect URI', () => {
  test.each([
    'https://evil.example/callback',
    'https://client.example/callback/',
    'https://client.example/callback?more=1',
    'https://client.example/Callback',
    'https://client.example:444/callback',
    'https://client.example@evil.example/callback',
    'https://client.example.evil.example/callback',
    'https://client.example/callback/../evil',
    'http://client.example/callback',
    '//evil.example',
    'javascript:alert(1)',
  ])('%s is not the registered one: an error page, and no redirect', async (redirect_uri) => {
    const { page } = await errorOf({ redirect_uri })
    expectPage(page!, 400, /This app could not be connected/)
    expect(page!.text).not.toContain('href')
  })

  test('that of another client is refused too', async () => {
    await register(found, { redirect_uris: ['https://other.example/cb'] })
    expectPage((await errorOf({ redirect_uri: 'https://other.example/cb' })).page!, 400, /could not be/)
  })

  test('of a loopback address the port is free (RFC 8252, 7.3), and nothing else', async () => {
    const client = await register(found, { redirect_uris: ['http://127.0.0.1/callback'] })
    const statusOf = async (redirect_uri: string) =>
      (await browser.get((await begin(found, client, { redirect_uri })).path)).status
    expect(await statusOf('http://127.0.0.1:49152/callback')).toBe(303)
    expect(await statusOf('http://127.0.0.1:49152/other')).toBe(400)
    expect(await statusOf('http://localhost:49152/callback')).toBe(400)
    expect(await statusOf('http://evil.example:49152/callback')).toBe(400)
  })
})

describe('another resource', () => {
  test.each(['https://other.example/mcp', 'http://localhost/mcp', 'urn:other'])(
    '%s is refused when it is asked for',
    async (resource) => {
      const { toClient } = await errorOf({ resource })
      expect(toClient?.searchParams.get('error')).toBe('invalid_target')
    },
  )

  test('and when a code or a refresh token is exchanged for it', async () => {
    const { form } = await withCode()
    expect((await askToken({ ...form, resource: 'https://other.example/mcp' })).body.error).toBe(
      'invalid_target',
    )
  })
})

test('refresh reuse: a used refresh token ends the whole connection', async () => {
  const { client, accessToken, refreshToken } = await connect(found, browser, agent.id)
  const renewed = await refresh(found, client, refreshToken)
  expect(await mcpStatus(renewed.access_token)).toBe(200)
  await expect(refresh(found, client, refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' })
  expect([await mcpStatus(accessToken), await mcpStatus(renewed.access_token)]).toEqual([401, 401])
  await expect(refresh(found, client, renewed.refresh_token!)).rejects.toMatchObject({
    error: 'invalid_grant',
  })
  const [entry] = (await owner.api('GET', `/audit?agentId=${agent.id}`)).body.items
  expect(entry).toMatchObject({
    action: 'app.disconnect',
    detail: { reason: 'a code or refresh token was used twice' },
  })
})

test('a refresh token is worthless to another client', async () => {
  const { refreshToken, accessToken } = await connect(found, browser, agent.id)
  const thief = await register(found)
  await expect(refresh(found, thief, refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' })
  const revoked = await fetch(found.server.revocation_endpoint!, {
    method: 'POST',
    body: new URLSearchParams({ token: accessToken, client_id: thief.client_id }),
  })
  expect(revoked.status).toBe(200)
  expect(await mcpStatus(accessToken)).toBe(200)
})

describe('forged consent', () => {
  const waiting = async () => openConsent(browser, await begin(found, await register(found)))
  const apps = async () => (await owner.api('GET', '/connected-apps')).body.length

  test('a form of another site, or of another port of this host, connects nothing', async () => {
    const { at, page } = await waiting()
    const before = await apps()
    const form = { form: formTokenIn(page), ...allow() }
    for (const Origin of ['https://evil.example', 'http://localhost:1', 'null'])
      expect((await browser.submit(at, form, { Origin })).status).toBe(403)
    expect(await apps()).toBe(before)
  })

  test('nor does a form without the page’s token, and a GET changes nothing', async () => {
    const { at } = await waiting()
    const before = await apps()
    expect((await browser.submit(at, allow())).status).toBe(403)
    expect((await browser.submit(at, { ...allow(), form: 'x'.repeat(43) })).status).toBe(403)
    expect((await browser.get(`${at}?${new URLSearchParams(allow())}`)).status).toBe(200)
    expect(await apps()).toBe(before)
  })

  test('a request that was made in another browser cannot be answered: its link does nothing', async () => {
    const attacker = cookieClient(service)
    const started = await attacker.get((await begin(found, await register(found))).path)
    const victim = await signedIn(service, owner.token)
    expectPage(await victim.get(started.location!), 400, /This request has expired/)
    const forced = await victim.submit(started.location!, { ...allow(), form: 'x' })
    expectPage(forced, 400, /This request has expired/)
  })

  /** An attacker's request, whose cookies a page on another port of the host has set in the victim's browser. */
  const planted = async (which: (name: string) => boolean) => {
    const attacker = cookieClient(service)
    const client = await register(found)
    const begun = await begin(found, client)
    const at = (await attacker.get(begun.path)).location!
    const victim = await signedIn(service, owner.token)
    for (const [name, value] of attacker.cookies) if (which(name)) victim.cookies.set(name, value)
    return { attacker, victim, at, resume: at.replace('consent', 'authorize') }
  }

  test('a request that another port has planted with cookies of its own is not found', async () => {
    const { attacker, victim, at, resume } = await planted((name) => !name.startsWith('__Host-'))
    expectPage(await victim.get(at), 400, /This request has expired/)
    expectPage(await attacker.get(resume), 400, /This request has expired/)
  })

  test('the code goes only to the session in which a member consented, whatever cookies were planted', async () => {
    const { attacker, victim, at, resume } = await planted(() => true)
    const page = await victim.get(at)
    expect((await victim.submit(at, { form: formTokenIn(page), ...allow() })).text).toContain('is connected')
    expectPage(await attacker.get(resume), 400, /This request has expired/)
    const other = await service.workspace('Attacker')
    await attacker.submit('/app/sign-in/token', { token: other.token })
    expectPage(await attacker.get(resume), 400, /This request has expired/)
    await victim.submit('/app/sign-in/token', { token: owner.token })
    expectPage(await victim.get(resume), 400, /This request has expired/)
  })

  test('nothing goes on that nobody has decided, and what goes on does so once', async () => {
    const { at } = await waiting()
    const resume = at.replace('consent', 'authorize')
    expectPage(await browser.get(resume), 400, /This request has expired/)
    await browser.submit(at, { form: formTokenIn(await browser.get(at)), ...allow() })
    expect((await browser.get(resume)).location).toContain('code=')
    expectPage(await browser.get(resume), 400, /This request has expired/)
  })

  test('an answered request cannot be answered again', async () => {
    const consent = await waiting()
    const form = { form: formTokenIn(consent.page), ...allow() }
    expect((await browser.submit(consent.at, form)).text).toContain('is connected')
    const before = await apps()
    expect((await browser.submit(consent.at, form)).text).toContain('You have decided')
    expect(await apps()).toBe(before)
  })

  test('the page cannot be framed, and runs no script', async () => {
    const { page } = await waiting()
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('script-src')
    expect(page.headers.get('x-frame-options')).toBe('DENY')
  })

  test('earlier consent does not count: each request asks', async () => {
    const client = await register(found)
    const first = await begin(found, client)
    await decide(browser, await openConsent(browser, first), allow())
    const second = await browser.get((await begin(found, client)).path)
    expect(second.location).toMatch(/^\/oauth\/consent\//)
    const silent = await browser.get((await begin(found, client, { prompt: 'none' })).path)
    expect(new URL(silent.location!).searchParams.get('error')).toBe('consent_required')
  })
})

describe('other grants and response types', () => {
  test.each(['token', 'id_token', 'code token', 'none'])('the response type %s is refused', async (type) => {
    const { toClient, page } = await errorOf({ response_type: type })
    // For some types, errors go into the fragment, as the answer would.
    const told = `${toClient?.search}${toClient?.hash}${page?.text}`
    expect(told).toContain('unsupported_response_type')
    expect(toClient?.href ?? '').not.toContain('access_token')
  })

  test.each(['password', 'client_credentials', 'implicit'])('the grant %s is refused', async (grant_type) => {
    const { client_id } = await register(found)
    const { status, body } = await askToken({ grant_type, client_id, username: 'a', password: 'b' })
    expect([status, body.error]).toEqual([400, 'unsupported_grant_type'])
  })

  test('an answer goes into the query of the redirect URI, not into a form or a fragment', async () => {
    for (const response_mode of ['form_post', 'fragment']) {
      const { toClient, page } = await errorOf({ response_mode })
      expect(toClient?.searchParams.get('error') ?? page?.text).toMatch(/unsupported_response_mode/)
    }
  })
})

test.each([
  ['GET', '/oauth/token'],
  ['POST', '/oauth/authorize'],
  ['PUT', '/oauth/register'],
  ['DELETE', '/.well-known/oauth-protected-resource/mcp'],
])('%s %s is not allowed', async (method, path) => {
  const response = await fetch(service.http + path, { method })
  expect([response.status, response.headers.get('allow') !== null]).toEqual([405, true])
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_input' } })
})

test('what does not exist below /oauth is a 404 in JSON', async () => {
  const response = await fetch(`${service.http}/oauth/session/end/confirm`, { method: 'POST' })
  expect([response.status, (await response.json()).error.code]).toEqual([404, 'not_found'])
})
