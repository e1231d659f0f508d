import { beforeAll, describe, expect, test } from 'vitest'
import type { TwilioStandIn } from '../../src/demo/sms/stand-in.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { expectPage, visit } from '../support/page.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { openTwilio } from '../support/sms.ts'
import { until } from '../support/until.ts'

const [ONE, TWO, THREE] = ['+15005550101', '+15005550102', '+15005550103']
const PURCHASE = /POST .*IncomingPhoneNumbers\.json/

let clock: FakeClock
let twilio: TwilioStandIn
let service: TestService
beforeAll(async () => {
  twilio = await openTwilio()
  clock = createFakeClock()
  service = await startService({ environment: twilio.environment, world: { clock } })
})

/** Creates a workspace, and removes the numbers that earlier tests rented. */
const fresh = async (): Promise<Tenant> => {
  await service.db.prisma.address.deleteMany({ where: { channel: 'sms' } })
  await service.db.prisma.phoneNumber.deleteMany()
  twilio.numbers.clear()
  twilio.insteads.length = 0
  return service.workspace()
}
const bought = () => [...twilio.numbers.keys()]
const buy = ({ api }: Tenant, value = ONE) => api('POST', '/phone-numbers', { value })
const list = async ({ api }: Tenant) => (await api('GET', '/phone-numbers')).body
const setUpLink = async ({ api }: Pick<Tenant, 'api'>, agent: TestAgent): Promise<string> =>
  (await api('POST', `/agents/${agent.id}/addresses/setups`, { channel: 'sms' })).body.url
const send = (url: string, form: Record<string, string>) => visit(service.http, url, form)
const addressesOf = async (agent: TestAgent) =>
  (await agent.api('GET', `/agents/${agent.id}/addresses`)).body.filter(
    ({ channel }: { channel: string }) => channel === 'sms',
  )

describe('phone numbers', () => {
  test('can be searched with their prices, rented, listed and released', async () => {
    const owner = await fresh()
    const { body: offers } = await owner.api('GET', '/phone-numbers/available?country=us&areaCode=500')
    expect(offers).toEqual(
      [ONE, TWO, THREE].map((value) => ({
        value,
        locality: 'Springfield',
        price: { amount: '1.15', currency: 'USD' },
      })),
    )
    const made = await buy(owner)
    expect({ status: made.status, body: made.body }).toMatchObject({
      status: 201,
      body: { value: ONE, addressId: null },
    })
    expect(twilio.numbers.get(ONE)!.smsUrl).toMatch(
      /^http:\/\/localhost:\d+\/channels\/sms\/messages#rc=3&rp=5xx,ct,rt$/,
    )
    expect(await list(owner)).toEqual([made.body])
    expect((await owner.api('DELETE', `/phone-numbers/${made.body.id}`)).status).toBe(204)
    expect([await list(owner), bought()]).toEqual([[], []])
    const audited = await service.db.prisma.auditEntry.findMany({
      where: { workspaceId: owner.id },
      orderBy: { createdAt: 'asc' },
    })
    expect(audited.map(({ action, detail }) => [action, detail])).toEqual([
      ['number.buy', { value: ONE }],
      ['number.release', { value: ONE }],
    ])
  })

  test('are purchased once when the same one is requested concurrently', async () => {
    const owner = await fresh()
    const before = twilio.requests.filter((line) => PURCHASE.test(line)).length
    const key = { 'Idempotency-Key': 'buy-1' }
    const answers = await Promise.all([
      buy(owner),
      buy(owner),
      owner.api('POST', '/phone-numbers', { value: ONE }, key),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(twilio.requests.filter((line) => PURCHASE.test(line))).toHaveLength(before + 1)
  })

  test.each([
    ['a number that is not for sale', '+15005559999', 'conflict', /is not available/],
    ['text that is not a number', 'hello', 'invalid_input', /value: must be a phone number/],
    ['a short code', '72345', 'invalid_input', /value: must be a phone number/],
  ] as const)('cannot be rented for %s, and nothing is stored', async (_, value, code, says) => {
    const owner = await fresh()
    expectFailure(await buy(owner, value), code, says)
    expect(await service.db.prisma.phoneNumber.count()).toBe(0)
  })

  test('of another workspace look like those that the account already has, and cannot be released', async () => {
    const owner = await fresh()
    const { id } = (await buy(owner)).body
    const other = await service.workspace()
    twilio.numbers.set(TWO, { sid: 'PNoperator', smsUrl: 'https://elsewhere.example' })
    const [theirs, nobodys] = [await buy(other), await buy(other, TWO)]
    expectFailure(theirs, 'conflict', /is not available/)
    expect(theirs.text.replace(ONE, TWO)).toBe(nobodys.text)
    const asked = twilio.requests.length
    await buy(other)
    expect(twilio.requests.length).toBeGreaterThan(asked)
    expectFailure(await other.api('DELETE', `/phone-numbers/${id}`), 'not_found')
    expect(await list(other)).toEqual([])
  })

  test('are rented to one of 3 workspaces that request the same one concurrently', async () => {
    const tenants = [await fresh(), await service.workspace(), await service.workspace()]
    const answers = await Promise.all(tenants.map((tenant) => buy(tenant)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const winner = tenants[answers.findIndex(({ status }) => status === 201)]!
    for (const tenant of tenants) expect(await list(tenant)).toHaveLength(tenant === winner ? 1 : 0)
  })

  describe('that the provider account already has cannot be rented', () => {
    const has = () => twilio.numbers.set(ONE, { sid: 'PNoperator', smsUrl: 'https://elsewhere.example' })
    const untouched = async () => {
      expect(twilio.numbers.get(ONE)).toEqual({ sid: 'PNoperator', smsUrl: 'https://elsewhere.example' })
      expect(await service.db.prisma.phoneNumber.count()).toBe(0)
    }

    test('by 3 concurrent requests', async () => {
      const owner = await fresh()
      has()
      for (const answer of await Promise.all([buy(owner), buy(owner), buy(owner)]))
        expectFailure(answer, 'conflict', /is not available/)
      await untouched()
    })

    test('by concurrent requests to 3 processes', async () => {
      const owner = await fresh()
      has()
      const others = await Promise.all([service.again(), service.again()])
      const apis = [owner.api, ...others.map(({ http }) => apiOf(http, owner.token))]
      for (const answer of await Promise.all(apis.map((api) => buy({ ...owner, api }))))
        expectFailure(answer, 'conflict')
      expectFailure(await buy(owner), 'conflict', /is not available/)
      await untouched()
    })

    test('after a crash before the purchase was requested', async () => {
      const owner = await fresh()
      has()
      const reserved = {
        workspaceId: owner.id,
        value: ONE,
        providerId: '',
        askedAt: null,
        createdAt: clock.now(),
      }
      const busyUntil = new Date(clock.now().getTime() + 60_000)
      await service.db.prisma.phoneNumber.create({ data: { ...reserved, busyUntil } })
      expectFailure(await buy(owner), 'conflict', /being rented or released/)
      clock.advance(60_000)
      expectFailure(await buy(owner), 'conflict', /is not available/)
      await untouched()
      await service.db.prisma.phoneNumber.create({ data: { ...reserved, busyUntil } })
      clock.advance(60_000)
      expect(await list(owner)).toEqual([])
      await untouched()
    })
  })

  test('are audited with the member who rented them even if the request failed', async () => {
    const owner = await fresh()
    twilio.insteads.push({ pattern: PURCHASE, answer: { status: 500, body: '' } })
    expectFailure(
      await owner.api('POST', '/phone-numbers', { value: ONE }, { 'Idempotency-Key': 'lost' }),
      'unavailable',
    )
    twilio.numbers.set(ONE, { sid: 'PNlost', smsUrl: '' })
    clock.advance(61_000)
    expect(await list(owner)).toMatchObject([{ value: ONE }])
    const audited = await service.db.prisma.auditEntry.findMany({ where: { workspaceId: owner.id } })
    expect(audited).toMatchObject([
      { action: 'number.buy', actorKind: 'member', actorId: owner.member, detail: { value: ONE } },
    ])
  })

  test('are limited by the plan', async () => {
    const owner = await fresh()
    await service.db.prisma.workspace.update({ where: { id: owner.id }, data: { planKey: 'free' } })
    const answers = await Promise.all([ONE, TWO, THREE].map((value) => buy(owner, value)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 402, 402])
    expect(bought()).toHaveLength(1)
    expect((await owner.api('GET', '/workspace')).body.plan).toMatchObject({
      limits: { phoneNumbers: 1 },
      usage: { phoneNumbers: 1 },
    })
  })

  test.each([
    ['garbage', { status: 200, body: 'garbage' }],
    ['500', { status: 500, body: '' }],
    ['without an id', { status: 201, body: '{}' }],
  ] as const)(
    'are not purchased again after an unavailable purchase whose response was %s',
    async (_, answer) => {
      const owner = await fresh()
      twilio.insteads.push({ pattern: PURCHASE, answer })
      const failed = await buy(owner)
      expectFailure(failed, 'unavailable')
      expect(failed.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(await list(owner)).toEqual([])
      // The number was bought nevertheless: only the response was lost.
      twilio.numbers.set(ONE, { sid: 'PNlost', smsUrl: '' })
      twilio.insteads.length = 0
      const before = twilio.requests.filter((line) => PURCHASE.test(line)).length
      expect((await buy(owner)).status).toBe(201)
      expect(await list(owner)).toMatchObject([{ value: ONE }])
      expect(twilio.requests.filter((line) => PURCHASE.test(line))).toHaveLength(before)
    },
  )

  test('whose purchase was interrupted by a crash are resolved when they are listed', async () => {
    const owner = await fresh()
    const createdAt = new Date(clock.now().getTime() - 61_000)
    const row = (value: string) => ({ workspaceId: owner.id, value, providerId: '', createdAt })
    await service.db.prisma.phoneNumber.createMany({ data: [row(ONE), row(TWO)] })
    twilio.numbers.set(ONE, { sid: 'PNlost', smsUrl: '' })
    expect(await list(owner)).toMatchObject([{ value: ONE }])
    expect(await service.db.prisma.phoneNumber.findMany()).toMatchObject([
      { value: ONE, providerId: 'PNlost' },
    ])
  })

  test('cannot be released while an agent has them, but can when the provider no longer knows them', async () => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner)
    const { id } = (await buy(owner)).body
    await send(await setUpLink(owner, agent), { number: ONE })
    expectFailure(await owner.api('DELETE', `/phone-numbers/${id}`), 'conflict', /An agent has this number/)
    const [address] = await addressesOf(agent)
    expect((await agent.api('DELETE', `/agents/${agent.id}/addresses/${address.id}`)).status).toBe(204)
    expect(await list(owner)).toMatchObject([{ value: ONE, addressId: null }])
    twilio.numbers.clear()
    expect((await owner.api('DELETE', `/phone-numbers/${id}`)).status).toBe(204)
  })

  test('of a deleted agent stay with the workspace for another agent', async () => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner)
    await send(await setUpLink(owner, agent), { number: ONE })
    await owner.api('DELETE', `/agents/${agent.id}`)
    expect(await list(owner)).toMatchObject([{ value: ONE, addressId: null }])
    const next = await createTestAgent(service, owner)
    expectPage(await send(await setUpLink(owner, next), { number: ONE }), 200, /The number is set up/)
  })

  test('cannot be listed, searched or rented by agents', async () => {
    const owner = await fresh()
    const { api } = await createTestAgent(service, owner)
    expectFailure(await api('GET', '/phone-numbers'), 'forbidden')
    expectFailure(await api('POST', '/phone-numbers', { value: ONE }), 'forbidden')
    expectFailure(await api('GET', '/phone-numbers/available?country=US'), 'forbidden')
  })

  test.each(['country=USA', 'country=', '', 'country=US&areaCode=x', 'country=US&more=1'])(
    'cannot be searched with the query %j',
    async (query) => {
      const owner = await fresh()
      expectFailure(await owner.api('GET', `/phone-numbers/available?${query}`), 'invalid_input')
    },
  )
})

describe('the set-up page for a phone number', () => {
  test('rents a number for the agent and adds the member to its access list', async () => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner, '<i>Support</i>')
    await service.db.prisma.memberIdentity.create({
      data: { memberId: owner.member, channel: 'sms', value: '+15551234567' },
    })
    const url = await setUpLink(owner, agent)
    const start = await visit(service.http, url)
    expectPage(start, 200, /A phone number for &lt;i&gt;Support&lt;\/i&gt;/)
    expect(start.text).not.toContain('numbers that no agent uses')
    const found = await send(url, { country: 'us', areaCode: '500' })
    expectPage(
      found,
      200,
      /<option value="\+15005550101">\+15005550101 · Springfield · 1\.15 USD a month<\/option>/,
    )
    expectPage(
      await send(url, { number: ONE, own: '+1 555 333 0000' }),
      200,
      /You can text it from \+15551234567, \+15553330000/,
    )
    expect(await addressesOf(agent)).toMatchObject([{ value: ONE, primary: true }])
    expect((await agent.api('GET', `/agents/${agent.id}/access`)).body.sms).toEqual({
      admit: 'team',
      senders: ['+15551234567', '+15553330000'],
      blocked: [],
    })
    expectPage(await visit(service.http, url), 410, /This link has been used/)
    expect(await list(owner)).toMatchObject([{ value: ONE, addressId: expect.any(String) }])
    await twilio.text('+15553330000', ONE, 'hello')
    expect((await agent.api('GET', `/agents/${agent.id}/messages?channel=sms`)).body.items).toMatchObject([
      { status: 'received', admission: 'listed' },
    ])
  })

  test('offers unassigned numbers of the workspace first, and reconnects the chosen one', async () => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner)
    await buy(owner, TWO)
    twilio.numbers.get(TWO)!.smsUrl = 'https://where-the-service-was.example'
    const url = await setUpLink(owner, agent)
    expectPage(
      await visit(service.http, url),
      200,
      /numbers that no agent uses[\s\S]*<option value="\+15005550102">/,
    )
    expectPage(
      await send(url, { number: TWO }),
      200,
      /The number is set up[\s\S]*No number of yours is on the agent’s access list/,
    )
    expect(twilio.numbers.get(TWO)!.smsUrl).toContain('/channels/sms/messages')
    expect(twilio.requests.filter((line) => PURCHASE.test(line)).length).toBeGreaterThan(0)
    expect(await addressesOf(agent)).toMatchObject([{ value: TWO }])
  })

  test.each([
    [{ country: 'USA' }, 400, /Must be a two-letter country code/],
    [{ country: 'US', areaCode: 'abc' }, 400, /Must be 1 to 6 digits/],
    [{ country: 'ZZ' }, 200, /There are none/],
    [{ number: '+15005559999' }, 409, /is not available/],
    [{ number: 'x' }, 400, /Must be a phone number/],
    [{ number: ONE, own: '555' }, 200, /The number is set up/], // a short code
    [{ number: ONE, own: 'mine' }, 400, /Your own number must be in international form/],
  ])('responds to %j with a readable page', async (form, status, says) => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner)
    const url = await setUpLink(owner, agent)
    expectPage(await send(url, form as Record<string, string>), status, says)
    if (status !== 200) expectPage(await visit(service.http, url), 200, /A phone number for/)
  })

  test('keeps the chosen number when the member’s own number is invalid', async () => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner)
    await buy(owner, TWO)
    const url = await setUpLink(owner, agent)
    const again = await send(url, { number: ONE, own: '"mine' })
    expectPage(
      again,
      400,
      /<option value="\+15005550101" selected>[\s\S]*value="&quot;mine"[\s\S]*Rent and set up/,
    )
    expectPage(
      await send(url, { number: TWO, own: 'mine' }),
      400,
      /<option value="\+15005550102" selected>[\s\S]*value="mine"/,
    )
    expect(bought()).toEqual([TWO])
  })

  test('distinguishes a search that the provider refuses from one without results', async () => {
    const owner = await fresh()
    const url = await setUpLink(owner, await createTestAgent(service, owner))
    const searchWith = (status: number, body: string) => {
      twilio.insteads.length = 0
      twilio.insteads.push({ pattern: /AvailablePhoneNumbers/, answer: { status, body } })
      return send(url, { country: 'US' })
    }
    expectPage(
      await searchWith(401, '{"code":20003,"message":"Authenticate","status":401}'),
      409,
      /Authenticate \(Twilio error 20003\)/,
    )
    expectPage(await searchWith(404, '<html>'), 200, /There are none/)
  })

  test('refuses a number that was assigned meanwhile, and keeps a rented one when its set-up fails', async () => {
    const owner = await fresh()
    const agents = await Promise.all([
      createTestAgent(service, owner, 'One'),
      createTestAgent(service, owner, 'Two'),
    ])
    const pages = await Promise.all(
      agents.map(async (agent) => send(await setUpLink(owner, agent), { number: ONE })),
    )
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 409])
    twilio.insteads.push({
      pattern: /POST .*IncomingPhoneNumbers\/PN\w+\.json/,
      answer: { status: 500, body: '' },
    })
    const url = await setUpLink(owner, agents[0]!)
    expect((await send(url, { number: TWO })).status).toBe(503)
    expect(await list(owner)).toMatchObject([{ value: ONE }, { value: TWO, addressId: null }])
    twilio.insteads.length = 0
    expectPage(await send(url, { number: TWO }), 200, /The number is set up/)
  })

  test('of a link created by an agent cannot rent numbers, but can assign those of the workspace', async () => {
    const owner = await fresh()
    const agent = await createTestAgent(service, owner)
    const url = await setUpLink(agent, agent)
    const asked = twilio.requests.length
    const page = await visit(service.http, url)
    expectPage(page, 200, /Your workspace has no unassigned number/)
    expect(page.text).toMatch(/To rent a new number, a member can create a link for it/)
    expectPage(await send(url, { country: 'US', areaCode: '' }), 403, /only a member can rent a number/)
    expectPage(await send(url, { number: ONE, own: '' }), 403, /only a member can rent a number/)
    expect([bought(), twilio.requests.slice(asked)]).toEqual([[], []])
    await buy(owner)
    expectPage(await visit(service.http, url), 200, new RegExp(`<option value="\\${ONE}"`))
    expectPage(await send(url, { number: ONE, own: '' }), 200, /The number is set up/)
    expect(await addressesOf(agent)).toMatchObject([{ value: ONE }])
  })

  test('of a link created by an agent reveals nothing about numbers of other workspaces', async () => {
    const [owner, other] = [await fresh(), await service.workspace()]
    await buy(other)
    const url = await setUpLink(owner, await createTestAgent(service, owner))
    const agent = await createTestAgent(service, owner, 'Curious')
    const own = await setUpLink(agent, agent)
    expectPage(await send(url, { number: ONE, own: '' }), 409, /is not available/)
    const theirs = await send(own, { number: ONE, own: '' })
    expectPage(theirs, 403, /only a member can rent a number/)
    expect(theirs.text.replaceAll(ONE, TWO)).toBe((await send(own, { number: TWO, own: '' })).text)
  })

  test('of a link created by an agent adds no number to the access list where only members set access', async () => {
    const owner = await fresh()
    await owner.api('PATCH', '/workspace', { agentsMaySetAccess: false })
    const agent = await createTestAgent(service, owner)
    const sendersOf = async () => (await agent.api('GET', `/agents/${agent.id}/access`)).body.sms.senders
    await buy(owner)
    expectPage(
      await send(await setUpLink(agent, agent), { number: ONE, own: '+15551230001' }),
      200,
      /No number of yours is on/,
    )
    expect(await sendersOf()).toEqual([])
    await buy(owner, TWO)
    expectPage(
      await send(await setUpLink(owner, agent), { number: TWO, own: '+15551230002' }),
      200,
      /You can text it/,
    )
    expect(await sendersOf()).toEqual(['+15551230002'])
  })

  test('does not block other requests while the provider hangs for 25 links', async () => {
    const owner = await fresh()
    const agents = await Promise.all(
      Array.from({ length: 25 }, (_, n) => createTestAgent(service, owner, `Hangs ${n}`)),
    )
    const links = await Promise.all(agents.map((agent) => setUpLink(owner, agent)))
    for (const value of [ONE, TWO]) await buy(owner, value)
    twilio.insteads.push({ pattern: /POST .*IncomingPhoneNumbers\/PN/, answer: 'hang' })
    const before = twilio.requests.length
    const pages = links.map((url, n) => send(url, { number: n % 2 ? ONE : TWO, own: '' }))
    await until(() => twilio.requests.length >= before + 25)
    expect((await owner.api('GET', '/agents')).status).toBe(200)
    // The calls end when their connections are closed.
    twilio.hangUp()
    for (const page of await Promise.all(pages)) expect(page.status).toBe(503)
  })

  test('rents only one number for concurrent submissions of one link', async () => {
    const owner = await fresh()
    const url = await setUpLink(owner, await createTestAgent(service, owner))
    const pages = await Promise.all([ONE, TWO, THREE].map((number) => send(url, { number })))
    expect(pages.map(({ status }) => status).sort()).toEqual([
      200,
      expect.toBeOneOf([409, 410]),
      expect.toBeOneOf([409, 410]),
    ])
    expect(bought()).toHaveLength(1)
  })

  test('can be submitted again a minute after a process crashed during a submission', async () => {
    const owner = await fresh()
    const url = await setUpLink(owner, await createTestAgent(service, owner))
    const busyUntil = new Date(clock.now().getTime() + 60_000)
    await service.db.prisma.setupLink.updateMany({ where: { usedAt: null }, data: { busyUntil } })
    expectPage(
      await send(url, { number: ONE }),
      409,
      /This link is being used right now\. Open it again in a minute\./,
    )
    expect(bought()).toEqual([])
    clock.advance(60_000)
    expectPage(await send(url, { number: ONE }), 200, /The number is set up/)
  })

  test('reports that the plan includes no more numbers', async () => {
    const owner = await fresh()
    await service.db.prisma.workspace.update({ where: { id: owner.id }, data: { planKey: 'free' } })
    const agent = await createTestAgent(service, owner)
    await send(await setUpLink(owner, agent), { number: ONE })
    expectPage(
      await send(await setUpLink(owner, agent), { number: TWO }),
      402,
      /The plan free includes 1 phone number\./,
    )
    expect(bought()).toEqual([ONE])
  })
})

test('the numbers of agents are reconnected at start if and only if PUBLIC_URL has changed', async () => {
  const owner = await fresh()
  const agent = await createTestAgent(service, owner)
  await send(await setUpLink(owner, agent), { number: ONE })
  await buy(owner, TWO)
  const moved = { PUBLIC_URL: 'https://agents.example/ams', ROLES: 'worker' }
  const connections = () =>
    twilio.requests.filter((line) => /POST .*IncomingPhoneNumbers\/PN/.test(line)).length
  const before = connections()
  twilio.insteads.push({ pattern: /POST .*IncomingPhoneNumbers\/PN/, answer: { status: 503, body: '' } })
  await service.again(moved)
  await until(() => connections() > before)
  twilio.insteads.length = 0
  // It is retried later.
  await until(() => {
    clock.advance(60_000)
    return (
      twilio.numbers.get(ONE)!.smsUrl === 'https://agents.example/ams/channels/sms/messages#rc=3&rp=5xx,ct,rt'
    )
  })
  // an unassigned number is connected at its next set-up
  expect(twilio.numbers.get(TWO)!.smsUrl).toMatch(/localhost/)
  await until(
    async () =>
      (await service.db.prisma.phoneNumber.count({
        where: { webhookUrl: { startsWith: moved.PUBLIC_URL } },
      })) === 1,
  )
  const count = connections()
  const next = await createTestAgent(service, owner)
  await send(await setUpLink(owner, next), { number: TWO })
  expect(connections()).toBe(count + 1)
  await service.again(moved)
  await until(() => twilio.numbers.get(TWO)!.smsUrl.startsWith('https://agents.example/'))
  expect(connections()).toBe(count + 2)
})
