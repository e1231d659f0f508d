import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const OUT = 'out@out.test'

let clock: FakeClock
let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  clock = createFakeClock()
  relay = await startRelay()
  const bank = { ...proves('bank.test'), 'bank.test': { TXT: ['v=spf1 -all'] } }
  service = await startService({
    environment: { SMTP_RELAY_URL: relay.url },
    world: { clock, random: () => 0, resolver: fakeResolver({ ...proves('example.com'), ...bank }) },
  })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

type Caller = Pick<TestAgent, 'id' | 'api'>

const limit = ({ id }: Pick<TestAgent, 'id'>, limits: object) => owner.api('PATCH', `/agents/${id}`, limits)
const limitsOf = async ({ id }: Pick<TestAgent, 'id'>) => (await owner.api('GET', `/agents/${id}`)).body
const send = async ({ id, api }: Caller, fields: object = {}) =>
  (
    await api('POST', `/agents/${id}/messages`, {
      channel: 'email',
      to: [OUT],
      subject: 'x',
      text: 'x',
      ...fields,
    })
  ).body
const holdOf = async (sender: Caller, ...to: string[]) => (await send(sender, { to })).hold?.reason ?? null
const access = (path = '') => `/agents/${agent.id}/access/email${path}`

/** Creates an agent with the token of another one. */
const childOf = async ({ api }: Pick<TestAgent, 'api'>): Promise<Caller> => {
  const { id } = (await api('POST', '/agents', { name: 'Child', icon: 'bot' })).body
  return { id, api }
}
/** Creates one, and a token of it. */
const armedChildOf = async (parent: Pick<TestAgent, 'api'>): Promise<TestAgent> => {
  const { id } = await childOf(parent)
  return withToken(id, parent.api)
}
/** An agent with a token that this caller makes, and with whose token it ends. */
const withToken = async (id: string, maker: TestAgent['api']): Promise<TestAgent> => {
  const { token } = (await maker('POST', `/agents/${id}/tokens`, { name: 'mine' })).body
  const api: TestAgent['api'] = (method, path, body, headers) =>
    owner.api(method, path, body, { ...headers, Authorization: `Bearer ${token}` })
  return { id, address: '', token, api }
}

describe('limits hold for the agents that an agent creates', () => {
  test('before this version, too, except where a member chose', async () => {
    const child = await armedChildOf(agent)
    const grandchild = await childOf(child)
    const chosen = await childOf(agent)
    await limit(chosen, { approval: 'none' })
    await service.db.prisma.agent.update({ where: { id: agent.id }, data: { approval: 'strangers' } })
    expect(await holdOf(child, OUT)).toBeNull()
    const folder = '../../prisma/migrations/20261124070000_approval_of_creators/migration.sql'
    await service.db.pool.query(readFileSync(new URL(folder, import.meta.url), 'utf8'))
    expect(await holdOf(child, OUT)).toBe('approval')
    expect(await limitsOf(grandchild)).toMatchObject({ approval: 'strangers' })
    expect(await limitsOf(chosen)).toMatchObject({ approval: 'none' })
  })

  test('from the start, and those agents get no tokens', async () => {
    await limit(agent, { approval: 'all', wakesPerHour: 5, wakesPerThreadDay: 2 })
    const child = await childOf(agent)
    expect(await limitsOf(child)).toMatchObject({ approval: 'all', wakesPerHour: 5, wakesPerThreadDay: 2 })
    const refused = await agent.api('POST', `/agents/${child.id}/tokens`, { name: 'x' })
    expectFailure(refused, 'forbidden')
    expect(refused.text).toContain('need approval')
    expectFailure(await agent.api('POST', `/agents/${agent.id}/tokens`, { name: 'x' }), 'forbidden')
    const query = `mutation { createAgent(input: { name: "Other", icon: bot }) { agent { id approval } } }`
    await agent.api('POST', '/graphql', { query })
    const { body } = await owner.api('GET', '/agents')
    expect(body).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ approval: 'all' })))
    // A member's agents start without limits, and a member makes tokens.
    expect((await limitsOf(await createTestAgent(service, owner))).approval).toBe('none')
    expect((await owner.api('POST', `/agents/${child.id}/tokens`, { name: 'x' })).status).toBe(201)
  })

  test('when a member tightens them later, through all generations and past a deleted one', async () => {
    const child = await armedChildOf(agent)
    const middle = await armedChildOf(child)
    const made = await armedChildOf(middle)
    const last = await withToken(made.id, owner.api)
    expect((await middle.api('DELETE', `/agents/${middle.id}`)).status).toBe(204)
    await limit(last, { wakesPerHour: 3 })
    await limit(agent, { approval: 'strangers', wakesPerHour: 10 })
    expect(await limitsOf(child)).toMatchObject({ approval: 'strangers', wakesPerHour: 10 })
    expect(await limitsOf(last)).toMatchObject({ approval: 'strangers', wakesPerHour: 3 })
    expect(await holdOf(last, OUT)).toBe('approval')
    // What a member loosens is loosened for this agent alone, and stays so when another limit changes.
    await limit(agent, { approval: 'none' })
    expect((await limitsOf(child)).approval).toBe('strangers')
    await limit(child, { approval: 'none' })
    await limit(agent, { wakesPerHour: 4 })
    expect(await limitsOf(child)).toMatchObject({ approval: 'none', wakesPerHour: 4 })
  })

  test('also while another is being created', async () => {
    const children = Promise.all(Array.from({ length: 5 }, () => childOf(agent)))
    await limit(agent, { approval: 'all' })
    for (const child of await children) expect((await limitsOf(child)).approval).toBe('all')
  })

  test('with who may instruct them', async () => {
    const before = await armedChildOf(agent)
    const grandchild = await childOf(before)
    const instructors = async (one: Caller) => (await limitsOf(one)).instructors
    await limit(agent, { instructors: 'listed' })
    expect([await instructors(before), await instructors(grandchild)]).toEqual(['members', 'members'])
    const after = await childOf(agent)
    expect(await instructors(after)).toBe('listed')
    await limit(agent, { instructors: 'members' })
    expect(await instructors(after)).toBe('members')
    await limit(before, { instructors: 'none' })
    expect([await instructors(grandchild), await instructors(after)]).toEqual(['none', 'members'])
    expect(await instructors(await childOf(before))).toBe('none')
    expectFailure(await before.api('PATCH', `/agents/${before.id}`, { instructors: 'members' }), 'forbidden')
    // Another limit that changes leaves it as it is.
    await limit(before, { instructors: 'members' })
    await limit(agent, { wakesPerHour: 4 })
    expect([await instructors(before), await instructors(grandchild)]).toEqual(['members', 'none'])
  })

  test('with who can reach them', async () => {
    await owner.api('PUT', access(), { admit: 'list', senders: [], blocked: ['eve@out.test'] })
    await owner.api('PUT', `/agents/${agent.id}/access/sms`, { admit: 'list', senders: [] })
    const child = await childOf(agent)
    const { email, sms } = (await owner.api('GET', `/agents/${child.id}/access`)).body
    expect(email).toMatchObject({ admit: 'list', blocked: ['eve@out.test'] })
    expect(sms.admit).toBe('list')
  })
})

describe('an agent whose messages need approval', () => {
  beforeEach(async () => {
    await owner.api('PUT', access(), {
      admit: 'team',
      senders: ['friend@out.test'],
      blocked: ['eve@out.test'],
    })
    await limit(agent, { approval: 'strangers' })
  })

  test.each([
    ['sets a wider list', 'PUT', '', { admit: 'team', senders: ['friend@out.test', '*@out.test'] }],
    ['admits anyone', 'PUT', '', { admit: 'anyone', senders: ['friend@out.test'] }],
    ['unblocks with a list', 'PUT', '', { admit: 'team', senders: ['friend@out.test'], blocked: [] }],
    ['adds a sender', 'POST', '/senders', { sender: '*@out.test' }],
    ['unblocks a sender', 'DELETE', '/blocked/eve@out.test', undefined],
  ])('%s: refused', async (_, method, path, body) => {
    expectFailure(await agent.api(method, access(path), body), 'forbidden')
    expect(await holdOf(agent, OUT)).toBe('approval')
  })

  test('may narrow its access', async () => {
    expect((await agent.api('POST', access('/blocked'), { sender: 'mallory@out.test' })).status).toBe(200)
    expect((await agent.api('PUT', access(), { admit: 'list', senders: [] })).status).toBe(200)
  })

  test('lets in nobody who was refused', async () => {
    const { id } = await receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'x' })
    const path = `/agents/${agent.id}/messages`
    expectFailure(await agent.api('POST', `${path}/${id}/release`), 'forbidden')
    expectFailure(await agent.api('POST', `${path}/release`, { ids: [id], listSender: true }), 'forbidden')
    expect(await holdOf(agent, 'ann@example.com')).toBe('approval')
    await owner.api('POST', `${path}/${id}/release`)
    expect(await holdOf(agent, 'ann@example.com')).toBeNull()
  })
})

describe('known to an agent', () => {
  test('are those whom a member listed, not those whom it listed itself before', async () => {
    await agent.api('PUT', access(), { admit: 'list', senders: ['*@out.test', '+1@list.test'] })
    await agent.api('POST', access('/senders'), { sender: 'single@list.test' })
    await owner.api('POST', access('/senders'), { sender: 'friend@list.test' })
    await limit(agent, { approval: 'strangers' })
    for (const to of [OUT, '+1@list.test', 'single@list.test'])
      expect(await holdOf(agent, to)).toBe('approval')
    expect(await holdOf(agent, 'friend@list.test')).toBeNull()
    // A member confirms an entry; and takes it away, after which the agent's own does not count.
    // A list that is sent back with a change, as it was read.
    const { email } = (await owner.api('GET', access().replace('/email', ''))).body
    await owner.api('PUT', access(), { admit: 'team', senders: [...email.senders, 'new@list.test'] })
    for (const to of [OUT, 'single@list.test']) expect(await holdOf(agent, to)).toBe('approval')
    for (const to of ['friend@list.test', 'new@list.test']) expect(await holdOf(agent, to)).toBeNull()
    await owner.api('POST', access('/senders'), { sender: 'single@list.test' })
    expect(await holdOf(agent, 'single@list.test')).toBeNull()
    await owner.api('DELETE', access('/senders/single@list.test'))
    await limit(agent, { approval: 'none' })
    await agent.api('POST', access('/senders'), { sender: 'single@list.test' })
    await limit(agent, { approval: 'strangers' })
    expect(await holdOf(agent, 'single@list.test')).toBe('approval')
  })

  test('are those whose mail is proven, not those whose name was forged', async () => {
    await owner.api('PUT', access(), { admit: 'anyone', senders: [] })
    await limit(agent, { approval: 'strangers' })
    const forged = { from: 'victim@bank.test', to: agent.address, text: 'x' }
    expect(await receive(service, agent, forged)).toMatchObject({ status: 'received' })
    expect(await holdOf(agent, 'victim@bank.test')).toBe('approval')
    // Nor does a known sender make another address known by naming it in Reply-To.
    const mail = { from: 'ann@example.com', to: agent.address, text: 'x', headers: { 'Reply-To': OUT } }
    const { id } = await receive(service, agent, mail)
    expect(await holdOf(agent, 'ann@example.com')).toBeNull()
    expect(
      (await agent.api('POST', `/agents/${agent.id}/messages`, { replyTo: id, text: 'x' })).body,
    ).toMatchObject({
      to: [OUT],
      hold: { reason: 'approval' },
    })
  })
})

describe('a message that was accepted before its agent needed approval', () => {
  const tick = (): false => {
    clock.advance(1_000)
    return false
  }
  const held = ({ id }: { id: string }) =>
    until(async () => {
      const message = (await agent.api('GET', `/agents/${agent.id}/messages/${id}`)).body
      return message.hold?.reason === 'approval' ? message : tick()
    })

  test('waits for it when its time comes, and goes once approved', async () => {
    await owner.api('PATCH', '/members/me', { approvalMails: true })
    const scheduled = await send(agent, {
      sendAt: new Date(clock.now().getTime() + 9 * 24 * HOUR).toISOString(),
    })
    const approved = await send(agent, {
      sendAt: scheduled.sendAt ?? scheduled.hold.until,
      subject: 'approved',
    })
    await limit(agent, { approval: 'all' })
    clock.advance(9 * 24 * HOUR + MINUTE)
    const waiting = await held(scheduled)
    expect(Date.parse(waiting.hold.until)).toBeGreaterThan(clock.now().getTime() + 6 * 24 * HOUR)
    expect(relay.mails.filter(({ to }) => to.includes(OUT))).toEqual([])
    await held(approved)
    // The link in the mail is valid for as long as the message waits.
    const asked = await until(() => relay.mails.find(({ to }) => to.includes(owner.email)) ?? tick())
    const link = new URL(/http\S+\/approve\/\S+/.exec(asked.mail.text ?? '')![0])
    expect((await fetch(service.http + link.pathname)).status).toBe(200)
    await owner.api('POST', `/agents/${agent.id}/messages/${approved.id}/approve`)
    const sent = await until(() => relay.mails.find(({ to }) => to.includes(OUT)) ?? tick())
    expect(sent.mail.subject).toBe('approved')
  })

  test('waits for it before it is tried again', async () => {
    relay.refuse(OUT, '451 4.7.1 later')
    const sent = await send(agent)
    const tried = 'select from job where lane = $1 and attempts = 1 and lease_until is null'
    await until(async () => (await service.db.pool.query(tried, [sent.id])).rowCount || tick())
    await limit(agent, { approval: 'strangers' })
    relay.refuse(OUT, null)
    clock.advance(2 * MINUTE)
    await held(sent)
    expect(relay.mails.filter(({ to }) => to.includes(OUT))).toEqual([])
    await owner.api('POST', `/agents/${agent.id}/messages/${sent.id}/approve`)
    await until(() => relay.mails.find(({ to }) => to.includes(OUT)) ?? tick())
  })

  test('and a draft from before waits for it when it is sent', async () => {
    const drafts = `/agents/${agent.id}/drafts`
    const { id } = (await agent.api('POST', drafts, { channel: 'email', to: [OUT], text: 'x' })).body
    await limit(agent, { approval: 'all' })
    expect((await agent.api('POST', `${drafts}/${id}/send`)).body.hold.reason).toBe('approval')
  })
})
