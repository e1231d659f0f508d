import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { post } from '../support/letter.ts'
import { expectPage, visit } from '../support/page.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

let clock: FakeClock
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner, '<i>Support</i>')
  await service.db.prisma.domain.createMany({
    data: [
      { workspaceId: owner.id, name: 'acme.example', state: 'verified', ownershipToken: 'x' },
      { workspaceId: owner.id, name: 'pending.example', state: 'pending', ownershipToken: 'x' },
    ],
  })
})

const link = async (channel = 'email', by: Pick<Tenant, 'api'> = owner, of = agent): Promise<string> =>
  (await by.api('POST', `/agents/${of.id}/addresses/setups`, { channel })).body.url
const addresses = async (of = agent) => (await owner.api('GET', `/agents/${of.id}/addresses`)).body
const named = async (value: string) =>
  (await addresses()).find((address: { value: string }) => address.value === value)
const send = (url: string, local: string, domain = 'agents.localhost') =>
  visit(service.http, url, { local, domain })

test('a member can choose an address for an agent, and is added to its access list', async () => {
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { senders: [] })
  const url = await link()
  expect(url).toMatch(/^http:\/\/localhost:\d+\/setup\/ast_[0-9A-Za-z]{43}$/)
  const page = await visit(service.http, url)
  expectPage(page, 200, /An email address for &lt;i&gt;Support&lt;\/i&gt;/)
  expect(page.text.match(/@[\w.]+(?=<\/option>)/g)).toEqual(['@agents.localhost', '@acme.example'])
  expectPage(await send(url, 'Help.Desk'), 200, /help\.desk@agents\.localhost/)
  expect(await named('help.desk@agents.localhost')).toMatchObject({
    channel: 'email',
    primary: false,
    domainId: null,
  })
  expect((await owner.api('GET', `/agents/${agent.id}/access`)).body.email.senders).toEqual([owner.email])
  const { accepted } = await post(service, {
    from: 'ann@example.com',
    to: 'help.desk@agents.localhost',
    text: 'hi',
  })
  expect(accepted).toEqual(['help.desk@agents.localhost'])
})

test('an address on a verified domain of the workspace has a domainId and can be removed', async () => {
  expectPage(await send(await link(), 'sales', 'acme.example'), 200, /sales@acme\.example/)
  const made = await named('sales@acme.example')
  expect(made).toMatchObject({ domainId: expect.any(String) })
  expect((await owner.api('DELETE', `/agents/${agent.id}/addresses/${made.id}`)).status).toBe(204)
})

test('the only address of an agent becomes its primary one', async () => {
  const bare = await createTestAgent(service, owner, 'Bare')
  await service.db.prisma.address.deleteMany({ where: { agentId: bare.id } })
  await send(await link('email', owner, bare), 'barely')
  expect(await addresses(bare)).toMatchObject([{ value: 'barely@agents.localhost', primary: true }])
})

test('a link created by the agent adds nobody to its access list', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  await other.api('PUT', `/agents/${other.id}/access/email`, { senders: [] })
  expectPage(await send(await link('email', other, other), 'another'), 200, /another@/)
  expect((await other.api('GET', `/agents/${other.id}/access`)).body.email.senders).toEqual([])
})

describe('an address that the agent cannot have', () => {
  test.each([
    ['a b', 'agents.localhost', 400, /Must be an email address/],
    ['', 'agents.localhost', 400, /Must be an email address/],
    ['a', 'example.com', 400, /Must be on agents\.localhost or on a verified domain/],
    ['a', 'pending.example', 400, /Must be on agents\.localhost/],
    ['n'.repeat(65), 'agents.localhost', 400, /at most 64 characters/],
    ['a\0b', 'agents.localhost', 400, /Must be an email address/],
    ['postmaster', 'agents.localhost', 409, /is taken/],
    ['i-support-i', 'agents.localhost', 409, /is taken/],
  ])('%j at %s is refused, and the link stays valid', async (local, domain, status, says) => {
    await service.db.prisma.address.updateMany({
      where: { value: agent.address },
      data: { value: 'i-support-i@agents.localhost' },
    })
    agent = { ...agent, address: 'i-support-i@agents.localhost' }
    const url = await link()
    const page = await send(url, local, domain)
    expectPage(page, status, says)
    if (/^[\w-]+$/.test(local)) expect(page.text).toContain(`name="local" value="${local}"`)
    expectPage(await visit(service.http, url), 200, /An email address for/)
  })

  test('an eleventh one is refused', async () => {
    const collector = await createTestAgent(service, owner, 'Collector')
    for (let n = 1; n < 10; n++)
      expectPage(await send(await link('email', owner, collector), `name${n}`), 200, /set up/)
    const url = await link('email', owner, collector)
    expectPage(await send(url, 'name10'), 409, /at most 10 email addresses/)
  })
})

test('an email address that the plan does not include is refused, and the link stays valid', async () => {
  const tenant = await service.workspace('Small')
  await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: 'free' } })
  const url = await link('email', tenant, await createTestAgent(service, tenant, 'Small'))
  expectPage(await send(url, 'second'), 402, /The plan free includes the address that the service assigns/)
  await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: 'team' } })
  expectPage(await send(url, 'second'), 200, /second@agents\.localhost/)
})

describe('the page of a set-up link', () => {
  test('that was used says so', async () => {
    const url = await link()
    await send(url, 'once')
    expectPage(await visit(service.http, url), 410, /This link has been used/)
    // As after a double click: the first submission succeeded.
    expectPage(await send(url, 'once'), 410, /If that was you, the address is set up/)
  })

  test('that has expired, after an hour, says so', async () => {
    const url = await link()
    clock.advance(3_600_000 - 1)
    expectPage(await visit(service.http, url), 200, /An email address for/)
    clock.advance(1)
    expectPage(await visit(service.http, url), 410, /This link has expired/)
    expectPage(await send(url, 'late'), 410, /This link has expired/)
  })

  test('that is unknown says so', async () => {
    const url = `http://localhost/setup/ast_${'x'.repeat(43)}`
    expectPage(await visit(service.http, url), 404, /This link is not valid/)
    expectPage(await send(url, 'nobody'), 404, /This link is not valid/)
  })
})

test('of 20 concurrent submissions, with one link or with a link each for one name, one succeeds', async () => {
  const url = await link()
  const pages = await Promise.all(Array.from({ length: 20 }, (_, n) => send(url, `race${n}`)))
  expect(pages.filter(({ status }) => status === 200)).toHaveLength(1)
  const crowd = await Promise.all(
    Array.from({ length: 20 }, (_, n) => createTestAgent(service, owner, `Crowd ${n}`)),
  )
  const links = await Promise.all(crowd.map((each) => link('email', owner, each)))
  const claims = await Promise.all(links.map((each) => send(each, 'wanted')))
  expect(claims.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
})

test('the page of a link for SMS says that the service has no SMS channel', async () => {
  const url = await link('sms')
  expectPage(await visit(service.http, url), 200, 'This service has no SMS channel configured')
  expectPage(await send(url, 'x'), 200, 'This service has no SMS channel configured')
})
