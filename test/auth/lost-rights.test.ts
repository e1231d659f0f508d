import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { createSession } from '../../src/auth/session.ts'
import { createSignInLink } from '../../src/auth/sign-in-link.ts'
import { createFakeClock } from '../support/clock.ts'
import { type CookieClient, cookieClient, formTokenIn, signedIn } from '../support/cookie-client.ts'
import { expectFailure } from '../support/failure.ts'
import { expectPage } from '../support/page.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  type Api,
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const clock = createFakeClock()

let relay: Relay
let service: TestService
let second: App
let owner: Tenant
beforeAll(async () => {
  relay = await startRelay()
  service = await startService({
    world: { clock },
    environment: { SMTP_RELAY_URL: relay.url, RATE_LIMIT: '100000' },
  })
  second = await service.again({ PUBLIC_URL: service.http.replace('127.0.0.1', 'localhost') })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  owner = await service.workspace()
})

interface Person {
  id: string
  email: string
  token: string
  api: Api
}

const address = () => `${Math.random().toString(36).slice(2)}@example.com`
const invite = async (api: Api, role: string): Promise<{ email: string; path: string }> => {
  const email = address()
  const { status, body } = await api('POST', '/members/invitations', { email, role })
  expect({ status, body }).toMatchObject({ status: 201 })
  return { email, path: new URL(body.url).pathname }
}
const joinAt = async (path: string): Promise<Person> => {
  const page = await cookieClient(service).submit(path, {})
  const token = /<code>(amt_\w+)<\/code>/.exec(page.text)![1]!
  const api = apiOf(service.http, token)
  return { ...(await api('PATCH', '/members/me', { name: 'Bo' })).body, token, api }
}
const hire = async (role: string): Promise<Person> => joinAt((await invite(owner.api, role)).path)
const setRole = ({ id }: Person, role: string) => owner.api('PATCH', `/members/${id}`, { role })
const roleOf = async (email: string) =>
  (await owner.api('GET', '/members')).body.find((one: { email: string }) => one.email === email)?.role

describe('who was an owner', () => {
  test('gives no more with an invitation than they may give when it is used', async () => {
    const bo = await hire('owner')
    const { email, path } = await invite(bo.api, 'owner')
    expect((await cookieClient(service).get(path)).text).toContain('an owner')
    await setRole(bo, 'member')
    expect((await cookieClient(service).get(path)).text).toContain('as a member')
    const { body } = await owner.api('GET', '/members/invitations')
    expect(body).toMatchObject([{ email, role: 'member' }])
    await cookieClient(service).submit(path, {})
    expect(await roleOf(email)).toBe('member')
    const last = await invite(bo.api, 'member')
    await owner.api('DELETE', `/members/${bo.id}`)
    expectPage(await cookieClient(service).submit(last.path, {}), 404, /not valid/)
    expect(await roleOf(last.email)).toBeUndefined()
    const ours = await invite(owner.api, 'owner')
    expect(await joinAt(ours.path)).toMatchObject({ email: ours.email })
    expect(await roleOf(ours.email)).toBe('owner')
  })

  test('does not make themselves one again in a process that knew them as one', async () => {
    const bo = await hire('owner')
    const there = apiOf(second.http, bo.token)
    expect((await there('GET', '/workspace')).status).toBe(200)
    await service.db.prisma.member.update({ where: { id: bo.id }, data: { role: 'member' } })
    expectFailure(await there('PATCH', `/members/${bo.id}`, { role: 'owner' }), 'forbidden')
    expectFailure(await there('DELETE', `/members/${owner.member}`), 'forbidden')
    expectFailure(
      await there('POST', '/members/invitations', { email: address(), role: 'owner' }),
      'forbidden',
    )
  })

  test('gets no more of an export that is running', async () => {
    const agent = await createTestAgent(service, owner)
    const content = Buffer.alloc(8 * 1024 * 1024, 'x').toString('base64')
    for (let n = 0; n < 2; n++) {
      const sent = await agent.api('POST', `/agents/${agent.id}/messages`, {
        ...{ channel: 'email', to: ['bo@example.com'], text: 'large' },
        attachments: [{ name: 'a.bin', type: 'application/octet-stream', content }],
      })
      expect(sent.status).toBe(201)
    }
    const bo = await hire('owner')
    const exported = await fetch(`${service.http}/export`, {
      headers: { Authorization: `Bearer ${bo.token}` },
    })
    const reader = exported.body!.getReader()
    let bytes = (await reader.read()).value!.byteLength
    await setRole(bo, 'member')
    clock.advance(1_000)
    const rest = async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read())
        bytes += next.value.byteLength
    }
    await expect(rest()).rejects.toThrow()
    expect(bytes).toBeLessThan(16 * 1024 * 1024)
  })
})

test('only owners change what deletes messages, and what is forbidden to others', async () => {
  const bo = await hire('member')
  const rules = [
    { keepMessagesDays: 1 },
    { keepMessagesDays: null },
    { keepRawDays: 1 },
    { keepRefusedDays: 1 },
    { agentsMaySetAccess: true },
    { agentsMayCreateAgents: true },
    { requirePasskeys: false },
  ]
  for (const rule of rules) {
    expectFailure(await bo.api('PATCH', '/workspace', { name: 'Taken', ...rule }), 'forbidden')
    expect((await owner.api('PATCH', '/workspace', rule)).status).toBe(200)
  }
  const query = 'mutation { updateWorkspace(input: { keepMessagesDays: 1 }) { workspace { id } } }'
  const { body } = await bo.api('POST', '/graphql', { query })
  expect(body.errors[0].extensions.code).toBe('forbidden')
  expect((await bo.api('PATCH', '/workspace', { name: 'Acme' })).body).toMatchObject({ name: 'Acme' })
})

describe('when a workspace begins to require passkeys', () => {
  const require = (requirePasskeys: boolean) => owner.api('PATCH', '/workspace', { requirePasskeys })
  const statusOf = async (browser: CookieClient) => (await browser.ask('{ viewer { id } }')).status
  /** The same browser, at the other process. */
  const there = async (browser: CookieClient) => {
    const [[name, value] = []] = browser.cookies
    const headers = {
      ...{ Cookie: `${name}=${value}`, 'X-Requested-By': 'test', 'Content-Type': 'application/json' },
      Origin: service.http.replace('127.0.0.1', 'localhost'),
    }
    const body = JSON.stringify({ query: '{ viewer { id } }' })
    return (await fetch(`${second.http}/graphql`, { method: 'POST', headers, body })).status
  }
  const addPasskey = (memberId: string) =>
    service.db.prisma.passkey.create({
      data: {
        ...{ memberId, credentialId: Buffer.from(memberId), publicKey: Buffer.from('x') },
        ...{ counter: 0, transports: [], name: 'x', createdAt: clock.now() },
      },
    })
  /** Signs in as with a passkey. */
  const withPasskey = async ({
    id,
    workspaceId,
  }: {
    id: string
    workspaceId: string
  }): Promise<CookieClient> => {
    const deps = { ...service.db, clock, notifier: { publish: () => undefined } }
    const { token } = await createSession(deps, { id, workspaceId }, { way: 'passkey', browser: 'x' })
    const browser = cookieClient(service)
    browser.cookies.set(`__Host-ams-${new URL(service.http).port}`, token)
    return browser
  }

  test('the sessions that are open only allow to register one, in every process', async () => {
    const browser = await signedIn(service, owner.token)
    const good = await withPasskey({ id: owner.member, workspaceId: owner.id })
    const stream = await browser.ask(
      'subscription { workspaceChanged { position } }',
      {},
      { Accept: 'text/event-stream' },
    )
    const heard = stream.text()
    const page = await browser.get('/app/passkeys')
    expect([await statusOf(browser), await statusOf(good), await there(browser)]).toEqual([200, 200, 200])
    await require(true)
    expect([await statusOf(browser), await statusOf(good)]).toEqual([403, 200])
    await expect.poll(() => there(browser)).toBe(403)
    expect(await heard).toContain('unauthorized')
    expect((await browser.get('/app')).location).toMatch(/^\/app\/passkeys/)
    const form = formTokenIn(page)
    expect((await browser.submit('/app/export', { form })).location).toBe('/app/passkeys')
    expectPage(await browser.get('/app/passkeys'), 200, /requires a passkey/)
    await require(false)
    expect(await statusOf(browser)).toBe(200)
  })

  test('members who have one must sign in with it', async () => {
    const browser = await signedIn(service, owner.token)
    await addPasskey(owner.member)
    await require(true)
    expect(await statusOf(browser)).toBe(401)
    for (const path of ['/app', '/app/passkeys'])
      expect((await browser.get(path)).location).toMatch(/^\/app\/sign-in/)
  })

  test('a session of the operator’s link registers no further one, unless the link came after the lost one', async () => {
    const signIn = async (): Promise<CookieClient> => {
      const { url } = await createSignInLink(
        { ...service.db, clock, publicUrl: () => service.http },
        ...([owner.member, { browser: null, path: '/app' }] as const),
      )
      const browser = cookieClient(service)
      await browser.submit('/app/sign-in/link', { link: url })
      return browser
    }
    const early = await signIn()
    clock.advance(1_000)
    await addPasskey(owner.member)
    await require(true)
    expect((await early.get('/app/passkeys')).location).toMatch(/^\/app\/sign-in/)
    clock.advance(1_000)
    expectPage(await (await signIn()).get('/app/passkeys'), 200, /requires a passkey/)
  })

  test('a link decides on a message with the passkey only, and never from another site', async () => {
    const agent = await createTestAgent(service, owner)
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
    await owner.api('PATCH', '/members/me', { approvalMails: true })
    const path = `/agents/${agent.id}/messages`
    const { id } = (
      await agent.api('POST', path, { channel: 'email', to: ['x@out.test'], text: 'secret plan' })
    ).body
    const asked = await until(() => relay.mails.find(({ to }) => to.includes(owner.email)))
    const link = new URL(/http\S+\/approve\/\S+/.exec(asked.mail.text ?? '')![0]).pathname
    const decide = (browser: CookieClient, headers = {}) =>
      browser.submit(link, { decision: 'approve' }, headers)
    const byOf = async () => (await owner.api('GET', `${path}/${id}`)).body.hold.by
    for (const Origin of ['https://evil.example', 'null', 'http://localhost:1', ''])
      expectPage(await decide(cookieClient(service), { Origin }), 403, /role="alert"/)
    expectPage(await cookieClient(service).get(link), 200, /secret plan/)
    await require(true)
    const bo = await hire('member')
    const others = await withPasskey({ id: bo.id, workspaceId: owner.id })
    for (const browser of [cookieClient(service), await signedIn(service, owner.token), others]) {
      expectPage(await decide(browser), 403, /requires that you sign in with your passkey/)
      const shown = await browser.get(link)
      expectPage(shown, 403, /requires that you sign in with your passkey/)
      expect(shown.text).not.toMatch(/secret plan|out\.test/)
    }
    expect(await byOf()).toBeNull()
    const good = await withPasskey({ id: owner.member, workspaceId: owner.id })
    expectPage(
      await good.get(`/app/sign-in?to=${encodeURIComponent(link)}`),
      200,
      new RegExp(`href="${link}"`),
    )
    expectPage(await good.get(link), 200, /secret plan/)
    expectPage(await decide(good), 200, /Approved/)
    expect(await byOf()).toBe(owner.email)
  })
})
