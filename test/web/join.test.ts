import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { expectPage, visit } from '../support/page.ts'
import { apiOf, startService, type Tenant, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const DAY_MS = 24 * 3_600_000
let clock: FakeClock
let service: TestService
let owner: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  owner = await service.workspace('Acme <b>& Sons</b>')
})

let count = 0
const invite = async (body: object = {}, by = owner) => {
  const answer = await by.api('POST', '/members/invitations', {
    email: `guest${count++}@example.com`,
    ...body,
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.body as { id: string; email: string; role: string; expiresAt: string; url: string }
}
const tokenIn = (text: string) => /<code>(amt_[0-9A-Za-z]{43})<\/code>/.exec(text)?.[1] ?? null
const path = (url: string) => new URL(url).pathname

test('an invited person can join with the link and use the token that the page shows', async () => {
  const invitation = await invite({ email: 'Ann@Example.com' })
  expect(invitation).toEqual({
    id: expect.any(String),
    email: 'ann@example.com',
    role: 'member',
    expiresAt: new Date(clock.now().getTime() + 7 * DAY_MS).toISOString(),
    url: expect.stringMatching(/^http:\/\/localhost:\d+\/join\/ait_[0-9A-Za-z]{43}$/),
  })
  const page = await visit(service.http, invitation.url)
  expectPage(page, 200, /Join Acme &lt;b&gt;&amp; Sons&lt;\/b&gt;/)
  expect(page.text).not.toContain('<b>&')
  const joined = await visit(service.http, invitation.url, { name: ' Ann <Example> ' })
  expectPage(joined, 200, /Welcome to/)
  const token = tokenIn(joined.text)!
  const ann = apiOf(service.http, token)
  const members = (await ann('GET', '/members')).body
  expect(members).toContainEqual({
    id: expect.any(String),
    email: 'ann@example.com',
    name: 'Ann <Example>',
    role: 'member',
    approvalMails: false,
    questionMails: true,
    createdAt: clock.now().toISOString(),
  })
  expect((await ann('POST', '/agents', { name: "Ann's", icon: 'bot' })).status).toBe(201)
  const { rows } = await service.db.pool.query(
    "select actor_id, detail from audit_entry where action = 'member.join'",
  )
  expect(rows).toEqual([
    {
      actor_id: members.find((member: { email: string }) => member.email === 'ann@example.com').id,
      detail: { email: 'ann@example.com', role: 'member' },
    },
  ])
})

test('the service mails the invitation link', async () => {
  const { email, url } = await invite()
  const outbox = join(service.dataDir, 'outbox')
  const mail = await until(() => {
    const mails = readdirSync(outbox).map((name) =>
      readFileSync(join(outbox, name), 'utf8').replace(/=\r\n/g, ''),
    )
    return mails.find((text) => text.includes(`To: ${email}`))
  })
  expect(mail).toContain('no-reply@agents.localhost')
  expect(mail).toContain(url)
})

describe('the page of an invitation link', () => {
  test('that was used says so and does not show the token again', async () => {
    const { url } = await invite()
    expect(tokenIn((await visit(service.http, url, {})).text)).toMatch(/^amt_/)
    for (const form of [undefined, { name: 'x' }]) {
      const page = await visit(service.http, url, form)
      expectPage(page, 410, /This link has been used/)
      expect(tokenIn(page.text)).toBeNull()
    }
  })

  test('that has expired, after 7 days, says so', async () => {
    const { url } = await invite()
    clock.advance(7 * DAY_MS - 1)
    expectPage(await visit(service.http, url), 200, /Join/)
    clock.advance(1)
    for (const form of [undefined, { name: 'x' }])
      expectPage(await visit(service.http, url, form), 410, /This link has expired/)
  })

  test('that is unknown, revoked or replaced by a newer one says so', async () => {
    const first = await invite()
    const second = await invite({ email: first.email })
    expect(second.id).toBe(first.id)
    const gone = await invite()
    expect((await owner.api('DELETE', `/members/invitations/${gone.id}`)).status).toBe(204)
    for (const url of [
      first.url,
      gone.url,
      `http://localhost/join/ait_${'x'.repeat(43)}`,
      'http://localhost/join/%00',
      'http://localhost/join/',
    ]) {
      for (const form of [undefined, { name: 'x' }])
        expectPage(await visit(service.http, url, form), 404, /This link is not valid/)
    }
    expectPage(await visit(service.http, second.url), 200, /Join/)
  })
})

test('of 20 concurrent submissions of one link, one joins', async () => {
  const { url, email } = await invite()
  const pages = await Promise.all(Array.from({ length: 20 }, () => visit(service.http, url, { name: 'x' })))
  expect(pages.filter(({ text }) => tokenIn(text))).toHaveLength(1)
  expect(pages.filter(({ status }) => status === 410)).toHaveLength(19)
  const members = (await owner.api('GET', '/members')).body
  expect(members.filter((member: { email: string }) => member.email === email)).toHaveLength(1)
})

test.each([
  ['n'.repeat(101), /1 to 100 characters/],
  ['a\0b', /NUL/],
])('the name %j is refused on the page, and the link stays valid', async (name, says) => {
  const { url } = await invite()
  const refused = await visit(service.http, url, { name: `"><b>${name}` })
  expectPage(refused, 400, says)
  expect(refused.text).toContain('value="&quot;&gt;&lt;b&gt;')
  expectPage(await visit(service.http, url, { name: '😀'.repeat(100) }), 200, /Welcome/)
})

test('a body that is not a form is refused on the page', async () => {
  const { url } = await invite()
  for (const [type, body] of [
    ['application/json', '{}'],
    ['application/x-www-form-urlencoded', `name=${'x'.repeat(20_000)}`],
  ] as const) {
    const response = await fetch(service.http + path(url), {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    })
    expectPage(
      { status: response.status, headers: response.headers, text: await response.text() },
      400,
      /could not be read/,
    )
  }
  expectPage(await visit(service.http, url, {}), 200, /Welcome/)
})

test('other methods are refused with 405 and the allowed methods, and HEAD is served without a body', async () => {
  const { url } = await invite()
  const api = apiOf(service.http, null)
  for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const answer = await api(method, path(url))
    expectFailure(answer, 'invalid_input', /is not allowed here/, 405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST')
  }
  const head = await fetch(service.http + path(url), { method: 'HEAD' })
  expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' })
})

test('a full workspace is reported on the page, and the link works once a member was removed', async () => {
  const small = await service.workspace('Small')
  const links = [await invite({}, small), await invite({}, small), await invite({}, small)]
  await service.db.pool.query("update workspace set plan_key = 'free' where id = $1", [small.id])
  for (const { url } of links.slice(0, 2)) expectPage(await visit(service.http, url, {}), 200, /Welcome/)
  expectPage(await visit(service.http, links[2]!.url, {}), 402, /The plan free includes 3 members/)
  expectFailure(
    await small.api('POST', '/members/invitations', { email: 'x@example.com' }),
    'plan_limit',
    /3 members/,
    402,
  )
  const members = (await small.api('GET', '/members')).body
  await small.api('DELETE', `/members/${members[1].id}`)
  expectPage(await visit(service.http, links[2]!.url, {}), 200, /Welcome/)
})
