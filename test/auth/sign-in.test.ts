import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { type CookieClient, cookieClient, formTokenIn, signedIn } from '../support/cookie-client.ts'
import { expectPage } from '../support/page.ts'
import { apiOf, startService, type Tenant, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Links to sign in, printed and by email, and the last page of an invitation. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let clock: FakeClock
let service: TestService
let owner: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  owner = await service.workspace('Acme')
})

const origin = () => service.http.replace('127.0.0.1', 'localhost')
const printed = async (email = owner.email) => {
  const deps = { ...service.db, clock, publicUrl: origin }
  return (await createOperatorLink(deps, { email })).url
}
const isSignedIn = async (browser: CookieClient) => (await browser.ask('{ viewer { id } }')).status === 200
const use = (browser: CookieClient, link: string, more: Record<string, string> = {}) =>
  browser.submit('/app/sign-in/link', { link, ...more })
/** The newest audit entries of an action. */
const audited = async (action: string, count = 1) =>
  (await owner.api('GET', `/audit?action=${action}&limit=${count}`)).body.items as {
    actor: object
    detail: object
  }[]

/** The links in mails to this address, oldest first. Other mail is sent in order, so that absences show. */
const linksTo = (address: string): string[] => {
  const outbox = join(service.dataDir, 'outbox')
  const mails = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'))
  return mails
    .filter((mail) => mail.includes(`To: ${address}`))
    .flatMap(
      (mail) =>
        mail
          .replace(/=\r\n/g, '')
          .replaceAll('=3D', '=')
          .match(/http\S+#asl_\w{43}/g) ?? [],
    )
}
/** Requests a link by email as another client each time: an address may request three an hour. */
let clients = 0
const requestLink = async (browser: CookieClient, email: string, to = '') => {
  const page = await browser.submit(
    '/app/sign-in/email',
    { email, to },
    { 'X-Forwarded-For': `192.0.2.${++clients}` },
  )
  expectPage(page, 200, /If <strong>/)
  return page
}

describe('the link that the operator prints', () => {
  test('signs in once, with its token in the fragment only', async () => {
    const url = await printed()
    expect(url).toMatch(/^http:\/\/localhost:\d+\/app\/sign-in#asl_[0-9A-Za-z]{43}$/)
    expect((await audited('session.link'))[0]).toMatchObject({
      actor: { kind: 'operator', id: null },
      detail: { member: owner.member },
    })
    const browser = cookieClient(service)
    const answer = await use(browser, url, { to: '/app?x=1' })
    expect([answer.status, answer.location]).toEqual([303, '/app?x=1'])
    expect(await isSignedIn(browser)).toBe(true)
    expect((await audited('session.create'))[0]).toMatchObject({ detail: { way: 'link' } })
    const again = cookieClient(service)
    expectPage(await use(again, url), 403, /has been used/)
    expect(await isSignedIn(again)).toBe(false)
    expect((await audited('session.refuse'))[0]).toMatchObject({
      actor: { kind: 'member', id: owner.member },
      detail: { way: 'link', reason: 'used', browser: 'Firefox on Linux' },
    })
  })

  test('is not used up by requests that scanners of mail make', async () => {
    const url = await printed()
    const { pathname, hash } = new URL(url)
    const scanner = cookieClient(service)
    for (const path of [pathname, `${pathname}?link=${hash.slice(1)}`, '/app/sign-in/link'])
      for (let turn = 0; turn < 3; turn++) await scanner.get(path)
    expect(scanner.cookies.size).toBe(0)
    expect((await use(cookieClient(service), url)).status).toBe(303)
  })

  test('has expired after 10 minutes', async () => {
    const [one, other] = [await printed(), await printed()]
    clock.advance(10 * MINUTE_MS - 1)
    expect((await use(cookieClient(service), one)).status).toBe(303)
    clock.advance(1)
    expectPage(await use(cookieClient(service), other), 403, /has expired/)
    expect((await audited('session.refuse'))[0]).toMatchObject({ detail: { reason: 'expired' } })
  })

  test('signs in one of 20 browsers that use it at the same moment', async () => {
    const url = await printed()
    const browsers = Array.from({ length: 20 }, () => cookieClient(service))
    const answers = await Promise.all(browsers.map((browser) => use(browser, url)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(19).fill(403)])
  })

  test('does not work when it is unknown, and its member’s removal ends it', async () => {
    expectPage(await use(cookieClient(service), `asl_${'x'.repeat(43)}`), 401, /This link is not valid/)
    expectPage(await use(cookieClient(service), 'https://example.com/'), 400, /not a link to sign in/)
    const email = 'leaving@example.com'
    const { body } = await owner.api('POST', '/members/invitations', { email })
    await cookieClient(service).submit(new URL(body.url).pathname, {})
    const url = await printed(email)
    const { id } = (await owner.api('GET', '/members')).body.find(
      (one: { email: string }) => one.email === email,
    )
    await owner.api('DELETE', `/members/${id}`)
    expectPage(await use(cookieClient(service), url), 401, /This link is not valid/)
  })

  test('is for the first owner by default', async () => {
    const deps = { ...service.db, clock, publicUrl: origin }
    const link = await createOperatorLink(deps, { workspaceId: owner.id })
    expect(link).toMatchObject({ workspace: owner.id, member: owner.member })
    await expect(createOperatorLink(deps, { email: 'nobody@example.com' })).rejects.toThrow(
      'There is no member',
    )
  })

  test('replaces the session that the browser had', async () => {
    const browser = await signedIn(service, owner.token)
    const [earlier] = browser.cookies.values()
    await use(browser, await printed())
    expect([...browser.cookies.values()][0]).not.toBe(earlier)
    const copy = cookieClient(service)
    copy.cookies.set([...browser.cookies.keys()][0]!, earlier!)
    expect(await isSignedIn(copy)).toBe(false)
  })
})

describe('a link by email', () => {
  test('signs in in the browser that requested it, and leads where it wanted to go', async () => {
    const browser = cookieClient(service)
    const page = await requestLink(browser, ` ${owner.email} `, '/app?x=1')
    expect(page.text).toContain(join(service.dataDir, 'outbox'))
    expect([...browser.cookies.keys()]).toEqual([`__Host-ams-browser-${new URL(service.http).port}`])
    const [link] = await until(() => {
      const links = linksTo(owner.email)
      return links.length > 0 && links
    })
    expect(link).toContain('/app/sign-in?to=%2Fapp%3Fx%3D1#asl_')
    const other = cookieClient(service)
    other.cookies.set([...browser.cookies.keys()][0]!, 'another browser')
    const ofAnother = cookieClient(service)
    await requestLink(ofAnother, 'another@example.com')
    for (const stranger of [other, ofAnother, cookieClient(service)]) {
      expectPage(await use(stranger, link!), 403, /only in the browser in which you asked for it/)
      expect(await isSignedIn(stranger)).toBe(false)
    }
    expect((await audited('session.refuse'))[0]).toMatchObject({
      detail: { way: 'email', reason: 'browser' },
    })
    expect((await use(browser, link!)).status).toBe(303)
    expect(await isSignedIn(browser)).toBe(true)
    expect((await audited('session.create'))[0]).toMatchObject({ detail: { way: 'email' } })
    expectPage(await use(browser, link!), 403, /has been used/)
  })

  test('works beside others that were requested in the browser, to this address and to another one', async () => {
    clock.advance(HOUR_MS)
    const [email, other] = ['one-of-two@example.com', 'two-of-two@example.com']
    await service.workspace('One of two', email)
    await service.workspace('Two of two', other)
    const browser = cookieClient(service)
    const requested: string[] = []
    for (const address of [email, other, email]) {
      await requestLink(browser, address)
      requested.push(await until(() => linksTo(address).find((link) => !requested.includes(link))))
    }
    const [first, ofOther, second] = requested as [string, string, string]
    for (const link of [first, ofOther, second]) {
      expect((await use(browser, link)).status).toBe(303)
      expectPage(await use(browser, link), 403, /has been used/)
    }
  })

  test('that a stranger requests does not work in a browser whose own request is ten minutes old', async () => {
    clock.advance(HOUR_MS)
    const email = 'late@example.com'
    await service.workspace('Late', email)
    const browser = cookieClient(service)
    await requestLink(browser, email)
    await until(() => linksTo(email).length === 1)
    clock.advance(10 * MINUTE_MS)
    await requestLink(cookieClient(service), email)
    const early = await until(() => linksTo(email)[1])
    clock.advance(1)
    expectPage(await use(browser, early), 403, /only in the browser in which you asked for it/)
    await requestLink(browser, email)
    expect((await use(browser, await until(() => linksTo(email)[2]))).status).toBe(303)
  })

  test('is answered the same for unknown addresses, before anything is looked up', async () => {
    const member = await service.workspace('Other', 'known@example.com')
    const { pool } = service.db
    const client = await pool.connect()
    // While the tables are locked, nobody can look up whether there is such a member.
    await client.query('begin')
    await client.query('lock table member, sign_in_link in access exclusive mode')
    const pages = []
    for (const email of ['unknown@example.com', 'known@example.com'])
      pages.push((await requestLink(cookieClient(service), email)).text.replaceAll(email, 'ADDRESS'))
    await client.query('commit')
    client.release()
    expect(pages[0]).toBe(pages[1])
    await until(() => linksTo('known@example.com').length > 0)
    expect(linksTo('unknown@example.com')).toEqual([])
    expect(member.id).toBeTruthy()
  })

  test('goes to the addresses of one person in all workspaces, in one mail', async () => {
    const email = 'both@example.com'
    await service.workspace('First', email)
    await service.workspace('Second', email)
    const browser = cookieClient(service)
    await requestLink(browser, email)
    const links = await until(() => {
      const found = linksTo(email)
      return found.length === 2 && found
    })
    for (const link of links) expect((await use(browser, link)).status).toBe(303)
  })

  test.each([
    '',
    'no address',
    'a@b@c',
    `${'x'.repeat(320)}@example.com`,
    'a@example.com\r\nBcc: b@example.com',
  ])('is not sent to %j', async (email) => {
    expectPage(await cookieClient(service).submit('/app/sign-in/email', { email }), 400, /role="alert"/)
  })

  test('comes to the member while others ask for links to the address all day, whose mails are bounded', async () => {
    clock.advance(HOUR_MS)
    const email = 'wanted@example.com'
    const tenant = await service.workspace('Wanted', email)
    const known = cookieClient(service)
    /** Whether one of the last links that were mailed signs in in this browser, once they have arrived. */
    const signsIn = (browser: CookieClient) =>
      until(async () => {
        for (const link of linksTo(email).slice(-4))
          if ((await use(browser, link)).status === 303) return true
        return false
      })
    await requestLink(known, email)
    await signsIn(known)
    for (let turn = 0; turn < 24; turn++) {
      for (let strangers = 0; strangers < 5; strangers++) await requestLink(cookieClient(service), email)
      clock.advance(5 * MINUTE_MS)
    }
    // Two hours, which touch three, and 24 times five minutes; the known browser gets mails of its own.
    await requestLink(known, email)
    await signsIn(known)
    expect(linksTo(email).length).toBeLessThanOrEqual(3 * 3 + 24 + 2)

    // In a browser that nobody knows, the link that strangers have just caused counts.
    for (let strangers = 0; strangers < 20; strangers++) await requestLink(cookieClient(service), email)
    const fresh = cookieClient(service)
    expect((await requestLink(fresh, email)).text).toContain('A link that you got in the last five minutes')
    expectPage(await use(cookieClient(service), linksTo(email).at(-1)!), 403, /only in the browser/)
    await signsIn(fresh)
    expect(tenant.id).toBeTruthy()
  })

  test('signs nobody in to whose browser another port has given a cookie', async () => {
    clock.advance(HOUR_MS)
    const email = 'planter@example.com'
    await service.workspace('Planter', email)
    const attacker = cookieClient(service)
    await requestLink(attacker, email)
    const link = await until(() => linksTo(email).at(-1))
    const victim = cookieClient(service)
    for (const [name, value] of attacker.cookies) victim.cookies.set(name.replace('__Host-', ''), value)
    expectPage(await use(victim, link), 403, /only in the browser in which you asked for it/)
    expect((await use(attacker, link)).status).toBe(303)
  })

  test('is requested in a known browser 3 times an hour, however many others ask from its place', async () => {
    clock.advance(HOUR_MS)
    const email = 'shared@example.com'
    await service.workspace('Shared', email)
    const known = cookieClient(service)
    await requestLink(known, email)
    await use(known, await until(() => linksTo(email).at(-1)))
    const ask = (browser: CookieClient) => browser.submit('/app/sign-in/email', { email })
    for (let turn = 0; turn < 3; turn++) expectPage(await ask(cookieClient(service)), 200, /If <strong>/)
    expectPage(await ask(cookieClient(service)), 429, /At most 3 links an hour/)
    for (let turn = 0; turn < 3; turn++) expectPage(await ask(known), 200, /If <strong>/)
    expectPage(await ask(known), 429, /At most 3 links an hour/)
  })

  test('is requested at most 3 times an hour from one place', async () => {
    clock.advance(HOUR_MS)
    const request = (number: number) =>
      cookieClient(service).submit('/app/sign-in/email', { email: `person${number}@example.com` })
    for (let turn = 0; turn < 3; turn++) expectPage(await request(turn), 200, /If <strong>/)
    expectPage(await request(3), 429, /At most 3 links an hour/)
    expect(apiOf(service.http, owner.token)).toBeTruthy()
  })
})

describe('the last page of an invitation', () => {
  const invite = async () => {
    const email = `guest${++clients}@example.com`
    const { body } = await owner.api('POST', '/members/invitations', { email })
    return { email, path: new URL(body.url).pathname }
  }

  test('signs the new member in', async () => {
    const { path } = await invite()
    const browser = cookieClient(service)
    expectPage(await browser.submit(path, { name: 'Ann' }), 200, /signed in in this browser/)
    expect(await isSignedIn(browser)).toBe(true)
    expect(await (await browser.ask('{ viewer { name } }')).json()).toEqual({
      data: { viewer: { name: 'Ann' } },
    })
    expect((await audited('session.create'))[0]).toMatchObject({ detail: { way: 'invitation' } })
  })

  test('signs nobody in when another site submits it', async () => {
    const { path } = await invite()
    const browser = cookieClient(service)
    expectPage(await browser.submit(path, {}, { Origin: 'https://evil.example' }), 200, /Welcome/)
    expect(browser.cookies.size).toBe(0)
  })
})

describe('a workspace that requires passkeys', () => {
  test('lets members without one only register one', async () => {
    const strict = await service.workspace('Strict')
    await strict.api('PATCH', '/workspace', { requirePasskeys: true })
    const browser = await signedIn(service, strict.token)
    expect((await browser.ask('{ viewer { id } }')).status).toBe(403)
    const home = await browser.get('/app')
    expect([home.status, home.location]).toEqual([303, '/app/passkeys?to=%2Fapp'])
    const page = await browser.get('/app/passkeys')
    expectPage(page, 200, /This workspace requires a passkey/)
    const form = formTokenIn(page)
    expect((await browser.submit('/app/export', { form })).location).toBe('/app/passkeys')
    for (const answer of ['', '{}', '[]', 'null', '{"id":"x"}', `{"id":"${'x'.repeat(10_000)}"}`])
      expectPage(await browser.submit('/app/passkeys', { form, answer, name: 'x' }), 400, /role="alert"/)
    expect((await browser.submit('/app/sign-out', { form })).location).toBe('/app/sign-in')
  })

  test('is set by owners only', async () => {
    const { body } = await owner.api('POST', '/members/invitations', { email: 'plain@example.com' })
    const joined = await cookieClient(service).submit(new URL(body.url).pathname, {})
    const api = apiOf(service.http, /<code>(amt_\w+)<\/code>/.exec(joined.text)![1]!)
    expect((await api('PATCH', '/workspace', { requirePasskeys: true })).status).toBe(403)
    expect((await api('PATCH', '/workspace', { name: 'Acme' })).body.settings.requirePasskeys).toBe(false)
  })

  test.each([
    '',
    '{}',
    'null',
    '{"id":"AAAA"}',
    '{"id":"AAAA","rawId":"AAAA","response":{},"type":"public-key"}',
  ])('refuses %j as the answer of a passkey', async (answer) => {
    const browser = cookieClient(service)
    const page = await browser.submit('/app/sign-in/passkey', { answer })
    expect([400, 401]).toContain(page.status)
    expect(page.text).toContain('role="alert"')
    expect(browser.cookies.size).toBe(0)
  })
})

test('every way of signing in is on the page, which runs only its own scripts', async () => {
  const page = await cookieClient(service).get('/app/sign-in')
  expectPage(page, 200, /Email me a link/)
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  for (const [, path] of page.text.matchAll(/<script src="([^"]+)"/g)) {
    const script = await cookieClient(service).get(path!)
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ])
  }
  expect((await cookieClient(service).get('/app/scripts/../app.ts')).location).toMatch(/^\/app\/sign-in/)
})

test('browsers get an icon for pages that name none', async () => {
  const icon = await cookieClient(service).get('/favicon.ico')
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(icon.text).toContain('<svg')
  expect(icon.headers.get('cache-control')).toBe('public, max-age=86400')
})

test('owners list and end the sessions of others over GraphQL, members their own', async () => {
  const { body } = await owner.api('POST', '/members/invitations', { email: 'bob@example.com' })
  const bob = cookieClient(service)
  await bob.submit(new URL(body.url).pathname, {})
  const boss = await signedIn(service, owner.token)
  const read = async (browser: CookieClient, query: string, variables = {}) =>
    (await (await browser.ask(query, variables)).json()) as {
      // biome-ignore lint/suspicious/noExplicitAny: the schema defines the shape of the answers
      data: any
      errors?: { extensions: { code: string } }[]
    }
  const own = await read(
    bob,
    '{ viewer { id sessions { id browser current createdAt lastUsedAt expiresAt } } }',
  )
  const { id, sessions } = own.data.viewer
  expect(sessions).toMatchObject([{ browser: 'Firefox on Linux', current: true }])
  const [ended, stranger] = [
    await signedIn(service, owner.token),
    await signedIn(service, (await service.workspace('Elsewhere')).token),
  ]
  const idOf = async (browser: CookieClient): Promise<string> =>
    (await read(browser, '{ viewer { tokenId } }')).data.viewer.tokenId
  const [endedId, strangerId] = [await idOf(ended), await idOf(stranger)]
  await service.db.prisma.token.update({ where: { id: endedId }, data: { expiresAt: clock.now() } })
  const all = await read(boss, '{ sessions { id memberId current } }')
  const listed = all.data.sessions.map(({ id }: { id: string }) => id)
  for (const each of [endedId, strangerId]) expect(listed).not.toContain(each)
  expect(all.data.sessions).toContainEqual({ id: sessions[0].id, memberId: id, current: false })
  expect(all.data.sessions.filter(({ current }: { current: boolean }) => current)).toHaveLength(1)
  expect((await read(bob, '{ sessions { id } }')).errors?.[0]?.extensions.code).toBe('forbidden')
  const end = 'mutation ($id: UUID!) { revokeSession(input: { sessionId: $id }) { sessionId } }'
  for (const [browser, other] of [
    [bob, await idOf(boss)],
    [boss, strangerId],
  ] as const)
    expect((await read(browser, end, { id: other })).errors?.[0]?.extensions.code).toBe('not_found')
  expect((await read(boss, end, { id: sessions[0].id })).data.revokeSession).toEqual({
    sessionId: sessions[0].id,
  })
  expect(await isSignedIn(bob)).toBe(false)
  const everyone = await read(boss, 'mutation { revokeSessions(input: { everyone: true }) { count } }')
  expect(everyone.data.revokeSessions.count).toBeGreaterThan(0)
  expect([await isSignedIn(boss), await isSignedIn(stranger)]).toEqual([false, true])
})

test('a session can use an Idempotency-Key, create tokens and sign out', async () => {
  const browser = await signedIn(service, owner.token)
  const create = 'mutation { createOwnToken(input: { name: "laptop" }) { token } }'
  const key = { 'Idempotency-Key': 'once' }
  const [one, two] = [await browser.ask(create, {}, key), await browser.ask(create, {}, key)]
  expect(await one.text()).toBe(await two.text())
  const form = formTokenIn(await browser.get('/app/passkeys'))
  expect((await browser.submit('/app/sign-out', { form })).location).toBe('/app/sign-in')
  expect(await isSignedIn(browser)).toBe(false)
})
