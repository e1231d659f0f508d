import { beforeAll, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post, receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** How often messages may wake an agent. */

let clock: FakeClock
let service: TestService
let owner: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ environment: { RATE_LIMIT: '100000' }, world: { clock } })
  owner = await service.workspace()
})

const createAgent = async (limits: object): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  expect((await owner.api('PATCH', `/agents/${agent.id}`, limits)).status).toBe(200)
  return agent
}
const letter = (agent: TestAgent, more: object = {}) =>
  receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'hi', ...more })
const eventsOf = async ({ id, api }: TestAgent) =>
  (await api('GET', `/agents/${id}/events?after=0&limit=100`)).body.items

test('what exceeds the limit of an hour is refused, kept and can be released; later ones are received again', async () => {
  const agent = await createAgent({ wakesPerHour: 2 })
  for (let n = 0; n < 2; n++) expect(await letter(agent)).toMatchObject({ status: 'received' })
  const over = await letter(agent, { attachments: [{ filename: 'a.txt', content: 'a' }] })
  expect(over).toMatchObject({
    status: 'refused',
    refusal: 'rate_limit',
    admission: null,
    attachments: [{ size: 1 }],
  })
  expect(over.checks.at(-1)).toEqual({
    name: 'wake_limit',
    verdict: 'rate_limit',
    detail: 'the agent takes at most 2 messages an hour',
  })
  expect(await eventsOf(agent)).toHaveLength(2)
  const released = await owner.api('POST', `/agents/${agent.id}/messages/${over.id}/release`, {})
  expect(released.body).toMatchObject({ status: 'received', admission: 'anyone' })
  expect(await eventsOf(agent)).toHaveLength(3)
  clock.advance(3_600_001)
  expect(await letter(agent)).toMatchObject({ status: 'received' })
})

test('what would be refused anyway does not count, nor does a mail that is sent again', async () => {
  const agent = await createAgent({ wakesPerHour: 2 })
  await owner.api('POST', `/agents/${agent.id}/access/email/blocked`, { sender: 'eve@example.com' })
  expect(await letter(agent, { from: 'eve@example.com' })).toMatchObject({ refusal: 'sender' })
  const twice = { messageId: '<twice@example.com>', date: new Date(0) }
  for (let n = 0; n < 2; n++) expect(await letter(agent, twice)).toMatchObject({ status: 'received' })
  expect(await letter(agent)).toMatchObject({ status: 'received' })
  expect(await letter(agent)).toMatchObject({ status: 'refused' })
  expect(await newest(agent, 100)).toHaveLength(4)
})

test('the limit of a thread in a day leaves other threads alone', async () => {
  const agent = await createAgent({ wakesPerThreadDay: 2 })
  await letter(agent, { messageId: '<first@example.com>' })
  const reply = () => letter(agent, { inReplyTo: '<first@example.com>' })
  expect(await reply()).toMatchObject({ status: 'received' })
  const over = await reply()
  expect(over).toMatchObject({ status: 'refused', refusal: 'rate_limit' })
  expect(over.checks.at(-1).detail).toBe('the agent takes at most 2 messages of a thread in 24 hours')
  expect(await letter(agent)).toMatchObject({ status: 'received' })
  clock.advance(24 * 3_600_000)
  expect(await reply()).toMatchObject({ status: 'received' })
})

test('concurrent messages over several processes are counted exactly', async () => {
  const agent = await createAgent({ wakesPerHour: 5 })
  const other = await service.again()
  const hosts = [`${service.smtp.host}:${service.smtp.port}`, other.smtp!]
  await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      deliver(hosts[n % 2]!, { from: `ann${n}@example.com`, to: agent.address, text: `letter ${n}` }),
    ),
  )
  const stored = await newest(agent, 100)
  expect(stored).toHaveLength(24)
  expect(stored.filter(({ status }: { status: string }) => status === 'received')).toHaveLength(5)
  expect((await eventsOf(agent)).map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4, 5])
})

test('a message for several agents is limited for each of them', async () => {
  const [limited, free] = [await createAgent({ wakesPerHour: 1 }), await createAgent({ wakesPerHour: null })]
  for (const text of ['one', 'two'])
    await post(service, { from: 'ann@example.com', to: `${limited.address}, ${free.address}`, text })
  const statuses = async (agent: TestAgent) =>
    (await newest(agent, 2)).map(({ status }: { status: string }) => status)
  expect(await statuses(limited)).toEqual(['refused', 'received'])
  expect(await statuses(free)).toEqual(['received', 'received'])
})

test('members set and remove the limits, in REST and GraphQL, and agents do not', async () => {
  const agent = await createAgent({})
  const path = `/agents/${agent.id}`
  expect((await agent.api('GET', path)).body).toMatchObject({ wakesPerHour: null, wakesPerThreadDay: null })
  const set = await owner.api('PATCH', path, { wakesPerHour: 60, wakesPerThreadDay: 5 })
  expect(set).toMatchObject({ status: 200, body: { wakesPerHour: 60, wakesPerThreadDay: 5 } })
  const [record] = (await owner.api('GET', `/audit?action=agent.update&agentId=${agent.id}`)).body.items
  expect(record.detail).toEqual({ wakesPerHour: 60, wakesPerThreadDay: 5 })
  expect((await agent.api('PATCH', path, { name: 'Renamed' })).body).toMatchObject({ wakesPerHour: 60 })
  for (const limit of [{ wakesPerHour: null }, { wakesPerThreadDay: 6 }])
    expectFailure(await agent.api('PATCH', path, limit), 'forbidden', /^Only a member can change wakes/)
  for (const wakesPerHour of [0, 10_001, 1.5, '5'])
    expectFailure(await owner.api('PATCH', path, { wakesPerHour }), 'invalid_input', /^wakesPerHour: must be/)
  const query =
    'mutation ($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { wakesPerHour wakesPerThreadDay } } }'
  const update = async (changes: object) =>
    (await owner.api('POST', '/graphql', { query, variables: { input: { agentId: agent.id, ...changes } } }))
      .body
  expect((await update({ wakesPerHour: null })).data.updateAgent.agent).toEqual({
    wakesPerHour: null,
    wakesPerThreadDay: 5,
  })
  expect((await update({ wakesPerThreadDay: 0 })).errors[0].message).toMatch(/^wakesPerThreadDay: must be/)
})
