import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Approval } from '../../src/db/generated/prisma/enums.ts'
import type { Statement } from '../../src/db/sql/statement.ts'
import { createFakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'

/** Members change which messages need approval while agents are sending. */

const service = await startService({ world: { clock: createFakeClock() } })
const { pool, prisma } = service.db

let owner: Tenant
let agent: TestAgent
beforeEach(async () => {
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})
afterEach(() => vi.restoreAllMocks())

const setApproval = ({ id }: Pick<TestAgent, 'id'>, approval: Approval) =>
  prisma.agent.update({ where: { id }, data: { approval } })
/** What it waits for is then decided by a statement of its own. */
const logMore = ({ id }: Pick<TestAgent, 'id'>) =>
  prisma.agent.update({ where: { id }, data: { eventTypes: ['message.received', 'message.sent'] } })
const send = ({ id, api }: TestAgent, ...to: string[]) =>
  api('POST', `/agents/${id}/messages`, { channel: 'email', to, text: 'x' })

/** Runs `change` each time after it was read what decides whether messages wait, and before they are stored. */
const afterFacts = (change: (times: number) => Promise<unknown>) => {
  const query = pool.query.bind(pool) as (given: string | Statement, values?: unknown[]) => Promise<unknown>
  const read: number[] = []
  vi.spyOn(pool, 'query').mockImplementation((async (given: string | Statement, values?: unknown[]) => {
    const result = await query(given, values)
    if (typeof given === 'object' && given.name === 'facts of outgoing messages')
      await change(read.push(read.length))
    return result
  }) as never)
  return read
}

test('a message waits when approval is switched on while it is being stored', async () => {
  await logMore(agent)
  const read = afterFacts(() => setApproval(agent, 'all'))
  const { status, body } = await send(agent, owner.email)
  expect([status, body.hold]).toEqual([201, expect.objectContaining({ reason: 'approval' })])
  expect(read).toHaveLength(2)
  expect(await prisma.job.count({ where: { lane: body.id } })).toBe(0)
  expect(await prisma.recipient.count({ where: { messageId: body.id } })).toBe(1)
})

test('a message goes out when approval is switched off while it is being stored', async () => {
  await setApproval(agent, 'strangers')
  const read = afterFacts(() => setApproval(agent, 'none'))
  const { body } = await send(agent, 'stranger@elsewhere.example')
  expect(body.hold).toBeNull()
  expect(read).toHaveLength(2)
  expect(await prisma.job.count({ where: { lane: body.id } })).toBe(1)
})

test('a setting that changes to strangers meanwhile asks who the recipients are', async () => {
  await setApproval(agent, 'all')
  afterFacts(() => setApproval(agent, 'strangers'))
  expect((await send(agent, owner.email)).body.hold).toBeNull()
  await setApproval(agent, 'all')
  expect((await send(agent, owner.email, 'stranger@elsewhere.example')).body.hold.reason).toBe('approval')
})

test('a setting that changes again and again lets nothing through, and nothing is stored', async () => {
  await logMore(agent)
  const read = afterFacts((times) => setApproval(agent, times % 2 === 1 ? 'all' : 'none'))
  expectFailure(await send(agent, owner.email), 'conflict')
  expect(read.length).toBeGreaterThan(1)
  expect(await prisma.message.count({ where: { agentId: agent.id } })).toBe(0)
})

test('agents with different settings that send at once each get what theirs asks for, several with one statement', async () => {
  const settings: (Approval | 'logs')[] = ['none', 'all', 'strangers', 'logs']
  const agents = await Promise.all(settings.map(() => createTestAgent(service, owner)))
  for (const [index, setting] of settings.entries())
    await (setting === 'logs' ? logMore(agents[index]!) : setApproval(agents[index]!, setting))
  const read = afterFacts(async () => undefined)
  const sent = agents.flatMap((one) => [send(one, owner.email), send(one, 'stranger@elsewhere.example')])
  const holds = (await Promise.all(sent)).map(({ body }) => body.hold?.reason ?? null)
  expect(holds).toEqual([null, null, 'approval', 'approval', null, 'approval', null, null])
  expect(read.length).toBeLessThan(sent.length)
})

test('of a message whose agent has no address nothing is decided', async () => {
  await setApproval(agent, 'all')
  const read = afterFacts(async () => undefined)
  await prisma.address.deleteMany({ where: { agentId: agent.id } })
  expectFailure(await send(agent, owner.email), 'conflict')
  expect(read).toHaveLength(1)
})
