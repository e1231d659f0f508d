import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

/** Threads over REST; what their states mean is tested with GraphQL. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/threads`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  for (const subject of ['One', 'Two', 'Three'])
    await post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })
})

const subjectsOf = async (query: string): Promise<string[]> =>
  (await agent.api('GET', `${path}?${query}`)).body.items.map(({ subject }: { subject: string }) => subject)

test('threads are listed by state, assignee and what their messages have, and read one by one', async () => {
  const [three, two] = (await agent.api('GET', path)).body.items
  expect(await subjectsOf('state=open')).toEqual(['Three', 'Two', 'One'])
  expect((await owner.api('PATCH', `${path}/${two.id}`, { done: true })).status).toBe(200)
  expect((await owner.api('PATCH', `${path}/${three.id}`, { assignedTo: owner.member })).status).toBe(200)
  expect(await subjectsOf('state=open')).toEqual(['Three', 'One'])
  expect(await subjectsOf('state=done')).toEqual(['Two'])
  expect(await subjectsOf('state=snoozed')).toEqual([])
  expect(await subjectsOf(`assignedTo=${owner.member}`)).toEqual(['Three'])
  expect(await subjectsOf('subject=tw&from=ann@example.com&unread=true')).toEqual(['Two'])
  expect((await agent.api('GET', `${path}/${two.id}`)).body).toMatchObject({
    ...{ id: two.id, subject: 'Two', messageCount: 1, doneAt: expect.any(String) },
  })
})

test('pages of threads have each once, also of those whose messages have the same time', async () => {
  const paged = async (query = '') => {
    const first = (await agent.api('GET', `${path}?limit=2${query}`)).body
    const rest = (await agent.api('GET', `${path}?limit=2${query}&cursor=${first.nextCursor}`)).body
    expect(rest.nextCursor).toBeNull()
    return [...first.items, ...rest.items].map(({ subject }: { subject: string }) => subject)
  }
  expect(await paged()).toEqual(['Three', 'Two', 'One'])
  const data = { createdAt: new Date() }
  await service.db.prisma.message.updateMany({ where: { agentId: agent.id }, data })
  expect((await paged()).sort()).toEqual(['One', 'Three', 'Two'])
  for (const { id } of (await agent.api('GET', path)).body.items)
    await owner.api('PATCH', `${path}/${id}`, { assignedTo: owner.member })
  expect((await paged(`&assignedTo=${owner.member}`)).sort()).toEqual(['One', 'Three', 'Two'])
})

test('what is not a thread of the agent, or no state, is refused', async () => {
  const other = await createTestAgent(service, owner)
  const [{ id }] = (await agent.api('GET', path)).body.items
  expectFailure(await owner.api('GET', `${path}/${randomUUID()}`), 'not_found', 'no thread with this id')
  expectFailure(await owner.api('GET', `/agents/${other.id}/threads/${id}`), 'not_found', 'no thread')
  expectFailure(await other.api('GET', path), 'forbidden', 'another agent')
  expectFailure(await other.api('GET', `${path}/${id}`), 'forbidden', 'another agent')
  expectFailure(await agent.api('GET', `${path}?state=closed`), 'invalid_input', /^state: /)
  expectFailure(await agent.api('GET', `${path}?cursor=x`), 'invalid_input', /^cursor: /)
})

test('the messages of a thread whose first one was deleted are listed, for the agent and the workspace', async () => {
  const [{ id }] = (await agent.api('GET', path)).body.items
  await agent.api('POST', `/agents/${agent.id}/messages`, { replyTo: id, text: 'An answer' })
  expect((await agent.api('DELETE', `/agents/${agent.id}/messages/${id}`)).status).toBe(204)
  for (const list of [`/agents/${agent.id}/messages`, '/messages'])
    expect((await owner.api('GET', `${list}?thread=${id}`)).body.items).toMatchObject([{ text: 'An answer' }])
  expectFailure(
    await owner.api('GET', `/messages?thread=${randomUUID()}`),
    'invalid_input',
    'thread: is not a message of this workspace',
  )
})

test('the participants of a thread are among the first 5,000 who are named in its messages', async () => {
  const other = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${other.id}/access/email`, { admit: 'anyone', senders: [] })
  const threads = `/agents/${other.id}/threads`
  await post(service, { from: 'ann@example.com', to: other.address, messageId: '<many@example.com>' })
  const reply = { to: other.address, references: '<many@example.com>', inReplyTo: '<many@example.com>' }
  await post(service, { from: 'carol@example.com', ...reply })
  const namesOf = async () =>
    (await other.api('GET', threads)).body.items[0].participants.map(
      (one: { address: string }) => one.address,
    )
  expect(await namesOf()).toEqual(['ann@example.com', 'carol@example.com'])
  const where = { agentId: other.id, counterpart: 'ann@example.com' }
  const data = { to: Array.from({ length: 5_000 }, () => 'bob@example.com') }
  await service.db.prisma.message.updateMany({ where, data })
  expect(await namesOf()).toEqual(['ann@example.com', 'bob@example.com'])
})
