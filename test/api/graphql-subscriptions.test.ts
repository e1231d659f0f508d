import { randomUUID } from 'node:crypto'
import { createClient, type ExecutionResult } from 'graphql-sse'
import { expect, test } from 'vitest'
import { startGraphql, type TestTenant } from '../support/graphql.ts'
import { until } from '../support/until.ts'

const service = await startGraphql()
const ours = await service.tenant()

const QUERY = `subscription ($id: UUID!, $after: SafeInt, $connectionId: UUID) {
  messageReceived(agentId: $id, after: $after, connectionId: $connectionId) {
    id type channel messageId createdAt text sender { id kind name email phone } message { id text status } } }`

// biome-ignore lint/suspicious/noExplicitAny: the schema promises the shape, the tests check it
type Result = ExecutionResult<any, { code?: string; nextId?: number }>

/** Reads a subscription with the graphql-sse client, and records all of its results. */
const follow = (token: string, variables: object, { single = false, query = QUERY } = {}) => {
  const client = createClient({
    url: `${service.base}/graphql${single ? '/stream' : ''}`,
    singleConnection: single,
    headers: { Authorization: `Bearer ${token}` },
    retryAttempts: 0,
  })
  const results: Result[] = []
  const state = { completed: false, failure: undefined as unknown }
  const stop = client.subscribe(
    { query, variables: { ...variables } },
    {
      next: (result) => results.push(result as Result),
      error: (error) => (state.failure = error),
      complete: () => (state.completed = true),
    },
  )
  const events = () => results.flatMap(({ data }) => (data?.messageReceived ? [data.messageReceived] : []))
  return {
    state,
    stop,
    events,
    ids: () => events().map(({ id }) => id),
    texts: () => events().map(({ message }) => message?.text),
    errors: () =>
      results
        .flatMap(({ errors }) => errors ?? [])
        .map(({ message, extensions }) => ({ message, ...extensions })),
    /** Waits until the server has opened it, so that it receives all later events. */
    open: async (before: number) => {
      await until(() => openNow() > before)
    },
  }
}

const openNow = () => service.graphql.size

const opened = async (token: string, variables: object, options?: { single?: boolean; query?: string }) => {
  const before = openNow()
  const reader = follow(token, variables, options)
  await reader.open(before)
  return reader
}

const modes = [
  { name: 'distinct connections on /graphql', single: false },
  { name: 'a single connection on /graphql/stream', single: true },
]

test.each(modes)('over $name, events arrive live and with their messages', async ({ single }) => {
  const agent = await service.agent(ours)
  const reader = await opened(ours.token, { id: agent.id }, { single })
  await service.letter(agent, ours, 'first')
  await service.letter(agent, ours, 'second')
  await until(() => reader.events().length === 2)
  expect(reader.texts()).toEqual(['first', 'second'])
  expect(reader.events()[0]).toMatchObject({
    id: 1,
    type: 'message.received',
    channel: 'email',
    text: null,
    sender: { id: ours.member, kind: 'member', name: 'Ann', email: ours.email, phone: null },
    message: { status: 'received' },
  })
  expect(reader.events()[0].message.id).toBe(reader.events()[0].messageId)
  const before = openNow()
  reader.stop()
  await until(() => openNow() < before)
})

test.each(modes)('over $name, `after` resumes without loss or repetition', async ({ single }) => {
  const agent = await service.agent(ours)
  for (let n = 1; n <= 3; n++) await service.letter(agent, ours, `letter ${n}`)
  const reader = await opened(agent.token, { id: agent.id, after: 1 }, { single })
  await service.letter(agent, ours, 'letter 4')
  await until(() => reader.events().length === 3)
  expect(reader.ids()).toEqual([2, 3, 4])
  const before = openNow()
  reader.stop()
  await until(() => openNow() < before)
  const beginning = await opened(agent.token, { id: agent.id, after: 0 }, { single })
  await until(() => beginning.events().length === 4)
  expect(beginning.texts()).toEqual(['letter 1', 'letter 2', 'letter 3', 'letter 4'])
  beginning.stop()
})

test('several subscriptions can share one connection and end independently', async () => {
  const [one, other] = [await service.agent(ours), await service.agent(ours)]
  const client = createClient({
    url: `${service.base}/graphql/stream`,
    singleConnection: true,
    headers: { Authorization: `Bearer ${ours.token}` },
  })
  const texts: string[] = []
  const listen = (id: string) =>
    client.subscribe<{ messageReceived: { message: { text: string } } }>(
      { query: QUERY, variables: { id } },
      {
        next: ({ data }) => texts.push(data!.messageReceived.message.text),
        error: () => undefined,
        complete: () => undefined,
      },
    )
  const before = openNow()
  const stop = listen(one.id)
  listen(other.id)
  await until(() => openNow() === before + 2)
  await service.letter(one, ours, 'to one')
  await until(() => texts.includes('to one'))
  stop()
  await until(() => openNow() === before + 1)
  await service.letter(one, ours, 'unheard')
  await service.letter(other, ours, 'to the other')
  await until(() => texts.includes('to the other'))
  expect(texts).toEqual(['to one', 'to the other'])
  client.dispose()
  await until(() => openNow() === before)
})

test('queries can be executed over the single connection', async () => {
  const client = createClient({
    url: `${service.base}/graphql/stream`,
    singleConnection: true,
    headers: { Authorization: `Bearer ${ours.token}` },
  })
  const results: unknown[] = []
  for await (const result of client.iterate({ query: '{ viewer { kind } }' })) results.push(result)
  expect(results).toEqual([{ data: { viewer: { kind: 'member' } } }])
  client.dispose()
})

test.each(modes)(
  'over $name, an agent of another workspace is not_found, and another agent is forbidden to an agent',
  async ({ single }) => {
    const theirs = await service.tenant()
    const foreign = await service.agent(theirs)
    const own = await service.agent(ours)
    const sibling = await service.agent(ours)
    const errorsFor = async (token: string, id: string) => {
      const reader = follow(token, { id }, { single })
      await until(() => reader.errors().length > 0)
      return reader.errors()
    }
    expect(await errorsFor(ours.token, foreign.id)).toMatchObject([
      { code: 'not_found', message: 'There is no agent with this id.' },
    ])
    expect(await errorsFor(ours.token, randomUUID())).toEqual(await errorsFor(ours.token, foreign.id))
    expect(await errorsFor(own.token, sibling.id)).toMatchObject([{ code: 'forbidden' }])
  },
)

test('a position that is no longer stored is reported once, and the subscription continues after it', async () => {
  const agent = await service.agent(ours)
  for (let n = 1; n <= 3; n++) await service.letter(agent, ours, `letter ${n}`)
  await service.deps.pool.query('delete from event where agent_id = $1 and id <= 2', [agent.id])
  await service.deps.pool.query('update event_log set horizon = 2 where agent_id = $1', [agent.id])
  const reader = await opened(ours.token, { id: agent.id, after: 0 })
  await until(() => reader.events().length === 1)
  expect(reader.errors()).toMatchObject([{ code: 'not_found', nextId: 3 }])
  expect(reader.ids()).toEqual([3])
  await service.letter(agent, ours, 'letter 4')
  await until(() => reader.events().length === 2)
  expect(reader.errors()).toHaveLength(1)
  reader.stop()
})

test.each(modes)(
  'over $name, revoking the token ends the subscription within a second',
  async ({ single }) => {
    const agent = await service.agent(ours)
    const reader = await opened(agent.token, { id: agent.id }, { single })
    await ours.ask(
      'mutation ($id: UUID!, $t: UUID!) { revokeToken(input: { agentId: $id, tokenId: $t }) { tokenId } }',
      {
        id: agent.id,
        t: agent.tokenId,
      },
    )
    await until(() => reader.state.completed)
    expect(reader.errors()).toMatchObject([{ code: 'unauthorized', message: 'This token is not valid.' }])
  },
)

test.each(modes)(
  'over $name, a token that is deleted without a notification ends the subscription',
  async ({ single }) => {
    const agent = await service.agent(ours)
    const reader = await opened(agent.token, { id: agent.id }, { single })
    await service.deps.pool.query('delete from token where id = $1', [agent.tokenId])
    await until(() => reader.state.completed)
    expect(reader.errors()).toMatchObject([{ code: 'unauthorized', message: 'This token is not valid.' }])
  },
)

test('a stream over a single connection says why it ends, also if it notices first', async () => {
  const agent = await service.agent(ours)
  const reader = await opened(agent.token, { id: agent.id }, { single: true })
  await service.deps.prisma.$transaction(
    async (tx) => {
      // Keeps the check of subscriptions waiting, which reads event_log, but not that of streams.
      await tx.$executeRaw`lock table event_log in access exclusive mode`
      await service.deps.pool.query('delete from token where id = $1', [agent.tokenId])
      await until(() => reader.state.completed || reader.state.failure !== undefined)
    },
    { timeout: 80_000 },
  )
  expect(reader.errors()).toMatchObject([{ code: 'unauthorized' }])
})

test('a subscription ends when its token expires', async () => {
  const agent = await service.agent(ours)
  const { data } = await ours.ask(
    'mutation ($id: UUID!, $at: DateTime) { createToken(input: { agentId: $id, expiresAt: $at }) { token } }',
    {
      id: agent.id,
      at: new Date(Date.now() + 700).toISOString(),
    },
  )
  const reader = await opened(data.createToken.token, { id: agent.id })
  await until(() => reader.state.completed)
  expect(reader.errors()).toMatchObject([{ code: 'unauthorized' }])
})

test('a subscription ends when its agent was deleted while notifications could not be received', async () => {
  const agent = await service.agent(ours)
  const reader = await opened(ours.token, { id: agent.id })
  await ours.ask('mutation ($id: UUID!) { deleteAgent(input: { agentId: $id }) { agentId } }', {
    id: agent.id,
  })
  await service.deps.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ams-listen/%' and datname = current_database()",
  )
  await until(() => reader.state.completed)
  expect(reader.errors()).toMatchObject([{ code: 'not_found', message: 'There is no agent with this id.' }])
})

const connect = async (agent: { id: string; ask: TestTenant['ask'] }, client: string): Promise<string> => {
  const { data } = await agent.ask(
    'mutation ($id: UUID!, $client: String!) { connect(input: { agentId: $id, client: $client, machine: "m" }) { connection { id } } }',
    { id: agent.id, client },
  )
  return data.connect.connection.id
}
const listenersOf = async (id: string) =>
  (await ours.ask('query ($id: UUID!) { agent(id: $id) { listeners { kind client } } }', { id })).data.agent
    .listeners

test("a client's subscription starts at its connect, is a listener while open, and ends when another connects", async () => {
  const agent = await service.agent(ours)
  await service.letter(agent, ours, 'before')
  const first = await connect(agent, 'one')
  await service.letter(agent, ours, 'between')
  expect(await listenersOf(agent.id)).toEqual([])
  const reader = await opened(agent.token, { id: agent.id, connectionId: first })
  await until(() => reader.events().length === 1)
  expect(reader.texts()).toEqual(['between'])
  expect(await listenersOf(agent.id)).toEqual([{ kind: 'client', client: 'one' }])

  const second = await connect(agent, 'two')
  await until(() => reader.state.completed)
  expect(reader.errors()).toMatchObject([{ code: 'conflict', message: 'Another client is connected now.' }])
  const late = follow(agent.token, { id: agent.id, connectionId: first })
  await until(() => late.errors().length > 0)
  expect(late.errors()).toMatchObject([{ code: 'conflict' }])

  const successor = await opened(agent.token, { id: agent.id, connectionId: second })
  await until(async () => (await listenersOf(agent.id))[0]?.client === 'two')
  successor.stop()
  await until(async () => (await listenersOf(agent.id)).length === 0)
})

test("only the agent's own token can subscribe as its client", async () => {
  const agent = await service.agent(ours)
  const connectionId = await connect(agent, 'one')
  const member = follow(ours.token, { id: agent.id, connectionId })
  await until(() => member.errors().length > 0)
  expect(member.errors()).toMatchObject([{ code: 'forbidden' }])
  const unknown = follow(agent.token, { id: agent.id, connectionId: randomUUID() })
  await until(() => unknown.errors().length > 0)
  expect(unknown.errors()).toMatchObject([
    { code: 'not_found', message: 'There is no connection with this id.' },
  ])
})

test('a subscription ends when its client closes the connection', async () => {
  const agent = await service.agent(ours)
  const before = openNow()
  const abort = new AbortController()
  const response = await fetch(`${service.base}/graphql`, {
    method: 'POST',
    signal: abort.signal,
    headers: {
      Authorization: `Bearer ${ours.token}`,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: QUERY, variables: { id: agent.id } }),
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-store')
  await until(() => openNow() === before + 1)
  abort.abort()
  await until(() => openNow() === before)
})

test('an invalid subscription is refused in the stream', async () => {
  const agent = await service.agent(ours)
  for (const single of [false, true]) {
    const reader = follow(
      ours.token,
      { id: agent.id },
      { single, query: 'subscription ($id: UUID!) { messageReceived(agentId: $id) { colour } }' },
    )
    await until(() => reader.errors().length > 0 || reader.state.failure !== undefined)
    if (!single) expect(reader.errors()).toMatchObject([{ code: 'invalid_input' }])
  }
})

test('stopping the service ends each subscription with an unavailable error', async () => {
  const agent = await service.agent(ours)
  const readers = [
    await opened(ours.token, { id: agent.id }),
    await opened(ours.token, { id: agent.id }, { single: true }),
  ]
  const stopped = service.stop()
  for (const reader of readers) {
    await until(() => reader.state.completed || reader.state.failure !== undefined)
    expect(reader.errors()).toMatchObject([{ code: 'unavailable' }])
  }
  await stopped
})
