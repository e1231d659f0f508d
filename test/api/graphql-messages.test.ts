import { beforeAll, expect, test } from 'vitest'
import { type GraphqlAnswer, startGraphql } from '../support/graphql.ts'
import { statementsOf } from '../support/statements.ts'

const service = await startGraphql()
const ours = await service.tenant()
const agent = await service.agent(ours, 'Inbox')
const other = await service.agent(ours, 'Other')

const MESSAGE = `id addressId channel direction counterpart counterpartName to cc subject text replyText
  attachments { name type size } thread { messageId references } status refusal admission error checks { name verdict detail } createdAt`
const LIST = `query ($id: UUID!, $first: Int, $after: String, $direction: Direction, $channel: AddressChannel, $status: MessageStatus, $thread: UUID, $since: DateTime, $until: DateTime) {
  agent(id: $id) { messages(first: $first, after: $after, direction: $direction, channel: $channel, status: $status, thread: $thread, since: $since, until: $until) {
    edges { cursor node { ${MESSAGE} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`

interface Node {
  id: string
  text: string
  createdAt: string
}
const list = async (variables: object = {}, id = agent.id) =>
  (await ours.ask(LIST, { id, ...variables })).data.agent.messages
const nodesOf = ({ edges }: { edges: { node: Node }[] }): Node[] => edges.map(({ node }) => node)
const textsOf = (page: { edges: { node: Node }[] }) => nodesOf(page).map(({ text }) => text)
const errorsOf = ({ errors }: GraphqlAnswer) =>
  errors?.map(({ message, extensions: { code } }) => ({ message, code }))

const SEND = `mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { ${MESSAGE} } } }`

beforeAll(async () => {
  for (let n = 1; n <= 5; n++) await service.letter(agent, ours, `letter ${n}`)
  await service.letter(other, ours, 'for the other')
})

test('a received message has all fields', async () => {
  const [newest] = nodesOf(await list({ first: 1 }))
  expect(newest).toMatchObject({
    channel: 'email',
    direction: 'inbound',
    counterpart: ours.email,
    counterpartName: 'Ann',
    to: [agent.address],
    cc: [],
    subject: 'Hello',
    text: 'letter 5',
    replyText: 'letter 5',
    attachments: [{ name: 'a.txt', type: 'text/plain', size: 3 }],
    thread: { references: [] },
    status: 'received',
    refusal: null,
    admission: 'team',
    error: null,
  })
  const one = await ours.ask(`query ($id: UUID!) { message(id: $id) { ${MESSAGE} agent { id name } } }`, {
    id: newest?.id,
  })
  expect(one.data.message).toEqual({ ...newest, agent: { id: agent.id, name: 'Inbox' } })
  expect(one.data.message.checks.map(({ name }: { name: string }) => name)).toEqual(['dmarc', 'admission'])
  expect(one.data.message.thread.messageId).toMatch(/^<.+@example\.com>$/)
})

test('a query that is repeated until it is compiled has the same answers', async () => {
  const query = `query ($id: UUID!, $first: Int) { agent(id: $id) {
    a: messages(first: $first) { edges { cursor node { id text attachments { name url } } } pageInfo { endCursor } }
    b: messages(first: 2) { edges { node { id subject recipients { address } } } } } }`
  const ask = async (first: number) => (await ours.ask(query, { id: agent.id, first })).data.agent
  const before = await ask(3)
  expect(before.a.edges[0].node.attachments).toMatchObject([{ name: 'a.txt' }])
  for (let run = 0; run < 30; run++) expect(await ask(3)).toEqual(before)
  expect((await ask(1)).a.edges).toEqual(before.a.edges.slice(0, 1))
})

test('a message has the URLs of its raw form and its attachments', async () => {
  const selection = 'id rawUrl attachments { url }'
  const page = await ours.ask(
    `query ($id: UUID!) { agent(id: $id) { messages(first: 1) { edges { node { ${selection} } } } } }`,
    {
      id: agent.id,
    },
  )
  const { node } = page.data.agent.messages.edges[0]
  const path = `http://localhost/agents/${agent.id}/messages/${node.id}`
  expect(node).toEqual({
    id: node.id,
    rawUrl: `${path}/raw`,
    attachments: [{ url: `${path}/attachments/0` }],
  })
  const one = await ours.ask(`query ($id: UUID!) { message(id: $id) { ${selection} } }`, { id: node.id })
  expect(one.data.message).toEqual(node)
})

test('paging through messages returns each once, newest first', async () => {
  const first = await list({ first: 2 })
  expect(textsOf(first)).toEqual(['letter 5', 'letter 4'])
  expect(first.pageInfo).toEqual({
    hasNextPage: true,
    hasPreviousPage: false,
    startCursor: first.edges[0].cursor,
    endCursor: first.edges[1].cursor,
  })
  const second = await list({ first: 3, after: first.pageInfo.endCursor })
  expect(textsOf(second)).toEqual(['letter 3', 'letter 2', 'letter 1'])
  expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
  expect(await list({ after: second.pageInfo.endCursor })).toEqual({
    edges: [],
    pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
  })
})

test('messages can be filtered by direction, channel, status and time', async () => {
  const all = nodesOf(await list())
  const middle = all[2]!
  expect(textsOf(await list({ direction: 'outbound', status: 'refused' }))).toEqual([])
  expect(textsOf(await list({ channel: 'sms' }))).toEqual([])
  expect(textsOf(await list({ direction: 'inbound', channel: 'email', status: 'received' }))).toHaveLength(
    all.length,
  )
  expect(nodesOf(await list({ since: middle.createdAt })).map(({ id }) => id)).toContain(middle.id)
  expect(nodesOf(await list({ until: '2020-01-01T00:00:00+01:00' }))).toEqual([])
})

test('a reply is sent and listed in the thread of the original message', async () => {
  const [original] = nodesOf(await list({ first: 1, direction: 'inbound' }))
  const sent = await agent.ask(SEND, {
    input: { agentId: agent.id, text: 'My answer', replyTo: original?.id },
  })
  expect(sent.errors).toBeUndefined()
  const { message } = sent.data.sendMessage
  expect(message).toMatchObject({
    status: 'sending',
    direction: 'outbound',
    to: [ours.email],
    subject: 'Re: Hello',
    text: 'My answer',
    attachments: [],
  })
  expect(textsOf(await list({ thread: original?.id }))).toEqual(['My answer', 'letter 5'])
  expect(textsOf(await list({ thread: message.id, direction: 'outbound' }))).toEqual(['My answer'])
  const forwarded = await agent.ask(SEND, {
    input: { agentId: agent.id, text: 'See', forward: original?.id, to: ['bob@example.com'] },
  })
  expect(forwarded.data.sendMessage.message).toMatchObject({
    subject: 'Fwd: Hello',
    attachments: [{ name: 'a.txt', size: 3 }],
  })
})

test('filtering by a thread of another agent fails with the same error as in REST', async () => {
  const [foreign] = nodesOf(await list({}, other.id))
  const refused = await ours.ask(LIST, { id: agent.id, thread: foreign?.id })
  expect(errorsOf(refused)).toEqual([
    { message: 'thread: is not a message of this agent', code: 'invalid_input' },
  ])
})

test('two message lists of one agent in one query return their own results', async () => {
  const { data, errors } = await ours.ask(
    `query ($id: UUID!) { agent(id: $id) {
      a: messages(first: 1, direction: inbound) { edges { node { text } } }
      b: messages(first: 2, direction: inbound) { edges { node { id subject attachments { name } } } pageInfo { hasNextPage } } } }`,
    { id: agent.id },
  )
  expect(errors).toBeUndefined()
  expect(textsOf(data.agent.a)).toEqual(['letter 5'])
  expect(data.agent.b.edges).toHaveLength(2)
  expect(data.agent.b.edges[0].node).toEqual({
    id: expect.any(String),
    subject: 'Hello',
    attachments: [{ name: 'a.txt' }],
  })
})

test('a message that is deleted while its page is loaded is left out of the page', async () => {
  const { prisma } = service.deps
  const inbox = await service.agent(ours, 'Deleted from')
  for (let n = 1; n <= 3; n++) await service.letter(inbox, ours, `letter ${n}`)
  service.deps.prisma = prisma.$extends({
    query: {
      message: {
        async findMany({ args, query }) {
          await prisma.message.deleteMany({ where: { agentId: inbox.id, text: 'letter 3' } })
          return query(args)
        },
      },
    },
  }) as unknown as typeof prisma
  const query = `query ($id: UUID!) { agent(id: $id) { messages(first: 2) { edges { node { text attachments { name } agent { name } recipients { address } } }
    pageInfo { hasNextPage } } } }`
  const { data, errors } = await ours.ask(query, { id: inbox.id })
  service.deps.prisma = prisma
  expect(errors).toBeUndefined()
  const node = {
    text: 'letter 2',
    attachments: [{ name: 'a.txt' }],
    agent: { name: 'Deleted from' },
    recipients: [],
  }
  expect(data.agent.messages).toEqual({ edges: [{ node }], pageInfo: { hasNextPage: true } })
})

test('the total number of list entries that a query requests is limited across all agents', async () => {
  const many = await service.tenant()
  const first = await service.agent(many, 'First')
  const { workspaceId } = await service.deps.prisma.agent.findUniqueOrThrow({ where: { id: first.id } })
  const agents = Array.from({ length: 260 }, (_, n) => ({ workspaceId, name: `Agent ${n}`, icon: 'bot' }))
  await service.deps.prisma.agent.createMany({ data: agents })
  const asked = async (fields: string) =>
    (await many.ask(`{ agents { ${fields} } }`)).errors?.map(({ message }) => message)
  const tooMuch = ['query: requests too much at once (its lists have more than 25000 entries in total)']
  const edges = '{ edges { cursor } }'
  expect(await asked(`messages(first: 90) ${edges}`)).toBeUndefined()
  expect(await asked(`messages(first: 100) ${edges}`)).toEqual(tooMuch)
  expect(await asked(`messages(first: 60) ${edges} events(first: 60) ${edges}`)).toEqual(tooMuch)
  expect(await asked(`messages(first: 1, q: "word") ${edges}`)).toEqual(tooMuch)
  expect(await asked(`threads(first: 20) ${edges}`)).toEqual(tooMuch)
  expect(await asked('unreadCount lastMessage { text }')).toBeUndefined()
})

test('the number of SQL statements does not grow with the number of agents', async () => {
  const statements = async (tenant: typeof ours, query: string) => {
    const { result, statements } = await statementsOf(service.deps.pool, () => tenant.ask(query))
    expect(result.errors).toBeUndefined()
    return { count: statements.length, agents: result.data.agents }
  }
  const query = `{ agents { name addresses { value } access { email { admit } } webhooks { url } tokens { id } listeners { kind }
    messages(first: 2) { edges { node { text attachments { name } agent { name } } } } } }`
  const one = await service.tenant()
  const few = await service.tenant()
  const single = await service.agent(one, 'Single')
  await service.letter(single, one, 'hello')
  for (let n = 0; n < 6; n++) await service.letter(await service.agent(few, `Agent ${n}`), few, `hello ${n}`)
  for (const { token } of [one, few]) await service.know(token)
  const alone = await statements(one, query)
  const together = await statements(few, query)
  expect(together.agents).toHaveLength(6)
  expect(
    together.agents.map(({ messages }: { messages: { edges: { node: Node }[] } }) => textsOf(messages)),
  ).toEqual(Array.from({ length: 6 }, (_, n) => [`hello ${n}`]))
  expect(together.count).toBe(alone.count)
  expect(alone.count).toBeGreaterThan(5)
})
