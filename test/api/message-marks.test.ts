import { randomUUID } from 'node:crypto'
import { createClient } from 'graphql-sse'
import { beforeAll, describe, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Labels, read marks and the filters of lists that go with them. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService({
    environment: { RATE_LIMIT: '100000' },
    world: { resolver: fakeResolver(proves('example.com')) },
  })
  owner = await service.workspace()
  agent = await createAgent()
  path = `/agents/${agent.id}/messages`
})

const createAgent = async () => {
  const created = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${created.id}/access/email`, { senders: ['*@example.com'] })
  return created
}
const letter = (more: object = {}, to = agent) =>
  receive(service, to, { from: 'ann@example.com', to: to.address, subject: 'Order', text: 'hi', ...more })

const mark = (id: string, changes: unknown, by: Pick<Tenant, 'api'> = owner) =>
  by.api('PATCH', `${path}/${id}`, changes)
const markMany = (changes: unknown, by: Pick<Tenant, 'api'> = owner) => by.api('PATCH', path, changes)
const labelsOf = async (id: string): Promise<string[]> =>
  (await owner.api('GET', `${path}/${id}`)).body.labels

const graphql = async (query: string, variables: object, by: Pick<Tenant, 'api'> = owner) =>
  (await by.api('POST', '/graphql', { query, variables })).body

describe('labels', () => {
  test('are trimmed, distinct, kept in their order, and shared by members and the agent', async () => {
    const { id, labels } = await letter()
    expect(labels).toEqual([])
    const set = await mark(id, { labels: [' to do ', 'Ann', 'to do', 'ann', 'Café', 'Cafe\u0301'] })
    expect(set).toMatchObject({ status: 200, body: { id, labels: ['to do', 'Ann', 'ann', 'Café'] } })
    expect((await agent.api('GET', `${path}/${id}`)).body).toEqual(set.body)
    expect((await mark(id, { labels: ['done'] }, agent)).body.labels).toEqual(['done'])
    expect((await mark(id, {})).body.labels).toEqual(['done'])
    expect((await mark(id, { labels: [] })).body.labels).toEqual([])
  })

  test.each([
    [{ labels: [''] }, /^labels\[0\]: must be 1 to 64 characters/],
    [{ labels: ['ok', '   '] }, /^labels\[1\]: must be 1 to 64 characters/],
    [{ labels: ['x'.repeat(65)] }, /^labels\[0\]: must be 1 to 64 characters/],
    [{ labels: ['a\nb'] }, /^labels\[0\]: must not contain line breaks/],
    [{ labels: ['a\0b'] }, /^labels\[0\]: must not contain NUL/],
    [{ labels: ['\ud800'] }, /^labels\[0\]: must not contain an unpaired surrogate/],
    [{ labels: [7] }, /^labels\[0\]: must be a string/],
    [{ labels: 'orders' }, /^labels: must be an array/],
    [{ labels: Array.from({ length: 21 }, (_, n) => `${n}`) }, /^labels: must contain at most 20 labels/],
    [{ read: 'yes' }, /^read: must be a boolean/],
    [{ addLabels: ['a'] }, /^addLabels: is not a known field/],
  ])('%j is refused with the name of the field', async (changes, says) => {
    const { id } = await letter()
    expectFailure(await mark(id, changes), 'invalid_input', says)
    expect(await labelsOf(id)).toEqual([])
  })

  test('of a message that does not exist, or is another agent’s, are not found', async () => {
    const other = await createTestAgent(service, owner, 'Other')
    const { id } = await letter()
    for (const at of [`${path}/${randomUUID()}`, `/agents/${other.id}/messages/${id}`])
      expectFailure(await owner.api('PATCH', at, { labels: ['a'] }), 'not_found', /no message with this id/)
  })
})

describe('marking many messages', () => {
  test('adds and removes labels and marks as read, and returns the result in the order of the ids', async () => {
    const [one, other] = [await letter(), await letter()]
    await mark(one.id, { labels: ['new', 'orders'] })
    const marked = await markMany({
      ids: [other.id, one.id, other.id],
      addLabels: ['orders', 'ann'],
      removeLabels: ['new'],
      read: true,
    })
    const readAt = expect.stringMatching(/^\d{4}-/)
    expect(marked).toMatchObject({ status: 200 })
    expect(marked.body).toEqual([
      { id: other.id, labels: ['orders', 'ann'], readAt, metadata: {} },
      { id: one.id, labels: ['orders', 'ann'], readAt, metadata: {} },
      { id: other.id, labels: ['orders', 'ann'], readAt, metadata: {} },
    ])
  })

  test('changes all or none', async () => {
    const [full, empty] = [await letter(), await letter()]
    const many = Array.from({ length: 20 }, (_, n) => `label ${n}`)
    await mark(full.id, { labels: many })
    expectFailure(
      await markMany({ ids: [empty.id, full.id], addLabels: ['one more'] }),
      'invalid_input',
      new RegExp(`^addLabels: would give the message ${full.id} more than 20 labels`),
    )
    expectFailure(
      await markMany({ ids: [empty.id, randomUUID()], addLabels: ['one'] }),
      'invalid_input',
      /^ids\[1\]: is not a message of this agent/,
    )
    expect(await labelsOf(empty.id)).toEqual([])
    await markMany({ ids: [full.id], addLabels: ['one more'], removeLabels: ['label 0'] })
    expect(await labelsOf(full.id)).toEqual([...many.slice(1), 'one more'])
  })

  test('at once loses no label, and deadlocks with nobody', async () => {
    const ids = [(await letter()).id, (await letter()).id, (await letter()).id]
    const words = Array.from({ length: 12 }, (_, n) => `word ${n}`)
    const answers = await Promise.all(
      words.map((word, n) => markMany({ ids: n % 2 ? ids : ids.toReversed(), addLabels: [word] })),
    )
    expect(answers.map(({ status }) => status)).toEqual(words.map(() => 200))
    for (const id of ids) expect((await labelsOf(id)).sort()).toEqual([...words].sort())
  })

  test.each([
    [{ ids: [], read: true }, /^ids: must contain 1 to 100 ids/],
    [{ ids: Array.from({ length: 101 }, () => randomUUID()) }, /^ids: must contain 1 to 100 ids/],
    [{ ids: ['x'] }, /^ids\[0\]: must be a UUID/],
    [{ read: true }, /^ids: is required/],
    [{ ids: [randomUUID()], addLabels: ['a'], removeLabels: ['a'] }, /^removeLabels: must not contain/],
    [{ ids: [randomUUID()], labels: ['a'] }, /^labels: is not a known field/],
  ])('with %j is refused with the name of the field', async (changes, says) => {
    expectFailure(await markMany(changes), 'invalid_input', says)
  })
})

describe('read marks', () => {
  const THREADS =
    'query ($id: UUID!) { agent(id: $id) { unreadCount threads { edges { node { id unreadCount } } } } }'
  const counts = async (of: TestAgent) => {
    const { unreadCount, threads } = (await graphql(THREADS, { id: of.id })).data.agent
    return [
      unreadCount,
      ...threads.edges.map(({ node }: { node: { unreadCount: number } }) => node.unreadCount),
    ]
  }

  test('are set explicitly, keep their time, and count in threads and agents', async () => {
    const own = await createAgent()
    const at = `/agents/${own.id}/messages`
    const first = await letter({ messageId: '<1@example.com>' }, own)
    await letter({ inReplyTo: '<1@example.com>' }, own)
    await letter({}, own)
    expect(await counts(own)).toEqual([3, 1, 2])
    expect((await own.api('GET', `${at}/${first.id}`)).body.readAt).toBeNull()
    const { readAt } = (await own.api('PATCH', `${at}/${first.id}`, { read: true })).body
    expect(Date.parse(readAt)).not.toBeNaN()
    expect((await owner.api('PATCH', `${at}/${first.id}`, { read: true })).body.readAt).toBe(readAt)
    expect(await counts(own)).toEqual([2, 1, 1])
    expect((await owner.api('PATCH', `${at}/${first.id}`, { read: false })).body.readAt).toBeNull()
    expect(await counts(own)).toEqual([3, 1, 2])
  })

  test('are set by a reply on the message that it answers, with and without an idempotency key', async () => {
    const own = await createAgent()
    const at = `/agents/${own.id}/messages`
    for (const headers of [{}, { 'Idempotency-Key': randomUUID() }]) {
      const [unanswered, answered] = [await letter({}, own), await letter({}, own)]
      const sent = await own.api('POST', at, { replyTo: answered.id, text: 'ok' }, headers)
      expect(sent).toMatchObject({ status: 201, body: { readAt: null } })
      expect((await own.api('GET', `${at}/${answered.id}`)).body.readAt).toBe(sent.body.createdAt)
      expect((await own.api('GET', `${at}/${unanswered.id}`)).body.readAt).toBeNull()
    }
  })

  test('and labels are told to subscribers', async () => {
    const { id } = await letter()
    const client = createClient({
      url: `${service.http}/graphql`,
      headers: { Authorization: `Bearer ${owner.token}` },
    })
    const heard: { labels: string[]; readAt: string | null }[] = []
    const stop = client.subscribe<{ messageChanged: (typeof heard)[number] }>(
      {
        query: 'subscription ($id: UUID!) { messageChanged(agentId: $id) { labels readAt } }',
        variables: { id: agent.id },
      },
      {
        next: ({ data }) => heard.push(data!.messageChanged),
        error: () => undefined,
        complete: () => undefined,
      },
    )
    let n = 0
    await until(async () => {
      await mark(id, { labels: [`round ${n++}`] })
      return heard.length > 0
    })
    await mark(id, { labels: ['last'], read: true })
    await until(() => heard.at(-1)?.labels[0] === 'last')
    expect(heard.at(-1)).toEqual({ labels: ['last'], readAt: expect.any(String) })
    stop()
    client.dispose()
  })
})

describe('lists', () => {
  let own: TestAgent
  let named: Record<'labelled' | 'read' | 'file' | 'refused' | 'sent', string>
  const only = async (query: string): Promise<string[]> => {
    const { items } = (await own.api('GET', `/agents/${own.id}/messages?${query}`)).body
    return items
      .map(({ id }: { id: string }) => Object.entries(named).find(([, one]) => one === id)![0])
      .sort()
  }
  const LIST = `query ($id: UUID!, $label: String, $unread: Boolean, $refusal: Refusal, $hasAttachment: Boolean, $from: String) {
    agent(id: $id) { messages(label: $label, unread: $unread, refusal: $refusal, hasAttachment: $hasAttachment, from: $from) {
      edges { node { id labels readAt } } } } }`

  beforeAll(async () => {
    own = await createAgent()
    const at = `/agents/${own.id}/messages`
    const labelled = (await letter({ from: 'bo@example.com', subject: 'Invoice' }, own)).id
    const read = (await letter({}, own)).id
    const file = (await letter({ attachments: [{ filename: 'a.txt', content: 'a' }] }, own)).id
    const refused = (await letter({ from: 'eve_1@elsewhere.org' }, own)).id
    const sent = (await own.api('POST', at, { channel: 'email', to: ['bo@example.com'], text: 'hi' })).body.id
    await own.api('PATCH', `${at}/${labelled}`, { labels: ['orders', '100%'] })
    await own.api('PATCH', `${at}/${read}`, { read: true })
    named = { labelled, read, file, refused, sent }
  })

  test.each([
    ['label=orders', ['labelled']],
    ['label=Orders', []],
    ['label=100%25&q=invoice', ['labelled']],
    ['unread=true', ['file', 'labelled']],
    ['unread=false', ['read', 'refused', 'sent']],
    ['unread=true&q=invoice', ['labelled']],
    ['refusal=sender', ['refused']],
    ['refusal=spam', []],
    ['hasAttachment=true', ['file']],
    ['hasAttachment=false&direction=inbound', ['labelled', 'read', 'refused']],
    ['from=BO@example.com', ['labelled']],
    ['from=*@example.com', ['file', 'labelled', 'read']],
    ['from=eve_1@elsewhere.org', ['refused']],
    ['from=eveX1@elsewhere.org', []],
    ['from=%25@elsewhere.org', []],
  ])('with ?%s contain %j', async (query, names) => {
    expect(await only(query)).toEqual(names)
  })

  test.each([
    ['label=', /^label: must be 1 to 64/],
    ['unread=1', /^unread: must be one of true, false/],
    ['hasAttachment=yes', /^hasAttachment: must be one of true, false/],
    ['refusal=no', /^refusal: must be one of/],
    ['from=', /^from: must be 1 to 320/],
  ])('with ?%s are refused with the name of the field', async (query, says) => {
    expectFailure(await own.api('GET', `/agents/${own.id}/messages?${query}`), 'invalid_input', says)
  })

  test.each([
    [{ label: 'orders' }, ['labelled']],
    [{ unread: true, from: '*@EXAMPLE.com' }, ['file', 'labelled']],
    [{ refusal: 'sender' }, ['refused']],
    [{ hasAttachment: true }, ['file']],
  ])('in GraphQL with %j contain %j', async (variables, names) => {
    const { edges } = (await graphql(LIST, { id: own.id, ...variables })).data.agent.messages
    expect(edges.map(({ node }: { node: { id: string } }) => node.id).sort()).toEqual(
      names.map((name) => named[name as keyof typeof named]).sort(),
    )
  })

  test('of threads can be limited to those with unread messages or a label', async () => {
    const query = `query ($id: UUID!, $label: String, $unread: Boolean) { agent(id: $id) {
      threads(label: $label, unread: $unread) { edges { node { id } } } } }`
    const threads = async (variables: object) =>
      (await graphql(query, { id: own.id, ...variables })).data.agent.threads.edges.map(
        ({ node }: { node: { id: string } }) => node.id,
      )
    expect(await threads({ label: 'orders' })).toEqual([named.labelled])
    expect(await threads({ unread: true })).toEqual([named.file, named.labelled])
    expect(await threads({ unread: false })).toEqual([named.sent, named.refused, named.read])
    expect((await graphql(query, { id: own.id, label: '' })).errors[0].message).toMatch(/^label: must be/)
  })

  test('of unread and labelled messages are read from their own indexes', async () => {
    await service.db.pool.query(
      `insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, thread_id, read_at)
       select gen_random_uuid(), workspace_id, id, id, 'sms', 'inbound', 'received', '+14155550100', 'hi', gen_random_uuid(), now()
         from agent, generate_series(1, 3000) where id = $1`,
      [(await createAgent()).id],
    )
    await service.db.pool.query('analyze message')
    for (const [condition, index] of [
      [`status = 'received' and read_at is null`, 'message_unread_idx'],
      [`labels <> '{}' and labels @> array['a']`, 'message_labelled_idx'],
    ]) {
      const { rows } = await service.db.pool.query(
        `explain select id from message where agent_id = $1 and ${condition} order by created_at desc, id desc limit 21`,
        [randomUUID()],
      )
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(index)
    }
  })
})

test('GraphQL marks one message and many, with REST’s rules', async () => {
  const [one, other] = [await letter(), await letter()]
  const single = `mutation ($input: MarkMessageInput!) { markMessage(input: $input) { message { labels readAt } } }`
  const many = `mutation ($input: MarkMessagesInput!) { markMessages(input: $input) { marks { id labels readAt } } }`
  const input = { agentId: agent.id, messageId: one.id, labels: [' a ', 'b'], read: true }
  expect((await graphql(single, { input })).data.markMessage.message).toEqual({
    labels: ['a', 'b'],
    readAt: expect.any(String),
  })
  const changes = {
    agentId: agent.id,
    ids: [one.id, other.id],
    addLabels: ['c'],
    removeLabels: ['a'],
    read: false,
  }
  expect((await graphql(many, { input: changes })).data.markMessages.marks).toEqual([
    { id: one.id, labels: ['b', 'c'], readAt: null },
    { id: other.id, labels: ['c'], readAt: null },
  ])
  expect((await graphql(single, { input: { ...input, labels: [''] } })).errors[0].message).toMatch(
    /^labels\[0\]: must be 1 to 64 characters/,
  )
})
