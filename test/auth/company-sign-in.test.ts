import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import {
  type Company,
  nextOf,
  openCompany,
  signedBySomebody,
  signedWithSecret,
  unsigned,
} from '../support/company.ts'
import { type CookieClient, cookieClient, signedIn } from '../support/cookie-client.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { createTestLog } from '../support/log.ts'
import { type ListedDomain, ownDomain, verify, withdraw } from '../support/own-domain.ts'
import { apiOf, startService, type Tenant, type TestService } from '../support/service.ts'

/** Signing in with the account of a company, at a provider that also does what none may. */

const TENANT = '/7f1d3b5e-0a2c-4d6e-8f90-a1b2c3d4e5f6/v2.0'
const HOUR_MS = 3_600_000

const zone: Zone = proves('example.com')
const log = createTestLog()
let clock: FakeClock
let service: TestService
let company: Company
let owner: Tenant
let domain: ListedDomain
let count = 0

beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({
    environment: { MAIL_HOST: 'mx.service.example', RATE_LIMIT: '100000', TRUST_PROXY: '127.0.0.1' },
    world: { resolver: fakeResolver(zone), clock },
    log,
  })
})
beforeEach(async () => {
  company = await openCompany()
  owner = await service.workspace()
  domain = await ownDomain(owner, zone, `c${++count}.example`)
})

const at = (local: string) => `${local}@${domain.name}`
const settings = (more: object = {}) => ({
  ...{ issuer: company.issuer, clientId: company.clientId, clientSecret: company.clientSecret },
  ...{ domains: [domain.name], ...more },
})
const set = (more: object = {}) => owner.api('PATCH', '/workspace', { signIn: settings(more) })
const isIn = async (browser: CookieClient) => (await browser.ask('{ viewer { id } }')).status === 200
const emailOf = async (browser: CookieClient) =>
  ((await (await browser.ask('{ viewer { email role } }')).json()) as { data: { viewer: object } }).data
    .viewer

let clients = 0
const from = () => ({ 'X-Forwarded-For': `198.51.${100 + (++clients >> 8)}.${clients & 255}` })

/** Begins in a browser; returns the URL at the provider. */
const begin = async (browser: CookieClient, email: string, to = '') => {
  const page = await browser.submit('/app/sign-in/company', { email, to }, from())
  expect(page.status, page.text).toBe(200)
  return nextOf(page)
}
/** Signs in with these claims; returns the page that the provider has led back to. */
const signInAs = async (claims: Record<string, unknown>, browser = cookieClient(service)) => {
  company.claims = { email_verified: true, ...claims }
  const back = company.approve(await begin(browser, at('ann')))
  return { browser, page: await browser.get(back, from()) }
}
const refused = async (claims: Record<string, unknown>, words: RegExp | string) => {
  const { browser, page } = await signInAs(claims)
  expect(page.text).toMatch(words)
  expect(page.status).toBe(403)
  expect(await isIn(browser)).toBe(false)
}
const members = async () =>
  (await owner.api('GET', '/members')).body.map(({ email }: { email: string }) => email).sort()

describe('the settings', () => {
  test('are for owners, show no secret, and name what to register', async () => {
    const answer = await set({ role: 'member', required: false })
    expect(answer.status).toBe(200)
    const redirectUrl = `${service.http.replace('127.0.0.1', 'localhost')}/app/sign-in/company/${owner.id}`
    const shown = {
      ...{ issuer: company.issuer, clientId: 'ams', domains: [domain.name], role: 'member', required: false },
      ...{ redirectUrl, logoutUrl: `${redirectUrl}/logout` },
    }
    expect(answer.body.settings.signIn).toEqual(shown)
    const everything = [
      (await owner.api('GET', '/workspace')).text,
      (await owner.api('GET', '/audit')).text,
      JSON.stringify((await service.db.pool.query('select * from company_sign_in')).rows),
      log.text(),
    ].join()
    expect(everything).toContain(company.issuer)
    expect(everything).not.toContain(company.clientSecret)
    const member = await join('someone@example.com')
    const { status, body } = await member.api('PATCH', '/workspace', { signIn: null })
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
  })

  test('are checked', async () => {
    for (const [more, message] of [
      [{ domains: ['elsewhere.example'] }, 'signIn.domains: elsewhere.example is not a verified domain'],
      [{ domains: [] }, 'signIn.domains: must name at least one domain'],
      [{ role: 'owner' }, 'signIn.role: must not be owner'],
      [{ issuer: 'http://10.0.0.1' }, 'signIn.issuer: must'],
      [{ issuer: 'https://localhost' }, 'signIn.issuer: must'],
      [{ issuer: 'ftp://idp.example' }, 'signIn.issuer: must be an https URL'],
      [{ issuer: 'https://idp.example/?a=b' }, 'signIn.issuer: must be an https URL'],
      [{ clientSecret: undefined }, 'signIn.clientSecret: is required'],
      [{ clientSecret: '' }, 'signIn.clientSecret: must'],
      [{ more: 1 }, 'signIn'],
    ] as const) {
      const { status, body } = await set(more)
      expect([status, body.error?.code], JSON.stringify(more)).toEqual([400, 'invalid_input'])
      expect(body.error.message).toContain(message)
    }
    expect((await owner.api('GET', '/workspace')).body.settings.signIn).toBeNull()
  })

  test('keep the secret for the same client, and never for another issuer', async () => {
    await set()
    expect((await set({ clientSecret: undefined, required: true })).status).toBe(200)
    expect((await set({ clientSecret: undefined, issuer: `${company.issuer}/other` })).status).toBe(400)
    expect((await set({ clientSecret: undefined, clientId: 'other' })).status).toBe(400)
    await expectMember({ email: at('ann'), sub: 'a' })
  })
})

const join = async (email: string) => {
  const { body } = await owner.api('POST', '/members/invitations', { email })
  const page = await cookieClient(service).submit(new URL(body.url).pathname, {})
  const token = /amt_\w+/.exec(page.text)![0]
  return { token, api: apiOf(service.http, token) }
}
const expectMember = async (claims: Record<string, unknown>) => {
  const { browser, page } = await signInAs(claims)
  expect(page.text).toContain('Continue')
  expect(await emailOf(browser)).toMatchObject({ email: String(claims.email).toLowerCase() })
  return browser
}

describe('a person', () => {
  test('becomes a member the first time, and comes back as the same one', async () => {
    await set()
    const browser = await expectMember({ email: at('Ann'), sub: 'a', name: 'Ann Arbor' })
    expect(await emailOf(browser)).toMatchObject({ role: 'member' })
    expect(await members()).toEqual([at('ann'), owner.email].sort())
    expect((await owner.api('GET', '/members')).body).toContainEqual(
      expect.objectContaining({ name: 'Ann Arbor' }),
    )
    // Their name and address at the company may change: their subject does not.
    const { browser: later } = await signInAs({ email: at('ann.zion'), sub: 'a' })
    expect(await emailOf(later)).toMatchObject({ email: at('ann') })
    expect(await members()).toHaveLength(2)
    const [entry] = (await owner.api('GET', '/audit?action=session.create')).body.items
    expect(entry).toMatchObject({ detail: { way: 'company' } })
  })

  test('who is a member already stays what they are, and an invitation is no longer needed', async () => {
    const boss = await service.workspace('Second', at('boss'))
    await join(at('bo'))
    await owner.api('POST', '/members/invitations', { email: at('cy'), role: 'owner' })
    await set()
    await expectMember({ email: at('bo'), sub: 'b' })
    const browser = await expectMember({ email: at('cy'), sub: 'c' })
    expect(await emailOf(browser)).toMatchObject({ role: 'member' })
    expect((await owner.api('GET', '/members/invitations')).body).toEqual([])
    expect(boss.id).not.toBe(owner.id)
  })

  test('returns to the page that they wanted to see', async () => {
    await set()
    const browser = cookieClient(service)
    company.claims = { email: at('ann'), email_verified: true }
    const back = company.approve(await begin(browser, at('ann'), '/app/inbox?a=b'))
    expect(nextOf(await browser.get(back, from()))).toBe('/app/inbox?a=b')
    const other = company.approve(await begin(browser, at('ann'), '//evil.example'))
    expect(nextOf(await browser.get(other, from()))).toBe('/app')
  })

  test('leaves an earlier session of the browser behind', async () => {
    await set()
    const browser = await expectMember({ email: at('ann'), sub: 'a' })
    const before = new Map(browser.cookies)
    company.claims = { email: at('ann'), email_verified: true, sub: 'a' }
    const back = company.approve(await begin(browser, at('ann')))
    const elsewhere = await browser.get(back, { ...from(), 'Sec-Fetch-Site': 'cross-site' })
    expect(nextOf(elsewhere)).toBe(back)
    await browser.get(back, { ...from(), 'Sec-Fetch-Site': 'same-origin' })
    const old = cookieClient(service)
    for (const [name, value] of before) old.cookies.set(name, value)
    expect([await isIn(browser), await isIn(old)]).toEqual([true, false])
  })

  test('does not get in beyond the plan', async () => {
    await set()
    const plan = { key: `small${count}`, members: 1 }
    await service.db.pool.query(
      `insert into plan select (json_populate_record(null::plan, (to_jsonb(p) || $1::jsonb)::json)).* from plan p where key = 'unlimited'`,
      [JSON.stringify(plan)],
    )
    await service.db.pool.query('update workspace set plan_key = $1 where id = $2', [plan.key, owner.id])
    const { page, browser } = await signInAs({ email: at('ann') })
    expect([page.status, await isIn(browser)]).toEqual([402, false])
    expect(await members()).toEqual([owner.email])
  })
})

describe('claims', () => {
  beforeEach(async () => {
    await set()
  })
  test.each([
    [{ email: 'ann@elsewhere.example' }, 'not at a domain'],
    [{ email: 'ann@sub.DOMAIN' }, 'not at a domain'],
    [{ email: '"ann@DOMAIN"@elsewhere.example' }, 'not'],
    [{ email: undefined }, 'did not tell your email address'],
    [{ email: ['ann@DOMAIN'] }, 'did not tell your email address'],
    [{ email: 'ann' }, 'not'],
    [{ email: 'ann@DOMAIN', email_verified: false }, 'has not verified'],
    [{ email: 'ann@DOMAIN', email_verified: undefined }, 'has not verified'],
    [{ email: 'ann@DOMAIN', email_verified: 'no' }, 'has not verified'],
    [{ email: undefined, preferred_username: 'ann@DOMAIN' }, 'did not tell your email address'],
    [{ email: 'ann@DOMAIN', sub: 'x'.repeat(300) }, 'characters that cannot be kept'],
    [{ email: 'ann@DOMAIN', sub: '' }, 'characters that cannot be kept'],
    [{ email: 'ann@DOMAIN', sub: 'a\u0000' }, 'characters that cannot be kept'],
  ])('%j are refused', async (claims, words) => {
    const here = (value: unknown): unknown =>
      typeof value === 'string'
        ? value.replace('DOMAIN', domain.name)
        : Array.isArray(value)
          ? value.map(here)
          : value
    await refused(
      Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, here(value)])),
      words,
    )
    expect(await members()).toEqual([owner.email])
  })

  test('of a domain that the workspace has lost are refused', async () => {
    withdraw(zone, domain, 'ownership')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    const page = await cookieClient(service).submit('/app/sign-in/company', { email: at('ann') }, from())
    expect(page.status).toBe(404)
  })

  test('of a domain whose mail goes elsewhere count: its ownership is proven', async () => {
    withdraw(zone, domain, 'mx')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    await expectMember({ email: at('ann') })
    expect((await set({ clientSecret: undefined })).status).toBe(200)
  })

  test('that only the userinfo endpoint tells count, of the same person', async () => {
    company.userinfo = { sub: 'u1', email: at('ann'), email_verified: true }
    const { page } = await signInAs({ email_verified: undefined })
    expect(page.text).toContain('Continue')
    company.userinfo = { sub: 'u2', email: at('bo'), email_verified: true }
    await refused({ email_verified: undefined }, 'did not confirm')
    company.userinfo = { sub: 'u1', email: at('ann'), email_verified: true }
    await expectMember({ email: at('ann'), email_verified: undefined })
    // What verifies one address does not count for another.
    company.userinfo = { sub: 'u3', email: 'eve@elsewhere.example', email_verified: true }
    await refused({ sub: 'u3', email: at('boss'), email_verified: undefined }, 'not at a domain')
    expect(await members()).toEqual([at('ann'), owner.email].sort())
  })

  test('of an address that has become another person’s open nothing', async () => {
    await expectMember({ email: at('ann'), sub: 'first' })
    await refused({ email: at('ann'), sub: 'second' }, 'was another person’s')
    // Another client may be told other subjects: the same persons are bound anew, and told so.
    await owner.api('PATCH', '/workspace', { signIn: settings({ clientId: 'other' }) })
    company.claims = { aud: 'other', email: at('ann'), email_verified: true, sub: 'pairwise' }
    const browser = cookieClient(service)
    expect((await browser.get(company.approve(await begin(browser, at('ann'))), from())).status).toBe(200)
    const [entry] = (await owner.api('GET', '/audit?action=member.update')).body.items
    expect(entry).toMatchObject({ detail: { way: 'company', issuer: company.issuer } })
  })
})

describe('a tenant of Entra ID', () => {
  beforeEach(async () => {
    company = await openCompany(TENANT)
    await set()
  })
  const entra = (claims: object) => ({ email_verified: undefined, tid: TENANT.split('/')[1], ...claims })

  test('verifies no addresses, and has all of its users’', async () => {
    await expectMember(entra({ email: at('ann'), sub: 'a' }))
    const { browser } = await signInAs(entra({ preferred_username: at('bo'), sub: 'b' }))
    expect(await emailOf(browser)).toMatchObject({ email: at('bo') })
  })

  test.each([
    { tid: '11111111-2222-4333-8444-555555555555' },
    { idp: 'https://sts.windows.net/other/' },
    { acct: 1 },
    { xms_edov: false },
    { xms_edov: '0' },
    { email_verified: false },
  ])('has guests, %j, whose addresses it does not vouch for', async (more) => {
    await refused(entra({ email: at('ann'), ...more }), 'has not verified')
  })

  test('is not the issuer of all tenants', async () => {
    company.metadata = { issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' }
    const page = await cookieClient(service).submit('/app/sign-in/company', { email: at('ann') }, from())
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('cannot be reached')])
  })
})

describe('what a provider, or whoever stands between, sends', () => {
  const now = () => Math.floor(Date.now() / 1000)
  beforeEach(async () => {
    await set()
  })
  test.each<[string, () => void]>([
    ['no signature', () => (company.sign = unsigned)],
    ['a signature with the secret', () => (company.sign = signedWithSecret(company.clientSecret))],
    ['the signature of somebody', () => (company.sign = signedBySomebody)],
    ['another nonce', () => (company.claims.nonce = 'other')],
    ['no nonce', () => (company.claims.nonce = undefined)],
    ['another issuer', () => (company.claims.iss = 'https://evil.example')],
    ['another audience', () => (company.claims.aud = 'other')],
    [
      'several audiences and another party',
      () => Object.assign(company.claims, { aud: [company.clientId, 'other'], azp: 'other' }),
    ],
    ['an expired token', () => Object.assign(company.claims, { iat: now() - 900, exp: now() - 120 })],
    ['a token of the future', () => (company.claims.nbf = now() + 900)],
    ['no subject', () => (company.claims.sub = undefined)],
    ['a page', () => company.answers.set('/token', (response) => response.end('<html>'))],
    [
      'a redirect',
      () =>
        company.answers.set('/token', (response) =>
          response.writeHead(307, { Location: `${company.origin}/elsewhere` }).end(),
        ),
    ],
    [
      'an error',
      () =>
        company.answers.set('/token', (response) =>
          response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}'),
        ),
    ],
    [
      'no ID token',
      () =>
        company.answers.set('/token', (response) =>
          response
            .writeHead(200, { 'Content-Type': 'application/json' })
            .end('{"access_token":"a","token_type":"Bearer"}'),
        ),
    ],
    ['a megabyte', () => company.answers.set('/token', (response) => response.end('x'.repeat(1_000_000)))],
    ['a broken document', () => company.answers.set('/jwks', (response) => response.end('{'))],
  ])('%s signs nobody in', async (_what, change) => {
    const browser = cookieClient(service)
    company.claims = { email: at('ann'), email_verified: true }
    const back = company.approve(await begin(browser, at('ann')))
    change()
    const page = await browser.get(back, from())
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('did not confirm who you are')])
    expect([await isIn(browser), await members()]).toEqual([false, [owner.email]])
  })

  test('a clock that is a minute off, and new keys, are borne with', async () => {
    company.claims = { iat: now() + 40, nbf: now() + 40 }
    await expectMember({ ...company.claims, email: at('ann'), sub: 'a' })
    await company.rotate()
    await expectMember({ email: at('ann'), sub: 'a' })
  })

  test('another browser, another state, another issuer and a second use are refused', async () => {
    company.claims = { email: at('ann'), email_verified: true }
    const browser = cookieClient(service)
    const back = company.approve(await begin(browser, at('ann')))
    const stale = async (who: CookieClient, path: string) => {
      const page = await who.get(path, from())
      expect([page.status, await isIn(who)], path).toEqual([403, false])
    }
    await stale(cookieClient(service), back)
    await stale(browser, back.replace(/state=[^&]+/, 'state=other'))
    await stale(browser, back.replace(/&state=[^&]+/, ''))
    await stale(browser, `${back}&iss=${encodeURIComponent('https://evil.example')}`)
    await stale(browser, back.replace(owner.id, randomUUID()))
    const again = company.approve(await begin(browser, at('ann')))
    const cookies = new Map(browser.cookies)
    expect((await browser.get(again, from())).status).toBe(200)
    const copy = cookieClient(service)
    for (const [name, value] of cookies) copy.cookies.set(name, value)
    await stale(copy, again)
  })

  test('whoever sets another provider meanwhile is not told the code', async () => {
    const browser = cookieClient(service)
    const back = company.approve(await begin(browser, at('ann')))
    const evil = await openCompany()
    company.seen.length = 0
    await owner.api('PATCH', '/workspace', { signIn: { ...settings(), issuer: evil.issuer } })
    expect((await browser.get(back, from())).status).toBe(403)
    expect([...evil.seen, ...company.seen]).toEqual([])
  })

  test('settings that change while the provider answers do not let anybody in', async () => {
    const browser = cookieClient(service)
    company.claims = { email: at('ann'), email_verified: true }
    const back = company.approve(await begin(browser, at('ann')))
    company.answers.set('/jwks', (response) => {
      company.answers.delete('/jwks')
      void owner.api('PATCH', '/workspace', { signIn: null }).then(async () => {
        response.writeHead(200, { 'Content-Type': 'application/json' })
        response.end(await (await fetch(`${company.origin}/jwks`)).text())
      })
    })
    const page = await browser.get(back, from())
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('was changed meanwhile')])
    expect(await members()).toEqual([owner.email])
  })

  test('an attempt ends after ten minutes, and an error is told in the provider’s word alone', async () => {
    const browser = cookieClient(service)
    const late = company.approve(await begin(browser, at('ann')))
    clock.advance(11 * 60_000)
    expect((await browser.get(late, from())).text).toContain('Start again')
    const url = new URL(await begin(browser, at('ann')))
    const path = (error: string) =>
      `/app/sign-in/company/${owner.id}?error=${encodeURIComponent(error)}&error_description=Call%20555&state=${url.searchParams.get('state')}`
    const page = await browser.get(path('access_denied'), from())
    expect(page.text).toContain('answered access_denied')
    expect(page.text).not.toContain('555')
    expect((await browser.get(path('<b>x'), from())).text).toContain('answered with an error')
  })

  test('a provider that is down, or not one, is said to be', async () => {
    const page = async () =>
      (await cookieClient(service).submit('/app/sign-in/company', { email: at('ann') }, from())).text
    const without = (more: object) => JSON.stringify({ issuer: company.issuer, ...more })
    for (const answer of [
      '<html>',
      '{}',
      `{"issuer":"https://evil.example"}`,
      without({}),
      without({ authorization_endpoint: 'javascript:alert(1)' }),
    ]) {
      company.answers.set('/.well-known/openid-configuration', (response) =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer),
      )
      expect(await page()).toContain('cannot be reached')
    }
    expect(log.text()).toContain('a sign-in with a company’s account failed')
  })

  test('it is asked with PKCE, state and nonce, and the secret goes to nobody but its token endpoint', async () => {
    const browser = cookieClient(service)
    const url = new URL(await begin(browser, at('ann')))
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: 'ams', code_challenge_method: 'S256', login_hint: at('ann') },
      ...{ scope: 'openid email profile', state: expect.any(String), nonce: expect.any(String) },
    })
    company.claims = { email: at('ann'), email_verified: true }
    await browser.get(company.approve(url.href), from())
    const [token, ...others] = company.seen.filter(({ authorization }) => authorization !== undefined)
    expect([token!.path, others]).toEqual(['/token', []])
    expect(JSON.stringify(company.seen)).not.toContain(company.clientSecret)
    company.metadata = {
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    }
    company.seen.length = 0
    await expectMember({ email: at('ann') })
    const { body, authorization } = company.seen.find(({ path }) => path === '/token')!
    expect([new URLSearchParams(body).get('client_secret'), authorization]).toEqual([
      company.clientSecret,
      undefined,
    ])
  })
})

describe('when it is required', () => {
  const linkFor = async (email: string) =>
    (
      await createOperatorLink(
        { ...service.db, clock, publicUrl: () => service.http },
        { email, workspaceId: owner.id },
      )
    ).url
  const use = async (link: string) => {
    const browser = cookieClient(service)
    const page = await browser.submit('/app/sign-in/link', { link })
    return { isIn: await isIn(browser), text: page.text }
  }

  test('members of its domains have no other way in, and what they have open ends', async () => {
    const { token, api: ann } = await join(at('ann'))
    const opened = await signedIn(service, token)
    const stranger = await join('guest@example.org')
    const other = await signedIn(service, stranger.token)
    const invited = (await owner.api('POST', '/members/invitations', { email: at('new') })).body.url
    const mailed = cookieClient(service)
    expect(await isIn(opened)).toBe(true)
    expect((await set({ required: true })).status).toBe(200)
    expect([await isIn(opened), await isIn(other)]).toEqual([false, true])
    expect(await isIn(await signedIn(service, token))).toBe(false)
    expect(await use(await linkFor(at('ann')))).toMatchObject({
      isIn: false,
      text: expect.stringContaining('requires your company’s account'),
    })
    for (const page of [
      await cookieClient(service).get(new URL(invited).pathname),
      await cookieClient(service).submit(new URL(invited).pathname, {}),
    ])
      expect([page.status, page.text]).toEqual([403, expect.stringContaining('account of their company')])
    const page = await mailed.submit('/app/sign-in/email', { email: at('ann') }, from())
    expect(page.text).toContain('Use my company’s account')
    // Programs keep their tokens.
    expect((await ann('GET', '/workspace')).status).toBe(200)
    await expectMember({ email: at('ann'), sub: 'a' })
    await expectMember({ email: at('new'), sub: 'n' })
  })

  test('owners keep the operator’s link, and do not lock themselves out', async () => {
    const { token } = await join(at('boss'))
    const boss = (await owner.api('GET', '/members')).body.find(
      ({ email }: { email: string }) => email === at('boss'),
    )
    await owner.api('PATCH', `/members/${boss.id}`, { role: 'owner' })
    const browser = await signedIn(service, token)
    const update = `mutation ($input: UpdateWorkspaceInput!) { updateWorkspace(input: $input) { workspace { settings { signIn { required } } } } }`
    const require = async (who: CookieClient) =>
      (await who.ask(update, { input: { signIn: settings({ required: true }) } })).json()
    expect(await require(browser)).toMatchObject({ errors: [{ extensions: { code: 'conflict' } }] })
    await set()
    const proven = await expectMember({ email: at('boss'), sub: 'b' })
    expect(await require(proven)).toMatchObject({
      data: { updateWorkspace: { workspace: { settings: { signIn: { required: true } } } } },
    })
    expect([await isIn(browser), await isIn(proven)]).toEqual([false, true])
    expect((await use(await linkFor(at('boss')))).isIn).toBe(true)
    // Also where passkeys are required: with one of them alone, nobody would come back.
    await owner.api('PATCH', '/workspace', { requirePasskeys: true })
    expect((await use(await linkFor(at('boss')))).isIn).toBe(true)
    expect((await owner.api('DELETE', `/domains/${domain.id}`)).body.error.message).toContain(
      'must sign in with their company',
    )
    // What is left out stays.
    const { clientSecret: _, ...same } = settings()
    await owner.api('PATCH', '/workspace', { signIn: same })
    expect((await owner.api('GET', '/workspace')).body.settings.signIn.required).toBe(true)
  })
})

describe('a session', () => {
  beforeEach(async () => {
    await set()
  })

  test('ends after twelve hours, used or not', async () => {
    const browser = await expectMember({ email: at('ann'), sub: 'a' })
    clock.advance(11 * HOUR_MS)
    expect(await isIn(browser)).toBe(true)
    clock.advance(1.1 * HOUR_MS)
    expect(await isIn(browser)).toBe(false)
  })

  test('counts as one with a passkey where those are required', async () => {
    await owner.api('PATCH', '/workspace', { requirePasskeys: true })
    const browser = await expectMember({ email: at('ann'), sub: 'a' })
    expect((await browser.get('/app')).status).toBe(200)
  })

  const logOut = (token: string, id = owner.id) =>
    fetch(`${service.http}/app/sign-in/company/${id}/logout`, {
      method: 'POST',
      headers: from(),
      body: new URLSearchParams({ logout_token: token }),
    })

  test('ends at once when the person signs out at the company', async () => {
    const one = await expectMember({ email: at('ann'), sub: 'a', sid: 's1' })
    const two = await expectMember({ email: at('ann'), sub: 'a', sid: 's2' })
    const other = await expectMember({ email: at('bo'), sub: 'b', sid: 's3' })
    const states = () => Promise.all([one, two, other].map(isIn))
    expect((await logOut(await company.logoutToken({ sub: 'a', sid: 's1' }))).status).toBe(200)
    expect(await states()).toEqual([false, true, true])
    const all = await company.logoutToken({ sub: 'a' })
    expect((await logOut(all)).status).toBe(200)
    expect(await states()).toEqual([false, false, true])
    const again = await expectMember({ email: at('ann'), sub: 'a', sid: 's4' })
    expect((await logOut(all)).status).toBe(200)
    expect(await isIn(again)).toBe(true)
  })

  test.each<[string, () => Promise<string>]>([
    ['no token', async () => ''],
    ['a word', async () => 'x.y.z'],
    ['no signature', async () => unsigned({ iss: company.issuer, aud: 'ams', sub: 'a' })],
    ['another audience', () => company.logoutToken({ sub: 'a', aud: 'other' })],
    ['another issuer', () => company.logoutToken({ sub: 'a', iss: 'https://evil.example' })],
    ['a nonce, as ID tokens have', () => company.logoutToken({ sub: 'a', nonce: 'n' })],
    ['no event', () => company.logoutToken({ sub: 'a', events: {} })],
    ['nobody', () => company.logoutToken({})],
    ['an hour ago', () => company.logoutToken({ sub: 'a', iat: Math.floor(Date.now() / 1000) - 3_600 })],
  ])('does not end with %s', async (_what, make) => {
    const browser = await expectMember({ email: at('ann'), sub: 'a', sid: 's1' })
    const answer = await logOut(await make())
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.any(String) },
    ])
    expect((await logOut(await make(), randomUUID())).status).toBe(400)
    expect(await isIn(browser)).toBe(true)
  })
})

test('an address of no company is told so, and a place has a limit', async () => {
  const place = { 'X-Forwarded-For': '203.0.113.250' }
  const ask = () => cookieClient(service).submit('/app/sign-in/company', { email: 'ann@example.org' }, place)
  const first = await ask()
  expect([first.status, first.text]).toEqual([404, expect.stringContaining('No workspace signs in')])
  const statuses = new Set<number>()
  for (let index = 0; index < 130; index++) statuses.add((await ask()).status)
  expect([...statuses]).toEqual([404, 429])
})
