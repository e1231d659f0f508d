import { describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { expectPage, visit } from '../support/page.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** An address that an agent once had is never assigned to an agent of another workspace. */

const service = await startService()
const { prisma } = service.db
const acme = await service.workspace('Acme')
const rival = await service.workspace('Rival')

const givenOf = async (agent: TestAgent) => (await agent.api('GET', `/agents/${agent.id}/addresses`)).body[0]
const change = async (agent: TestAgent, value: string) =>
  agent.api('PATCH', `/agents/${agent.id}/addresses/${(await givenOf(agent)).id}`, { value })
const remove = (tenant: Tenant, agent: TestAgent) => tenant.api('DELETE', `/agents/${agent.id}`)
const sendersOf = async (agent: TestAgent, channel = 'email') =>
  (await agent.api('GET', `/agents/${agent.id}/access`)).body[channel].senders as string[]
const allowSenders = (agent: TestAgent, senders: string[], channel = 'email') =>
  agent.api('PUT', `/agents/${agent.id}/access/${channel}`, { admit: 'list', senders })

/** Sends a mail from one agent to another, and returns the received message. */
const mail = async (from: TestAgent, to: TestAgent, subject: string) => {
  const { body } = await from.api('POST', `/agents/${from.id}/messages`, {
    channel: 'email',
    to: [to.address],
    subject,
    text: 'hi',
  })
  await until(
    async () => (await from.api('GET', `/agents/${from.id}/messages/${body.id}`)).body.status !== 'sending',
  )
  const { items } = (await to.api('GET', `/agents/${to.id}/messages?direction=inbound`)).body
  return items.find((message: { subject: string }) => message.subject === subject)
}

describe('the address of a deleted agent', () => {
  test('is not assigned to an agent of another workspace and leaves the access lists', async () => {
    const billing = await createTestAgent(service, acme, 'Billing')
    const desk = await createTestAgent(service, acme, 'Desk')
    await allowSenders(desk, [billing.address, acme.email])
    await remove(acme, billing)
    const impostor = await createTestAgent(service, rival, 'Billing')
    expect(impostor.address).toMatch(/^billing-[a-z2-9]{4}@agents\.localhost$/)
    expect(await sendersOf(desk)).toEqual([acme.email])
    expect(await mail(impostor, desk, 'from the impostor')).toMatchObject({ refusal: 'sender' })
  })

  test('is refused to other workspaces like any address in use, and is available to its own', async () => {
    const first = await createTestAgent(service, acme, 'First')
    await remove(acme, first)
    const theirs = await createTestAgent(service, rival, 'Theirs')
    const live = await createTestAgent(service, rival, 'Live')
    const free = await change(theirs, live.address)
    const kept = await change(theirs, first.address)
    expectFailure(kept, 'conflict', `The address ${first.address} is taken.`)
    expect(kept.text.replace(first.address, '')).toBe(free.text.replace(live.address, ''))
    const again = await createTestAgent(service, acme, 'First')
    expect((await change(again, first.address)).status).toBe(200)
  })
})

describe('the address of an agent', () => {
  test('cannot be taken by another workspace with a plus tag', async () => {
    const support = await createTestAgent(service, acme, 'Plus')
    const theirs = await createTestAgent(service, rival, 'Tagged')
    expectFailure(await change(theirs, support.address.replace('@', '+invoices@')), 'conflict', /is taken/)
    expect((await change(support, support.address.replace('@', '+invoices@'))).status).toBe(200)
  })
})

describe('a former address of an agent', () => {
  test('cannot be taken by another workspace, by a change or by a set-up link', async () => {
    const agent = await createTestAgent(service, acme, 'Mover')
    const before = agent.address
    expect((await change(agent, 'moved@agents.localhost')).status).toBe(200)
    const theirs = await createTestAgent(service, rival, 'Mover')
    expect(theirs.address).not.toBe(before)
    expectFailure(await change(theirs, before), 'conflict', /is taken/)
    const { url } = (await theirs.api('POST', `/agents/${theirs.id}/addresses/setups`, { channel: 'email' }))
      .body
    const page = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ local: before.split('@')[0]!, domain: 'agents.localhost' }),
      headers: { Origin: new URL(url).origin },
    })
    expect(await page.text()).toContain('is taken')
    expect((await change(agent, before)).status).toBe(200)
  })

  test('is replaced by the new one in the access lists of its workspace', async () => {
    const agent = await createTestAgent(service, acme, 'Renamed')
    const desk = await createTestAgent(service, acme, 'Front desk')
    await allowSenders(desk, ['ann@example.com', agent.address, 'bo@example.com'])
    const foreign = await createTestAgent(service, rival, 'Foreign desk')
    await allowSenders(foreign, [agent.address])
    await change(agent, 'new-name@agents.localhost')
    expect(await sendersOf(desk)).toEqual(['ann@example.com', 'new-name@agents.localhost', 'bo@example.com'])
    expect(await sendersOf(foreign)).toEqual([agent.address])
    expect(await mail(agent, desk, 'under the new name')).toMatchObject({ admission: 'team' })
  })
})

test('a deleted agent is removed from the access lists of Message URLs', async () => {
  const caller = await createTestAgent(service, acme, 'Caller')
  const desk = await createTestAgent(service, acme, 'Called')
  await allowSenders(desk, [caller.id, acme.member], 'url')
  await remove(acme, caller)
  expect(await sendersOf(desk, 'url')).toEqual([acme.member])
})

const setUp = async (agent: TestAgent, local: string, domain: string) => {
  const { url } = (await agent.api('POST', `/agents/${agent.id}/addresses/setups`, { channel: 'email' })).body
  return visit(service.http, url, { local, domain })
}

test('a removed address leaves the access lists but stays reserved for its workspace', async () => {
  const agent = await createTestAgent(service, acme, 'Two')
  const desk = await createTestAgent(service, acme, 'Listing')
  expectPage(await setUp(agent, 'second', 'agents.localhost'), 200, /second@agents\.localhost/)
  const { id } = await prisma.address.findFirstOrThrow({ where: { value: 'second@agents.localhost' } })
  await allowSenders(desk, ['second@agents.localhost', agent.address])
  expect((await agent.api('DELETE', `/agents/${agent.id}/addresses/${id}`)).status).toBe(204)
  expect(await sendersOf(desk)).toEqual([agent.address])
  expectFailure(
    await change(await createTestAgent(service, rival, 'Late'), 'second@agents.localhost'),
    'conflict',
    /is taken/,
  )
})

test('whether another workspace has an agent of the same name is not told, nor more than ten addresses an hour', async () => {
  const form = /^unheard-of-[a-z2-9]{4}@agents\.localhost$/
  const first = await createTestAgent(service, acme, 'Unheard of')
  const curious = await service.workspace('Curious')
  const guesser = await createTestAgent(service, curious, 'Unheard of')
  expect([first.address, guesser.address]).toEqual([expect.stringMatching(form), expect.stringMatching(form)])
  for (let n = 0; n < 10; n++) expectFailure(await change(guesser, first.address), 'conflict', /is taken/)
  const theirs = await change(guesser, first.address)
  expectFailure(theirs, 'rate_limited', /At most 10 addresses of others/)
  expect((await change(guesser, 'nobody-has-this@agents.localhost')).text).toBe(theirs.text)
  expect((await change(first, 'not-limited@agents.localhost')).status).toBe(200)
})

test('the ten count for requests at once, too', async () => {
  const known = await createTestAgent(service, acme, 'Asked for')
  const guesser = await createTestAgent(service, await service.workspace('Hasty'), 'Hasty')
  const answers = await Promise.all(Array.from({ length: 15 }, () => change(guesser, known.address)))
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(5)
})

test('no agent can have the email address of a member', async () => {
  await service.workspace('Staff', 'carol@agents.localhost')
  expect((await createTestAgent(service, rival, 'Carol')).address).not.toBe('carol@agents.localhost')
  expectFailure(
    await change(await createTestAgent(service, rival, 'Other'), 'carol@agents.localhost'),
    'conflict',
    /is taken/,
  )
})

test('two agents that list each other can be deleted concurrently', async () => {
  for (let n = 0; n < 5; n++) {
    const pair = [
      await createTestAgent(service, acme, `Twin a${n}`),
      await createTestAgent(service, acme, `Twin b${n}`),
    ] as const
    await Promise.all([allowSenders(pair[0], [pair[1].address]), allowSenders(pair[1], [pair[0].address])])
    expect((await Promise.all(pair.map((agent) => remove(acme, agent)))).map(({ status }) => status)).toEqual(
      [204, 204],
    )
  }
})

test('when two workspaces take an address concurrently, one gets it for good', async () => {
  // More rounds could use up what a workspace that always loses may guess in an hour.
  for (let n = 0; n < 3; n++) {
    const value = `wanted-${n}@agents.localhost`
    const agents = [
      await createTestAgent(service, acme, `Quick a${n}`),
      await createTestAgent(service, rival, `Quick b${n}`),
    ] as const
    const answers = await Promise.all(agents.map((agent) => change(agent, value)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const [winner, loser] = answers[0]!.status === 200 ? agents : [agents[1], agents[0]]
    await remove(winner === agents[0] ? acme : rival, winner)
    expectFailure(await change(loser, value), 'conflict', /is taken/)
  }
})

test('an address on an own domain can be used by the workspace that verifies the domain next', async () => {
  const claim = ({ id }: Tenant, state: 'verified' | 'pending') =>
    prisma.domain.upsert({
      where: { workspaceId_name: { workspaceId: id, name: 'handed-on.example' } },
      create: { workspaceId: id, name: 'handed-on.example', ownershipToken: 'x', state },
      update: { state },
    })
  await claim(acme, 'verified')
  const first = await createTestAgent(service, acme, 'First owner')
  expect((await change(first, 'desk@handed-on.example')).status).toBe(200)
  await remove(acme, first)
  await claim(acme, 'pending')
  await claim(rival, 'verified')
  const next = await createTestAgent(service, rival, 'Next owner')
  expect((await change(next, 'desk@handed-on.example')).status).toBe(200)
})

describe('inside a workspace', () => {
  test('an agent cannot have the address of a member, with or without a tag', async () => {
    const tenant = await service.workspace('Own', 'olga@own.example')
    const domain = {
      workspaceId: tenant.id,
      name: 'own.example',
      state: 'verified',
      ownershipToken: 't',
    } as const
    await prisma.domain.create({ data: domain })
    const agent = await createTestAgent(service, tenant, 'Ambitious')
    for (const value of ['olga@own.example', 'Olga+inbox@own.example'])
      expectFailure(await change(agent, value), 'conflict', /^The address olga.* is taken\.$/)
    expectPage(await setUp(agent, 'olga', 'own.example'), 409, /is taken/)
    expect((await change(agent, 'desk@own.example')).status).toBe(200)
    expectPage(await setUp(agent, 'help', 'own.example'), 200, /help@own\.example/)
  })

  test('an agent can add a tag to its own address but not to that of another agent', async () => {
    const ann = await createTestAgent(service, acme, 'Ann')
    const eve = await createTestAgent(service, acme, 'Eve')
    const tagged = ann.address.replace('@', '+billing@')
    expectFailure(await change(eve, tagged), 'conflict', /is taken/)
    const [local = ''] = tagged.split('@')
    expectPage(await setUp(eve, local, 'agents.localhost'), 409, /is taken/)
    expect((await change(ann, tagged)).status).toBe(200)
  })
})
