import { beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, receive } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** Messages of one thread that wake an agent together. */

let clock: FakeClock
let service: TestService
let owner: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ environment: { RATE_LIMIT: '100000' }, world: { clock } })
  owner = await service.workspace()
})

const set = (agent: TestAgent, settings: object) => owner.api('PATCH', `/agents/${agent.id}`, settings)
const createAgent = async (settings: object): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  expect((await set(agent, settings)).status).toBe(200)
  return agent
}
const letter = (agent: TestAgent, more: object = {}) =>
  receive(service, agent, { from: 'ann@example.com', to: agent.address, text: 'hi', ...more })
const heard = async ({ id, api }: TestAgent): Promise<{ id: number; messageId: string }[]> =>
  (await api('GET', `/agents/${id}/events?after=0&limit=100`)).body.items
const heardMessages = async (agent: TestAgent) => (await heard(agent)).map(({ messageId }) => messageId)

const REPLY = { inReplyTo: '<first@example.com>', references: '<first@example.com>' }

test('messages of one thread are heard together, in order, once the time since the first has passed', async () => {
  const agent = await createAgent({ wakeAfterSeconds: 30 })
  const first = await letter(agent, { messageId: '<first@example.com>' })
  clock.advance(20_000)
  const second = await letter(agent, REPLY)
  const other = await letter(agent, { from: 'bob@example.com', subject: 'Another thread' })
  expect(second.threadId).toBe(first.threadId)
  expect(await heard(agent)).toEqual([])
  clock.advance(10_000)
  await expect.poll(() => heardMessages(agent)).toEqual([first.id, second.id])
  clock.advance(20_000)
  await expect.poll(() => heardMessages(agent)).toEqual([first.id, second.id, other.id])
  expect((await heard(agent)).map(({ id }) => id)).toEqual([1, 2, 3])

  // A new window begins with the next message.
  const third = await letter(agent, REPLY)
  expect(await heardMessages(agent)).toHaveLength(3)
  clock.advance(30_000)
  await expect.poll(() => heardMessages(agent)).toEqual([first.id, second.id, other.id, third.id])
})

test('a message is readable while its event waits, and has none when it is deleted before', async () => {
  const agent = await createAgent({ wakeAfterSeconds: 300 })
  const { id } = await letter(agent)
  expect((await newest(agent))[0].id).toBe(id)
  expect((await agent.api('DELETE', `/agents/${agent.id}/messages/${id}`)).status).toBe(204)
  const next = await letter(agent)
  clock.advance(300_000)
  await expect.poll(() => heardMessages(agent)).toEqual([next.id])
})

test('a thread waits from its first message on, also when that is deleted meanwhile', async () => {
  const agent = await createAgent({ wakeAfterSeconds: 30 })
  const first = await letter(agent, { messageId: '<first@example.com>' })
  clock.advance(20_000)
  const second = await letter(agent, REPLY)
  await agent.api('DELETE', `/agents/${agent.id}/messages/${first.id}`)
  clock.advance(10_000)
  await expect.poll(() => heardMessages(agent)).toEqual([second.id])
})

test('a change of the setting wakes the agent for what waits, before what comes next', async () => {
  const agent = await createAgent({ wakeAfterSeconds: 300 })
  const first = await letter(agent)
  await set(agent, { name: 'Another name' })
  expect(await heardMessages(agent)).toEqual([])
  expect((await set(agent, { wakeAfterSeconds: 0 })).body.wakeAfterSeconds).toBe(0)
  expect(await heardMessages(agent)).toEqual([first.id])
  const second = await letter(agent)
  expect(await heardMessages(agent)).toEqual([first.id, second.id])
})

test('limits count messages that wait; those over the limit are refused at once', async () => {
  const agent = await createAgent({ wakeAfterSeconds: 30, wakesPerHour: 1, eventTypes: ['message.refused'] })
  const first = await letter(agent)
  const over = await letter(agent)
  expect(over).toMatchObject({ status: 'refused', refusal: 'rate_limit' })
  expect(await heardMessages(agent)).toEqual([over.id])
  clock.advance(30_000)
  await expect.poll(() => heardMessages(agent)).toEqual([over.id, first.id])
})

describe('times are whole seconds from 0 to 300', () => {
  test.each([-1, 301, 1.5, '5', null])('not %j', async (wakeAfterSeconds) => {
    const agent = await createAgent({})
    expectFailure(await set(agent, { wakeAfterSeconds }), 'invalid_input')
  })
})
