import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { waitsForLock } from '../support/rows.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let owner: Tenant
let agent: TestAgent
let given: string
let ownDomain: string
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  const [address] = (await owner.api('GET', `/agents/${agent.id}/addresses`)).body
  given = `/agents/${agent.id}/addresses/${address.id}`
  ownDomain = (await own('own.example', 'verified')).id
  await own('pending.example', 'pending')
  const foreign = await service.workspace('Foreign')
  await service.db.prisma.domain.create({
    data: { workspaceId: foreign.id, name: 'foreign.example', state: 'verified', ownershipToken: 'x' },
  })
})

const own = (name: string, state: 'verified' | 'pending') =>
  service.db.prisma.domain.create({ data: { workspaceId: owner.id, name, state, ownershipToken: 'x' } })
const change = (value: unknown) => agent.api('PATCH', given, { value })
const list = async (of = agent) => (await of.api('GET', `/agents/${of.id}/addresses`)).body

describe('the local part of an address', () => {
  test.each([
    'a',
    'A',
    '7',
    '_',
    '+',
    'a.b',
    'a.b.c',
    "o'neil",
    'a-b',
    '-a',
    "'a",
    '+a',
    'a_',
    'a+',
    'a.-b',
    '__',
    'a+b_c-d',
    'x'.repeat(64),
  ])('%s is accepted and stored in lower case', async (local) => {
    const answer = await change(`${local}@agents.localhost`)
    expect(answer, answer.text).toMatchObject({
      status: 200,
      body: { value: `${local.toLowerCase()}@agents.localhost`, domainId: null },
    })
    expect(await list()).toEqual([answer.body])
  })

  test.each([
    '',
    '.',
    '.a',
    'a.',
    'a..b',
    'a-',
    "a'",
    'a b',
    'a@b',
    'a"b',
    'a!b',
    'a#b',
    'é',
    'а',
    'a\n',
    ' a',
    'a/b',
    'a%b',
    'a&b',
    '"a b"',
    'x'.repeat(65),
  ])('%j is refused', async (local) => {
    expectFailure(await change(`${local}@agents.localhost`), 'invalid_input', /^value: /)
  })
})

describe('the domain of an address', () => {
  test.each([
    '',
    'localhost',
    '-agents.localhost',
    'agents..localhost',
    '.agents.localhost',
    'agents.localhost.',
    'agents.l',
    'agents.localhos7',
    'agents_x.localhost',
    'agents.localhost ',
    '[127.0.0.1]',
    'example.com',
    'sub.agents.localhost',
    'xagents.localhost',
    'pending.example',
    'foreign.example',
    'sub.own.example',
  ])('%j is refused', async (domain) => {
    expectFailure(await change(`fine@${domain}`), 'invalid_input', /^value: /)
  })

  test("the service's own is accepted in upper case", async () => {
    expect((await change('Capital@AGENTS.LocalHost')).body.value).toBe('capital@agents.localhost')
  })

  test('a verified one of the workspace is accepted, and its id is returned', async () => {
    const { body } = await change('team@own.example')
    expect(body).toMatchObject({ value: 'team@own.example', domainId: ownDomain, primary: true })
    expect((await change('back@agents.localhost')).body.domainId).toBeNull()
  })
})

test.each([
  [{}, /^value: is required/],
  [{ value: 5 }, /^value: must be a string/],
  [{ value: null }, /^value: /],
  [{ value: 'a\0@agents.localhost' }, /^value: .*NUL/],
  [{ value: `${'x'.repeat(310)}@agents.localhost` }, /^value: /],
  [{ value: 'a@agents.localhost', given: true }, /^given: is not a known field/],
])('changing an address with %j is refused', async (body, says) => {
  expectFailure(await agent.api('PATCH', given, body), 'invalid_input', says)
})

test('an address that another agent has or that is reserved is refused, whatever its letter case', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  expectFailure(await change(other.address.toUpperCase()), 'conflict', /is taken/)
  for (const local of ['postmaster', 'Abuse', 'no-reply', 'No-Reply+sign-in'])
    expectFailure(await change(`${local}@agents.localhost`), 'conflict', /is taken/)
  const mine = (await change('mine@agents.localhost')).body
  expect((await change('MINE@agents.localhost')).body).toEqual(mine)
})

test('when 20 agents request the same address concurrently, exactly one gets it', async () => {
  const crowd = await Promise.all(
    Array.from({ length: 20 }, (_, n) => createTestAgent(service, owner, `Crowd ${n}`)),
  )
  const answers = await Promise.all(
    crowd.map(async (each) =>
      each.api('PATCH', `/agents/${each.id}/addresses/${(await list(each))[0].id}`, {
        value: 'wanted@agents.localhost',
      }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
})

test('after a change of address, mail is accepted for the new one and rejected for the old one', async () => {
  await change('old@agents.localhost')
  await change('new@agents.localhost')
  await expect(
    post(service, { from: owner.email, to: 'old@agents.localhost', text: 'hi' }),
  ).rejects.toMatchObject({ responseCode: 550 })
  expect(
    (await post(service, { from: owner.email, to: 'new@agents.localhost', text: 'hi' })).accepted,
  ).toEqual(['new@agents.localhost'])
})

describe('removing an address', () => {
  const add = (data: {
    channel: 'email' | 'sms' | 'telegram'
    value: string
    primary?: boolean
    domainId?: string
  }) => service.db.prisma.address.create({ data: { workspaceId: owner.id, agentId: agent.id, ...data } })
  const remove = (id: string) => agent.api('DELETE', `/agents/${agent.id}/addresses/${id}`)

  test("is refused for the agent's first one, even after it moved to an own domain", async () => {
    expectFailure(await agent.api('DELETE', given), 'conflict', /can be changed, but not removed/)
    await change('given@own.example')
    expectFailure(await agent.api('DELETE', given), 'conflict', /can be changed, but not removed/)
  })

  test("on the workspace's own domain makes the oldest remaining one primary", async () => {
    await service.db.prisma.address.updateMany({ where: { agentId: agent.id }, data: { primary: false } })
    const second = await add({
      channel: 'email',
      value: 'second@own.example',
      primary: true,
      domainId: ownDomain,
    })
    expectFailure(
      await agent.api('PATCH', `/agents/${agent.id}/addresses/${second.id}`, { value: 'x@agents.localhost' }),
      'conflict',
      /Only/,
    )
    expect((await remove(second.id)).status).toBe(204)
    expect(await list()).toMatchObject([{ primary: true }])
    expectFailure(await remove(second.id), 'not_found', /^There is no address with this id\.$/)
  })

  test('leaves its phone number with the workspace', async () => {
    const address = await add({ channel: 'sms', value: '+15550001111', primary: true })
    const number = { workspaceId: owner.id, value: '+15550001111', providerId: 'PN1', addressId: address.id }
    const { id } = await service.db.prisma.phoneNumber.create({ data: number })
    expect((await remove(address.id)).status).toBe(204)
    expect(await service.db.prisma.phoneNumber.findUnique({ where: { id } })).toMatchObject({
      value: '+15550001111',
      addressId: null,
    })
  })

  test('works for a Telegram bot', async () => {
    const address = await add({ channel: 'telegram', value: '@some_bot', primary: true })
    expect((await remove(address.id)).status).toBe(204)
    expect((await list()).map(({ channel }: { channel: string }) => channel)).toEqual(['email'])
  })

  test('of another agent, or changing it, fails with the same not_found as an unknown id', async () => {
    const other = await createTestAgent(service, owner, 'Another')
    const [theirs] = await list(other)
    const missing = await remove(randomUUID())
    for (const answer of [
      await remove(theirs.id),
      await owner.api('PATCH', `/agents/${agent.id}/addresses/${theirs.id}`, { value: 'x@own.example' }),
    ]) {
      expectFailure(answer, 'not_found')
      expect(answer.text).toBe(missing.text)
    }
  })
})

test.each([
  [{}, /^channel: /],
  [{ channel: 'url' }, /^channel: must be one of email, sms, telegram/],
  [{ channel: 'email', extra: 1 }, /^extra: is not a known field/],
])('creating a set-up link with %j is refused', async (body, says) => {
  expectFailure(await agent.api('POST', `/agents/${agent.id}/addresses/setups`, body), 'invalid_input', says)
})

describe('the primary address', () => {
  /** Creates an agent with a second address, as a set-up link does. */
  const withTwo = async () => {
    const two = await createTestAgent(service, owner, `Two ${randomUUID()}`)
    const value = `second-${randomUUID().slice(0, 8)}@own.example`
    const { workspaceId, id: agentId } = await service.db.prisma.agent.findUniqueOrThrow({
      where: { id: two.id },
    })
    const data = { workspaceId, agentId, channel: 'email', value, domainId: ownDomain } as const
    const { id } = await service.db.prisma.address.create({ data })
    return { agent: two, second: { id, value }, path: `/agents/${two.id}/addresses` }
  }
  const primaryOf = async (of: TestAgent) =>
    (await list(of))
      .filter(({ primary }: { primary: boolean }) => primary)
      .map(({ value }: { value: string }) => value)

  test('can be changed, is used for new messages, and falls back to the other one when it is removed', async () => {
    const { agent: two, second, path } = await withTwo()
    const answer = await two.api('PATCH', `${path}/${second.id}`, { primary: true })
    expect(answer).toMatchObject({
      status: 200,
      body: { id: second.id, value: second.value, domainId: ownDomain, primary: true },
    })
    expect(await primaryOf(two)).toEqual([second.value])
    const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
    expect((await two.api('POST', `/agents/${two.id}/messages`, mail)).body.addressId).toBe(second.id)
    expect((await two.api('PATCH', `${path}/${second.id}`, { primary: true })).status).toBe(200)
    await two.api('DELETE', `${path}/${second.id}`)
    expect(await primaryOf(two)).toEqual([two.address])
  })

  test('can be set together with a new value, and a change without either is refused', async () => {
    const { agent: two, second, path } = await withTwo()
    await two.api('PATCH', `${path}/${second.id}`, { primary: true })
    const [first] = await list(two)
    const value = `${randomUUID()}@agents.localhost`
    expect((await two.api('PATCH', `${path}/${first.id}`, { value, primary: true })).body).toMatchObject({
      value,
      primary: true,
    })
    expectFailure(await two.api('PATCH', `${path}/${first.id}`, {}), 'invalid_input', /^value: is required/)
    expectFailure(
      await two.api('PATCH', `${path}/${first.id}`, { primary: false }),
      'invalid_input',
      /^primary: must be true$/,
    )
    expectFailure(await two.api('PATCH', `${path}/${second.id}`, { value: 'x@agents.localhost' }), 'conflict')
    expectFailure(await two.api('PATCH', `${path}/${randomUUID()}`, { primary: true }), 'not_found')
  })

  test('is exactly one after it is removed, by two at once, while another one is made primary', async () => {
    const { agent: two, second, path } = await withTwo()
    const { id: agentId } = two
    const third = await service.db.prisma.address.create({
      data: {
        workspaceId: owner.id,
        agentId,
        channel: 'email',
        value: `third-${agentId}@own.example`,
        domainId: ownDomain,
      },
    })
    await two.api('PATCH', `${path}/${second.id}`, { primary: true })
    const { begun } = await service.db.prisma.$transaction(async (tx) => {
      await tx.$queryRaw`select 1 from address where agent_id = ${agentId}::uuid for update`
      const begun = [two.api('DELETE', `${path}/${second.id}`), two.api('DELETE', `${path}/${second.id}`)]
      await until(() => waitsForLock(service.db, '.', 2))
      begun.push(two.api('PATCH', `${path}/${third.id}`, { primary: true }))
      await until(() => waitsForLock(service.db, '.', 3))
      return { begun }
    })
    const [one, other, made] = await Promise.all(begun)
    expect([one!.status, other!.status].sort()).toEqual([204, 404])
    expect(made!.status).toBe(200)
    expect(await primaryOf(two)).toEqual([third.value])
  })

  test('is exactly one after 20 concurrent changes', async () => {
    const { agent: two, second, path } = await withTwo()
    const [first] = await list(two)
    const ids = Array.from({ length: 20 }, (_, n) => (n % 2 ? first.id : second.id))
    const answers = await Promise.all(ids.map((id) => two.api('PATCH', `${path}/${id}`, { primary: true })))
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
    expect(await primaryOf(two)).toHaveLength(1)
  })
})
