import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ams, endAms } from '../support/ams.ts'
import { cookieClient } from '../support/cookie-client.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post } from '../support/letter.ts'
import { type ListedDomain, ownDomain, verify, withdraw } from '../support/own-domain.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** The agent of a domain that gets mail to addresses which nobody has. */

const zone: Zone = proves('example.com')
let service: TestService
let owner: Tenant
let agent: TestAgent
let other: TestAgent
let domain: ListedDomain
let count = 0
beforeAll(async () => {
  service = await startService({
    environment: { MAIL_HOST: 'mx.service.example', RATE_LIMIT: '100000' },
    world: { resolver: fakeResolver(zone) },
  })
})
beforeEach(async () => {
  owner = await service.workspace()
  agent = await createTestAgent(service, owner, 'Catcher')
  other = await createTestAgent(service, owner, 'Known')
  for (const { id } of [agent, other])
    await owner.api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  domain = await ownDomain(owner, zone, `d${++count}.example`)
})

afterAll(endAms)

const setTo = (catchAllAgentId: string | null, by = owner) =>
  by.api('PATCH', `/domains/${domain.id}`, { catchAllAgentId })
const mail = (to: string | string[], subject = 'Hello', from = 'ann@example.com') =>
  post(service, { from, to, subject, text: 'hi' })
const at = (local: string) => `${local}@${domain.name}`
const refusal = (to: string) =>
  mail(to).then(
    () => null,
    ({ responseCode }) => responseCode,
  )
const give = async ({ id }: TestAgent, value: string) => {
  const [address] = (await owner.api('GET', `/agents/${id}/addresses`)).body
  expect((await owner.api('PATCH', `/agents/${id}/addresses/${address.id}`, { value })).status).toBe(200)
}
/** Sends to an address and returns the message when it is no longer on its way. */
const surelySent = async (to: string) => {
  const path = `/agents/${other.id}/messages`
  const { id } = (
    await other.api('POST', path, { channel: 'email', to: [to], subject: 'Secret', text: 'hi' })
  ).body
  return until(async () => {
    const { body } = await other.api('GET', `${path}/${id}`)
    return body.status !== 'sending' && body
  })
}
const countOf = async (of: TestAgent) => (await newest(of, 100)).length

test('mail to an address that nobody has reaches it, and is refused without one', async () => {
  expect(await refusal(at('sales'))).toBe(550)
  expect((await setTo(agent.id)).body).toMatchObject({ id: domain.id, catchAllAgentId: agent.id })
  await mail(at('sales'), 'Any')
  const [message] = await newest(agent)
  expect(message).toMatchObject({ subject: 'Any', to: [at('sales')], addressed: 'to', status: 'received' })
  const addresses = (await owner.api('GET', `/agents/${agent.id}/addresses`)).body
  expect(message.addressId).toBe(addresses[0].id)
  expect((await setTo(null)).body.catchAllAgentId).toBeNull()
  expect(await refusal(at('sales'))).toBe(550)
  const actions = (await owner.api('GET', '/audit?action=domain.update')).body.items
  expect(actions).toMatchObject([
    { detail: { catchAllAgentId: null } },
    { detail: { catchAllAgentId: agent.id } },
  ])
})

test('ams shows and sets it', async () => {
  const run = (...args: string[]) =>
    ams({ HOME: '/nonexistent', AMS_URL: service.http, AMS_TOKEN: owner.token }, ['domains', ...args])
  const set = await run('catch-all', domain.name, agent.id)
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining(`catch-all ${agent.id}`) })
  await mail(at('sales'), 'Any')
  expect(await newest(agent)).toMatchObject([{ subject: 'Any' }])
  expect((await run('list')).stdout).toBe(set.stdout)
  expect((await run('catch-all', domain.name, 'none')).stdout).not.toContain('catch-all')
  expect(await refusal(at('sales'))).toBe(550)
  expect(await run('catch-all', 'other.example', 'none')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no domain other.example'),
  })
})

test('an address that an agent has wins, with a tag too', async () => {
  await setTo(agent.id)
  await give(other, at('help'))
  await mail(at('help'), 'One')
  await mail(at('help+tag'), 'Two')
  expect((await newest(other, 5)).map(({ subject }: { subject: string }) => subject)).toEqual(['Two', 'One'])
  await mail(at('unknown+tag'), 'Three')
  expect((await newest(agent, 5)).map(({ subject }: { subject: string }) => subject)).toEqual(['Three'])
})

test('it answers from the address that it has on the domain', async () => {
  await give(agent, at('hello'))
  await setTo(agent.id)
  await mail(at('anything'))
  const [message] = await newest(agent)
  const [address] = (await owner.api('GET', `/agents/${agent.id}/addresses`)).body
  expect(message.addressId).toBe(address.id)
  const answer = await agent.api('POST', `/agents/${agent.id}/messages`, {
    replyTo: message.id,
    replyAll: true,
    text: 'Yes',
  })
  expect(answer.body).toMatchObject({ addressId: address.id, to: ['ann@example.com'], cc: [] })
})

test('a reply to all leaves out what it catches, and reaches members and tagged agents of the domain', async () => {
  await setTo(agent.id)
  await give(other, at('help'))
  const { member: id } = owner
  await service.db.prisma.member.update({ where: { id }, data: { email: at('boss') } })
  const to = [at('sales'), at('help+x'), at('boss'), 'cy@example.com']
  const raw = ['From: ann@example.com', `To: ${to.join(', ')}`, 'Subject: All', '', 'hi', ''].join('\r\n')
  await post(service, { raw, envelope: { from: 'ann@example.com', to: [at('sales')] } })
  const [{ id: replyTo }] = await newest(agent)
  const answer = { replyTo, replyAll: true, text: 'Hello all' }
  const { body } = await owner.api('POST', `/agents/${agent.id}/messages`, answer)
  expect([...body.to, ...body.cc].sort()).toEqual(
    ['ann@example.com', at('boss'), at('help+x'), 'cy@example.com'].sort(),
  )
})

test('one mail to many such addresses is one message, beside those of agents that are named', async () => {
  await setTo(agent.id)
  await give(other, at('help'))
  await mail([at('a'), at('b'), at('help'), at('c')])
  expect([await countOf(agent), await countOf(other)]).toEqual([1, 1])
})

test('mail to members and invited people is not its own: such mail signs them in', async () => {
  await setTo(agent.id)
  const invited = await owner.api('POST', '/members/invitations', { email: at('new'), role: 'member' })
  expect(invited.status).toBe(201)
  expect(await refusal(at('new'))).toBe(550)
  await service.db.prisma.member.create({ data: { workspaceId: owner.id, email: at('bob'), role: 'member' } })
  expect(await refusal(at('bob'))).toBe(550)
  expect(await refusal(at('bob+tag'))).toBe(550)
  expect(await countOf(agent)).toBe(0)
})

test('a member of another workspace signs in by mail, and no agent can instead', async () => {
  await setTo(agent.id)
  await service.workspace('Elsewhere', at('boss'))
  await cookieClient(service).submit('/app/sign-in/email', { email: at('boss') })
  expect(await refusal(at('boss'))).toBe(550)
  await mail(at('later'))
  expect((await newest(agent, 5)).map(({ subject }: { subject: string }) => subject)).toEqual(['Hello'])
})

test('mail of other agents of the service reaches it, too', async () => {
  await setTo(agent.id)
  await other.api('POST', `/agents/${other.id}/messages`, {
    ...{ channel: 'email', to: [at('team')], subject: 'From inside', text: 'hi' },
  })
  await until(async () => (await countOf(agent)) === 1)
  expect(await newest(agent)).toMatchObject([{ subject: 'From inside', admission: 'team' }])
})

describe('under a dictionary attack', () => {
  test('the plan, and the rate of a sender, limit what it gets', async () => {
    const key = `catch-${owner.id}`
    await service.db.prisma.plan.create({
      data: { key, storedMessages: 3, ownDomains: 5, changeAddress: true },
    })
    await service.db.prisma.workspace.update({ where: { id: owner.id }, data: { planKey: key } })
    await setTo(agent.id)
    for (let n = 0; n < 8; n++) await mail(at(`guess${n}`), `Guess ${n}`, `s${n}@example.com`)
    const stored = await newest(agent, 20)
    const by = (status: string) => stored.filter((one: { status: string }) => one.status === status)
    expect([by('received').length, by('refused').length]).toEqual([3, 5])
    expect(new Set(by('refused').map(({ refusal }: { refusal: string }) => refusal))).toEqual(
      new Set(['plan_limit']),
    )
  })

  test('the list of its senders holds', async () => {
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'list', senders: [] })
    await setTo(agent.id)
    await mail(at('guess'))
    expect(await newest(agent)).toMatchObject([{ status: 'refused', refusal: 'sender' }])
  })
})

describe('who may be set, and by whom', () => {
  test('only an agent of the workspace, by its members, for a verified domain', async () => {
    const rival = await service.workspace()
    const theirs = await createTestAgent(service, rival)
    expectFailure(
      await setTo(theirs.id),
      'invalid_input',
      'catchAllAgentId: is not an agent of this workspace',
    )
    expectFailure(await setTo(agent.id, rival), 'not_found')
    expectFailure(await setTo(agent.id, { ...owner, api: agent.api }), 'forbidden')
    const pending = (await owner.api('POST', '/domains', { name: `p${count}.example` })).body
    const given = { catchAllAgentId: agent.id }
    expectFailure(await owner.api('PATCH', `/domains/${pending.id}`, given), 'conflict', 'is not verified')
    const query = `mutation ($id: UUID!, $agent: UUID) {
      updateDomain(input: { domainId: $id, catchAllAgentId: $agent }) { domain { catchAllAgentId } }
    }`
    const variables = { id: domain.id, agent: agent.id }
    const { body } = await owner.api('POST', '/graphql', { query, variables })
    expect(body.data.updateDomain.domain).toEqual(given)
  })

  test('of a deleted agent, the domain has none', async () => {
    await setTo(agent.id)
    await mail(at('a'))
    await owner.api('DELETE', `/agents/${agent.id}`)
    expect((await owner.api('GET', `/domains/${domain.id}`)).body.catchAllAgentId).toBeNull()
    expect(await refusal(at('a'))).toBe(550)
  })

  test('of a broken domain, which someone else may own, it gets no mail that is sent from here', async () => {
    await setTo(agent.id)
    withdraw(zone, domain, 'ownership')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    const there = await surelySent(at('team'))
    expect([there.status, await countOf(agent)]).toEqual(['sent', 0])
  })

  test('a broken domain keeps it until another workspace proves the name', async () => {
    await setTo(agent.id)
    withdraw(zone, domain, 'mx')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    await mail(at('a'))
    expect(await countOf(agent)).toBe(1)
    withdraw(zone, domain, 'ownership')
    const rival = await service.workspace()
    expect((await ownDomain(rival, zone, domain.name)).state).toBe('verified')
    expect((await owner.api('GET', `/domains/${domain.id}`)).body.catchAllAgentId).toBeNull()
    expect(await refusal(at('a'))).toBe(550)
  })
})
