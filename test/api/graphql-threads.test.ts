import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { type GraphqlAnswer, startGraphql } from '../support/graphql.ts'
import { statementsOf } from '../support/statements.ts'

const service = await startGraphql()
const ours = await service.tenant()
const theirs = await service.tenant()
const agent = await service.agent(ours, 'Inbox')
const sibling = await service.agent(ours, 'Sibling')

const THREAD = `id channel subject participants { address name } messageCount unreadCount lastActivityAt
  lastMessage { text } messages(first: 2) { edges { node { text direction } } pageInfo { hasNextPage } }`
const THREADS = `query ($id: UUID!, $first: Int, $after: String) { agent(id: $id) { unreadCount lastMessage { text }
  threads(first: $first, after: $after) { edges { cursor node { ${THREAD} } } pageInfo { hasNextPage endCursor } } } }`
const SEND = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id threadId } } }'

const inbox = async (variables: object = {}) =>
  (await ours.ask(THREADS, { id: agent.id, ...variables })).data.agent
const errorsOf = ({ errors }: GraphqlAnswer) =>
  errors?.map(({ message, extensions: { code } }) => ({ message, code }))
const idOf = async (text: string): Promise<string> => {
  const query =
    'query ($id: UUID!, $q: String!) { agent(id: $id) { messages(q: $q) { edges { node { id } } } } }'
  return (await ours.ask(query, { id: agent.id, q: text })).data.agent.messages.edges[0].node.id
}

interface PlanNode {
  'Node Type': string
  'Actual Loops': number
  'Index Name'?: string
  Alias?: string
  Plans?: PlanNode[]
}

/** Returns all nodes of a query plan. */
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

beforeAll(async () => {
  for (const word of ['apples', 'pears', 'plums']) await service.letter(agent, ours, `about ${word}`)
  await service.letter(sibling, ours, 'for the sibling')
  const replyTo = await idOf('apples')
  await agent.ask(SEND, { input: { agentId: agent.id, text: 'An answer', replyTo, cc: ['bo@example.com'] } })
})

test('threads have the fields that a list shows, and are ordered by latest activity', async () => {
  const { threads, unreadCount, lastMessage } = await inbox()
  const nodes = threads.edges.map(({ node }: { node: object }) => node)
  expect(nodes.map(({ lastMessage: { text } }: { lastMessage: { text: string } }) => text)).toEqual([
    'An answer',
    'about plums',
    'about pears',
  ])
  expect(nodes[0]).toMatchObject({
    id: await idOf('apples'),
    channel: 'email',
    subject: 'Hello',
    participants: [
      { address: ours.email, name: 'Ann' },
      { address: 'bo@example.com', name: null },
    ],
    messageCount: 2,
    unreadCount: 0,
    messages: {
      edges: [{ node: { text: 'An answer', direction: 'outbound' } }, { node: { text: 'about apples' } }],
    },
  })
  expect(nodes[1]).toMatchObject({
    messageCount: 1,
    unreadCount: 1,
    messages: { pageInfo: { hasNextPage: false } },
  })
  expect(unreadCount).toBe(2)
  expect(lastMessage).toEqual({ text: 'An answer' })
})

test('a preview is the beginning of the text without quoted history, in one line', async () => {
  const reader = await service.agent(ours, 'Previews')
  const query = `query ($id: UUID!) { agent(id: $id) { lastMessage { preview } messages(first: 1) { edges { node { preview } } } } }`
  const read = async () => {
    const { lastMessage, messages } = (await ours.ask(query, { id: reader.id })).data.agent
    expect(messages.edges[0].node).toEqual(lastMessage)
    return lastMessage.preview
  }
  const previewOf = async (text: string) => {
    await service.letter(reader, ours, text)
    return read()
  }
  expect(await previewOf('Yes,\r\n\r\n  please.\r\n\r\nBo wrote:\r\n> Shall I?\r\n')).toBe(
    'Yes, please. Bo wrote: > Shall I?',
  )
  const data = { replyText: 'Yes,\r\n\r\n  please.' }
  await service.deps.prisma.message.updateMany({ where: { agentId: reader.id }, data })
  expect(await read()).toBe('Yes, please.')
  expect(await previewOf('Our offer \u200c\u034f \u200c\u034f of the week')).toBe('Our offer of the week')
  expect(await previewOf('🚚'.repeat(200))).toBe('🚚'.repeat(140))
  expect(await previewOf(`${'\n'.repeat(50)}late`)).toBe('late')
})

test('paging through threads returns each once', async () => {
  const first = (await inbox({ first: 2 })).threads
  const rest = (await inbox({ first: 2, after: first.pageInfo.endCursor })).threads
  const texts = [...first.edges, ...rest.edges].map(({ node }) => node.lastMessage.text)
  expect(texts).toEqual(['An answer', 'about plums', 'about pears'])
  expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false])
})

/** Adds messages to an agent, distributed over the given threads in turn. */
const CONVERSATIONS = `
  insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, thread_id, created_at)
  select gen_random_uuid(), a.workspace_id, a.id, a.id, 'sms', 'inbound', 'received', '+14155550100', 'hi', t.ids[1 + n % cardinality(t.ids)], now() + n * interval '1 ms'
    from agent a, (select $1::uuid[] as ids) t, generate_series(1, $2) n where a.name = $3`

test('listing the threads of an agent looks at each once, and counts in the index, however many messages they have', {
  timeout: 60_000,
}, async () => {
  const { pool, prisma } = service.deps
  const chat = await service.agent(ours, 'Chat')
  const { workspaceId } = await prisma.agent.findUniqueOrThrow({ where: { id: chat.id } })
  const threads = [randomUUID(), randomUUID(), randomUUID()]
  // Most agents have few messages, and PostgreSQL plans as if this one had few too.
  await prisma.agent.createMany({
    data: Array.from({ length: 200 }, () => ({ workspaceId, name: 'Few', icon: 'bot' })),
  })
  await pool.query(CONVERSATIONS, [Array.from({ length: 20 }, () => randomUUID()), 20, 'Few'])
  await pool.query(CONVERSATIONS, [threads, 6_000, 'Chat'])
  await pool.query('analyze message')
  const query = 'query ($id: UUID!) { agent(id: $id) { threads { edges { node { id } } } } }'
  const { result, statements } = await statementsOf(pool, () => ours.ask(query, { id: chat.id }))
  expect(result.data.agent.threads.edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual(
    [0, 2, 1].map((n) => threads[n]),
  )
  const planOf = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values)
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan)
  }
  const places = statements.find((text) => text.includes('seen'))!
  const found = await planOf(places, [[chat.id], [null], 10_000, 21])
  const newest = found.filter(({ Alias }) => Alias === 'l')
  expect(newest.length).toBeGreaterThan(0)
  for (const node of newest) expect(node['Actual Loops']).toBe(3)
  const summary = statements.find((text) => text.includes('message_count'))!
  const read = await planOf(summary, [threads.map(() => chat.id), threads])
  expect(read.filter((node) => node['Node Type'] === 'Index Only Scan')).toMatchObject([
    { 'Index Name': 'message_thread_idx' },
  ])
})

test('a thread can be read by its id or by the id of any of its messages', async () => {
  const { threads } = await inbox()
  const query = `query ($id: UUID!) { thread(id: $id) { ${THREAD} } }`
  const { node } = threads.edges[0]
  expect((await ours.ask(query, { id: node.id })).data.thread).toEqual(node)
  expect((await agent.ask(query, { id: await idOf('answer') })).data.thread).toEqual(node)
  const missing = await ours.ask(query, { id: '00000000-0000-0000-0000-000000000000' })
  expect(errorsOf(missing)).toEqual([{ message: 'There is no thread with this id.', code: 'not_found' }])
  expect(errorsOf(await theirs.ask(query, { id: node.id }))).toEqual(errorsOf(missing))
  expect(errorsOf(await sibling.ask(query, { id: node.id }))).toMatchObject([{ code: 'forbidden' }])
})

test('a thread whose first message was deleted is found by its id, by those who may read it', async () => {
  const query = 'query ($id: UUID!) { thread(id: $id) { id messageCount } }'
  const other = await service.agent(ours, 'Deletes')
  await service.letter(other, ours, 'about cherries')
  const [first] = (await ours.ask(THREADS, { id: other.id })).data.agent.threads.edges
  const id: string = first.node.id
  await other.ask(SEND, { input: { agentId: other.id, text: 'An answer', replyTo: id } })
  const drop = 'mutation ($input: DeleteMessagesInput!) { deleteMessages(input: $input) { __typename } }'
  const deleted = await ours.ask(drop, { input: { agentId: other.id, ids: [id] } })
  expect(deleted.errors).toBeUndefined()
  for (const ask of [ours.ask, other.ask])
    expect((await ask(query, { id })).data.thread).toEqual({ id, messageCount: 1 })
  for (const ask of [theirs.ask, sibling.ask])
    expect(errorsOf(await ask(query, { id }))).toMatchObject([{ code: 'not_found' }])
})

test('a search finds messages by the words of their text', async () => {
  const query =
    'query ($id: UUID!, $q: String!) { agent(id: $id) { messages(q: $q) { edges { node { text } } } } }'
  const texts = async (q: string) =>
    (await ours.ask(query, { id: agent.id, q })).data.agent.messages.edges.map(
      ({ node }: { node: { text: string } }) => node.text,
    )
  expect(await texts('pears')).toEqual(['about pears'])
  expect(await texts('about -pears')).toEqual(['about plums', 'about apples'])
  expect(await texts('sibling')).toEqual([])
  expect(errorsOf(await ours.ask(query, { id: agent.id, q: 'x'.repeat(501) }))).toEqual([
    { message: 'q: must be 1 to 500 characters long', code: 'invalid_input' },
  ])
})

test('an agent that a query reaches by several paths has the same data on each', async () => {
  const PAGES = `unreadCount threads { edges { node { id } } } events { edges { node { id } } pageInfo { hasNextPage } }`
  const query = `query ($id: UUID!) { agent(id: $id) { ${PAGES} messages { edges { node { agent { ${PAGES} } } } } } }`
  const { messages, ...own } = (await ours.ask(query, { id: agent.id })).data.agent
  expect(own).toMatchObject({ unreadCount: 2, events: { edges: [{}, {}, {}] } })
  expect(messages.edges.map(({ node }: { node: { agent: object } }) => node.agent)).toEqual(
    Array(4).fill(own),
  )
})
