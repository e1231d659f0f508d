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
import { until } from '../support/until.ts'

/** Which conversation events and messages belong to, the agent's own keys of them, and how mail names the agent. */

let service: SharedService
let owner: Tenant
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
})

const ALL = ['message.received', 'message.refused', 'message.held', 'message.sent', 'message.failed']

const startAgent = async (settings: object = {}): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  await owner.api('PATCH', `/agents/${agent.id}`, { eventTypes: ALL, ...settings })
  return agent
}

type Facts = Record<
  'threadId' | 'conversation' | 'addressed' | 'messageId' | 'id' | 'type' | 'status',
  string
>

const messagesOf = async (agent: TestAgent, query = ''): Promise<Facts[]> =>
  (await agent.api('GET', `/agents/${agent.id}/messages${query}`)).body.items
const eventsOf = async (agent: TestAgent): Promise<Facts[]> =>
  (await agent.api('GET', `/agents/${agent.id}/events?after=0`)).body.items
const send = (agent: TestAgent, body: object) => agent.api('POST', `/agents/${agent.id}/messages`, body)

test('every event says the thread of its message, which lists it', async () => {
  const agent = await startAgent({ approval: 'all' })
  await post(service, { from: 'ann@example.com', to: agent.address, subject: 'One', text: 'hi' })
  const [received] = await messagesOf(agent)
  const held = (await send(agent, { replyTo: received!.id, text: 'Yes' })).body
  const rejected = await owner.api('POST', `/agents/${agent.id}/messages/${held.id}/reject`, {})
  expect(rejected.body).toMatchObject({ status: 'failed' })
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'none' })
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'list', senders: [] })
  await post(service, { from: 'eve@example.com', to: agent.address, subject: 'Two', text: 'hi' })
  const events = await eventsOf(agent)
  expect(events.map(({ type }) => type)).toEqual([
    ...['message.received', 'message.held', 'message.failed', 'message.refused'],
  ])
  for (const { messageId, threadId } of events)
    expect((await agent.api('GET', `/agents/${agent.id}/messages/${messageId}`)).body.threadId).toBe(threadId)
  expect(events.map(({ threadId }) => threadId).slice(0, 3)).toEqual(Array(3).fill(received!.threadId))
  expect(await messagesOf(agent, `?threadId=${received!.threadId}`)).toMatchObject([
    ...[{ id: held.id }, { id: received!.id }],
  ])
  const refused = events[3]!
  const released = await owner.api('POST', `/agents/${agent.id}/messages/${refused.messageId}/release`, {})
  expect(released.status).toBe(200)
  expect((await eventsOf(agent)).at(-1)).toMatchObject({
    ...{ type: 'message.received', threadId: refused.threadId, addressed: 'to', conversation: null },
  })
  expectFailure(
    await agent.api('GET', `/agents/${agent.id}/messages?threadId=${randomUUID()}`),
    'invalid_input',
    'threadId: is not a thread of this agent',
  )
})

test("the agent's key of a thread is on all of its later messages and events, however they were answered", async () => {
  const agent = await startAgent()
  const letter = { from: 'ann@example.com', to: agent.address, subject: 'Ticket' }
  await post(service, { ...letter, text: 'one', messageId: '<one@example.com>' })
  const [first] = await messagesOf(agent)
  expect(first).toMatchObject({ conversation: null })
  const answer = await send(agent, { replyTo: first!.id, text: 'Noted', conversation: '  ticket 7 ' })
  expect(answer.body).toMatchObject({ conversation: 'ticket 7', threadId: first!.threadId })
  // Neither refers to the answer that has the key.
  await post(service, { ...letter, text: 'two', inReplyTo: '<one@example.com>' })
  expect((await send(agent, { replyTo: first!.id, text: 'Also noted' })).body).toMatchObject({
    conversation: 'ticket 7',
  })
  const messages = await messagesOf(agent)
  expect(messages.map(({ conversation }) => conversation)).toEqual([
    ...['ticket 7', 'ticket 7', 'ticket 7', null],
  ])
  const received = (await eventsOf(agent)).filter(({ type }) => type === 'message.received')
  expect(received.map(({ conversation }) => conversation)).toEqual([null, 'ticket 7'])
  expect((await agent.api('GET', `/agents/${agent.id}/threads/${first!.threadId}`)).body).toMatchObject({
    conversation: 'ticket 7',
  })
  await send(agent, { replyTo: first!.id, text: 'Moved', conversation: 'ticket 8' })
  await post(service, { ...letter, text: 'three', inReplyTo: '<one@example.com>' })
  expect((await messagesOf(agent))[0]).toMatchObject({ conversation: 'ticket 8' })
  // Another thread has none.
  await post(service, { ...letter, text: 'four' })
  expect((await messagesOf(agent))[0]).toMatchObject({ conversation: null })
})

test('many sends of one thread at a time leave one of their keys on it', async () => {
  const agent = await startAgent()
  await post(service, { from: 'ann@example.com', to: agent.address, subject: 'Many', text: 'one' })
  const [first] = await messagesOf(agent)
  const keys = Array.from({ length: 12 }, (_, n) => `key ${n}`)
  const sent = await Promise.all(
    keys.map((conversation) => send(agent, { replyTo: first!.id, text: 'An answer', conversation })),
  )
  expect(sent.map(({ status }) => status)).toEqual(Array(12).fill(201))
  const { conversation } = (await send(agent, { replyTo: first!.id, text: 'The last' })).body
  expect(keys).toContain(conversation)
})

test.each([
  ['', 'conversation: must be 1 to 100 characters long'],
  ['x'.repeat(101), 'conversation: must be 1 to 100 characters'],
  ['one\ntwo', 'conversation: must not contain line breaks'],
  [7, 'conversation: '],
])('the key %j is refused', async (conversation, message) => {
  const agent = await startAgent()
  const body = { channel: 'email', to: ['ann@example.com'], text: 'hi', conversation }
  expectFailure(await send(agent, body), 'invalid_input', message)
})

test('mail says whether it names the agent as recipient, in copy or not at all', async () => {
  const agent = await startAgent()
  const named = agent.address.toUpperCase().replace('@AGENTS', '@Agents')
  const letter = { from: 'ann@example.com', subject: 'Hi', text: 'hi', envelope: { to: [agent.address] } }
  await post(service, { ...letter, to: `The Bot <${named}>` } as never)
  await post(service, { ...letter, to: 'bob@example.com', cc: agent.address } as never)
  await post(service, { ...letter, to: 'bob@example.com' } as never)
  expect((await messagesOf(agent)).map(({ addressed }) => addressed)).toEqual(['bcc', 'cc', 'to'])
  expect((await eventsOf(agent)).map(({ addressed }) => addressed)).toEqual(['to', 'cc', 'bcc'])
  const [sent] = [await send(agent, { channel: 'email', to: ['bob@example.com'], text: 'hi' })]
  expect(sent.body).toMatchObject({ addressed: null })
})

test('a transcript has who wrote what, newest first, within its tokens', async () => {
  const agent = await startAgent()
  const letter = { from: 'Ann Example <ann@example.com>', to: agent.address, subject: 'Long' }
  await post(service, { ...letter, text: 'x'.repeat(2_000), messageId: '<long@example.com>' })
  const [first] = await messagesOf(agent)
  const path = `/agents/${agent.id}/threads/${first!.threadId}/transcript`
  await send(agent, { replyTo: first!.id, text: 'An answer' })
  const quoting = 'Thanks\n\nOn Mon, 3 Nov 2026 at 10:00, Bot <bot@example.com> wrote:\n> An answer'
  await post(service, { ...letter, text: quoting, inReplyTo: '<long@example.com>' })
  const whole = (await agent.api('GET', path)).body
  expect(whole.more).toBe(false)
  expect(whole.entries).toMatchObject([
    { direction: 'inbound', from: 'Ann Example <ann@example.com>', text: 'Thanks', isCut: false },
    { direction: 'outbound', from: expect.any(String), text: 'An answer', isCut: false },
    { text: 'x'.repeat(2_000) },
  ])
  const short = (await agent.api('GET', `${path}?tokens=300`)).body
  expect(short).toMatchObject({ entries: [{ text: 'Thanks' }, { text: 'An answer' }], more: true })
  const query = `query ($id: UUID!) { thread(id: $id) { conversation labels transcript(tokens: 300) { more entries { text } } } }`
  const asked = await agent.api('POST', '/graphql', { query, variables: { id: first!.threadId } })
  expect(asked.body.data.thread.transcript).toEqual({
    ...{ more: true, entries: [{ text: 'Thanks' }, { text: 'An answer' }] },
  })
  await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  const held = (await send(agent, { replyTo: first!.id, text: 'Never said' })).body
  await owner.api('POST', `/agents/${agent.id}/messages/${held.id}/reject`, {})
  expect((await agent.api('GET', path)).body.entries).toMatchObject([
    { status: 'failed', text: 'Never said' },
    { status: 'received', text: 'Thanks' },
    {},
    {},
  ])
  expectFailure(await agent.api('GET', `${path}?tokens=10`), 'invalid_input', /^tokens: /)
  expectFailure(await agent.api('GET', path.replace(first!.threadId, randomUUID())), 'not_found', 'thread')
  const other = await createTestAgent(service, owner)
  expectFailure(await other.api('GET', path), 'forbidden', 'another agent')
})

test('a newest message that is longer than the transcript may be is cut', async () => {
  const agent = await startAgent()
  await post(service, { from: 'ann@example.com', to: agent.address, text: '🙂'.repeat(2_000) })
  const [first] = await messagesOf(agent)
  const { entries } = (
    await agent.api('GET', `/agents/${agent.id}/threads/${first!.threadId}/transcript?tokens=300`)
  ).body
  expect(entries).toMatchObject([{ isCut: true }])
  expect(entries[0].text.length).toBeLessThanOrEqual(1_200)
  expect(entries[0].text).toMatch(/^🙂+\ufffd?$/u)
})

test('a thread lists the labels of its messages', async () => {
  const agent = await startAgent()
  const letter = { from: 'ann@example.com', to: agent.address, subject: 'Labels' }
  await post(service, { ...letter, text: 'one', messageId: '<l1@example.com>' })
  await post(service, { ...letter, text: 'two', inReplyTo: '<l1@example.com>' })
  const [second, first] = await messagesOf(agent)
  const mark = (id: string, labels: string[]) =>
    agent.api('PATCH', `/agents/${agent.id}/messages/${id}`, { labels })
  await mark(first!.id, ['paid', 'big'])
  await mark(second!.id, ['paid', 'new'])
  expect((await agent.api('GET', `/agents/${agent.id}/threads`)).body.items).toMatchObject([
    { labels: ['big', 'new', 'paid'], messageCount: 2 },
  ])
})

test('a conversation with somebody proven takes only those who took part in it, whatever their headers name', async () => {
  const [agent, friend] = [await startAgent(), await createTestAgent(service, owner)]
  await send(friend, {
    channel: 'email',
    to: [agent.address],
    cc: ['bo@example.com'],
    subject: 'Plan',
    text: 'hi',
  })
  const [first] = await until(async () => {
    const messages = await messagesOf(agent)
    return messages.length > 0 && messages
  })
  const { thread } = (await agent.api('GET', `/agents/${agent.id}/messages/${first!.id}`)).body
  await send(agent, { replyTo: first!.id, text: 'Yes', conversation: 'ticket-1' })
  const inReplyTo = thread.messageId
  const answer = async (from: string) => {
    await post(service, {
      from,
      to: agent.address,
      subject: 'Re: Plan',
      text: 'me too',
      inReplyTo,
      references: inReplyTo,
    })
    const [{ threadId, conversation }] = (await messagesOf(agent)) as [Facts]
    return { joins: threadId === first!.threadId, key: conversation }
  }
  expect(await answer('bo@example.com')).toEqual({ joins: true, key: 'ticket-1' })
  expect(await answer('eve@example.com')).toEqual({ joins: false, key: null })
  // Nothing proves that it is the friend.
  expect(await answer(friend.address)).toEqual({ joins: false, key: null })
  const heard = (await eventsOf(agent)).filter(({ type }) => type === 'message.received')
  expect(heard.map(({ conversation }) => conversation)).toEqual([null, 'ticket-1', null, null])
})

test('of strangers alone, mail goes by what it refers to', async () => {
  const agent = await startAgent()
  const letter = { to: agent.address, subject: 'Order', text: 'hi' }
  await post(service, { ...letter, from: 'ann@example.com', messageId: '<order@example.com>' })
  await post(service, { ...letter, from: 'ann@home.example', inReplyTo: '<order@example.com>' })
  const [second, first] = await messagesOf(agent)
  expect(second!.threadId).toBe(first!.threadId)
})
