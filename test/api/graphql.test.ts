import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type GraphqlAnswer, startGraphql } from '../support/graphql.ts'

const service = await startGraphql()
const ours = await service.tenant()
const theirs = await service.tenant()

const errorsOf = ({ errors }: GraphqlAnswer) =>
  errors?.map(({ message, extensions: { code, field } }) => ({ message, code, field }))

const AGENT = `id name icon createdAt
  addresses { id channel value domainId primary createdAt }
  access { email { admit senders } sms { admit senders } telegram { admit senders } url { admit senders } }
  tokens { id name createdAt lastUsedAt expiresAt }
  webhooks { id url createdAt error attempts retryAt lastDeliveredAt }
  listeners { kind client machine id url }`

test('a new agent has an address, and its creator is on its access lists', async () => {
  const { data, errors } = await ours.ask(
    `mutation { createAgent(input: { name: "Bug Hunter", icon: message_square }) { agent { ${AGENT} } } }`,
  )
  expect(errors).toBeUndefined()
  expect(data.createAgent.agent).toMatchObject({
    name: 'Bug Hunter',
    icon: 'message_square',
    addresses: [
      {
        channel: 'email',
        value: expect.stringMatching(/^bug-hunter-[a-z2-9]{4}@agents\.localhost$/),
        domainId: null,
        primary: true,
      },
    ],
    access: {
      email: { admit: 'list', senders: [ours.email] },
      sms: { admit: 'team', senders: [] },
      telegram: { admit: 'list', senders: [] },
      url: { admit: 'list', senders: [ours.member] },
    },
    tokens: [],
    webhooks: [],
    listeners: [],
  })
  expect(data.createAgent.agent.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('agents can be listed, updated and deleted', async () => {
  const tenant = await service.tenant()
  const first = await service.agent(tenant, 'One')
  const second = await service.agent(tenant, 'Two')
  expect((await tenant.ask('{ agents { id name } }')).data.agents).toEqual([
    { id: first.id, name: 'One' },
    { id: second.id, name: 'Two' },
  ])
  const changed = await tenant.ask(
    `mutation ($id: UUID!) { updateAgent(input: { agentId: $id, name: "Uno", icon: null }) { agent { id name icon } } }`,
    { id: first.id },
  )
  expect(changed.data.updateAgent.agent).toEqual({ id: first.id, name: 'Uno', icon: 'bot' })
  const deleted = await tenant.ask(
    `mutation ($id: UUID!) { deleteAgent(input: { agentId: $id }) { agentId } }`,
    { id: first.id },
  )
  expect(deleted.data.deleteAgent.agentId).toBe(first.id)
  expect((await tenant.ask('{ agents { id } }')).data.agents).toEqual([{ id: second.id }])
})

test('the viewer is the member or the agent of the token', async () => {
  const agent = await service.agent(ours, 'Viewer')
  const query = '{ viewer { kind id name email role tokenId expiresAt workspace { id name } agent { id } } }'
  expect((await ours.ask(query)).data.viewer).toMatchObject({
    kind: 'member',
    id: ours.member,
    email: ours.email,
    role: 'owner',
    workspace: { id: ours.workspace, name: 'Test' },
    agent: null,
  })
  expect((await agent.ask(query)).data.viewer).toMatchObject({
    kind: 'agent',
    id: agent.id,
    name: 'Viewer',
    email: null,
    role: null,
    tokenId: agent.tokenId,
    agent: { id: agent.id },
  })
})

test("an agent's token can read only its own agent", async () => {
  const one = await service.agent(ours, 'Own')
  const other = await service.agent(ours, 'Other')
  expect((await one.ask('{ agents { id } }')).data.agents).toEqual([{ id: one.id }])
  const refused = await one.ask('query ($id: UUID!) { agent(id: $id) { id } }', { id: other.id })
  expect(errorsOf(refused)).toEqual([{ message: 'This token belongs to another agent.', code: 'forbidden' }])
})

test('an agent can read only the basic fields of an agent that it created, as in REST', async () => {
  const creator = await service.agent(ours, 'Creator')
  const plain = await creator.ask(
    'mutation { createAgent(input: { name: "Child", icon: zap }) { agent { id name } } }',
  )
  expect(plain.data.createAgent.agent.name).toBe('Child')
  for (const field of [
    'addresses { id }',
    'messages { edges { cursor } }',
    'tokens { id }',
    'access { email { admit } }',
    'webhooks { id }',
  ]) {
    const deep = await creator.ask(
      `mutation { createAgent(input: { name: "Child", icon: zap }) { agent { ${field} } } }`,
    )
    expect(errorsOf(deep)).toEqual([{ message: 'This token belongs to another agent.', code: 'forbidden' }])
  }
  const minted = await creator.ask(
    'mutation ($id: UUID!) { createToken(input: { agentId: $id, name: "x" }) { record { name } } }',
    {
      id: plain.data.createAgent.agent.id,
    },
  )
  expect(minted.data.createToken.record.name).toBe('x')
})

const withForeignId: [string, string, object][] = [
  ['agent', 'query ($id: UUID!) { agent(id: $id) { id } }', {}],
  [
    'updateAgent',
    'mutation ($id: UUID!) { updateAgent(input: { agentId: $id, name: "x" }) { agent { id } } }',
    {},
  ],
  ['deleteAgent', 'mutation ($id: UUID!) { deleteAgent(input: { agentId: $id }) { agentId } }', {}],
  ['createToken', 'mutation ($id: UUID!) { createToken(input: { agentId: $id }) { token } }', {}],
  [
    'revokeToken',
    'mutation ($id: UUID!, $x: UUID!) { revokeToken(input: { agentId: $id, tokenId: $x }) { tokenId } }',
    { x: randomUUID() },
  ],
  [
    'setAccess',
    'mutation ($id: UUID!) { setAccess(input: { agentId: $id, channel: email, senders: [] }) { access { admit } } }',
    {},
  ],
  [
    'connect',
    'mutation ($id: UUID!) { connect(input: { agentId: $id, client: "c", machine: "m" }) { connection { id } } }',
    {},
  ],
  [
    'sendMessage',
    'mutation ($id: UUID!) { sendMessage(input: { agentId: $id, text: "x", channel: email, to: ["a@b.c"] }) { message { id } } }',
    {},
  ],
  [
    'addWebhook',
    'mutation ($id: UUID!) { addWebhook(input: { agentId: $id, url: "https://127.0.0.1/" }) { secret } }',
    {},
  ],
  [
    'removeWebhook',
    'mutation ($id: UUID!, $x: UUID!) { removeWebhook(input: { agentId: $id, webhookId: $x }) { webhookId } }',
    { x: randomUUID() },
  ],
]

test.each(withForeignId)(
  '%s fails for an agent of another workspace exactly as for an unknown one',
  async (_name, query, variables) => {
    const foreign = await service.agent(theirs)
    const missing = await ours.ask(query, { ...variables, id: randomUUID() })
    expect(errorsOf(missing)).toEqual([{ message: 'There is no agent with this id.', code: 'not_found' }])
    expect(errorsOf(await ours.ask(query, { ...variables, id: foreign.id }))).toEqual(errorsOf(missing))
    expect(
      (await theirs.ask('query ($id: UUID!) { agent(id: $id) { id } }', { id: foreign.id })).data.agent.id,
    ).toBe(foreign.id)
  },
)

test('a message of another workspace is not_found like an unknown one; one of another agent is forbidden', async () => {
  const foreign = await service.agent(theirs)
  await service.letter(foreign, theirs, 'secret')
  const list = await theirs.ask(
    'query ($id: UUID!) { agent(id: $id) { messages { edges { node { id } } } } }',
    { id: foreign.id },
  )
  const { id } = list.data.agent.messages.edges[0].node
  const query = 'query ($id: UUID!) { message(id: $id) { text } }'
  expect((await theirs.ask(query, { id })).data.message.text).toBe('secret')
  const missing = await ours.ask(query, { id: randomUUID() })
  expect(errorsOf(missing)).toEqual([{ message: 'There is no message with this id.', code: 'not_found' }])
  expect(errorsOf(await ours.ask(query, { id }))).toEqual(errorsOf(missing))
  const sibling = await service.agent(theirs, 'Sibling')
  expect(errorsOf(await sibling.ask(query, { id }))).toEqual([
    { message: 'This token belongs to another agent.', code: 'forbidden' },
  ])
})

test('tokens can be created, listed without their values, and revoked', async () => {
  const agent = await service.agent(ours, 'Tokens')
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const made = await ours.ask(
    `mutation ($id: UUID!, $at: DateTime) { createToken(input: { agentId: $id, name: "laptop", expiresAt: $at }) { token record { id name expiresAt } } }`,
    { id: agent.id, at: expiresAt },
  )
  const { token, record } = made.data.createToken
  expect(token).toMatch(/^aat_[0-9A-Za-z]{43}$/)
  expect(record).toMatchObject({ name: 'laptop', expiresAt })
  const ask = service.askWith(token)
  expect((await ask('{ viewer { id } }')).data.viewer.id).toBe(agent.id)
  const own = await ask('query ($id: UUID!) { agent(id: $id) { tokens { id name } } }', { id: agent.id })
  expect(own.data.agent.tokens).toEqual([
    { id: agent.tokenId, name: null },
    { id: record.id, name: 'laptop' },
  ])
  expect(
    errorsOf(
      await ask('mutation ($id: UUID!) { createToken(input: { agentId: $id }) { token } }', { id: agent.id }),
    ),
  ).toMatchObject([{ code: 'forbidden' }])
  await ours.ask(
    'mutation ($id: UUID!, $t: UUID!) { revokeToken(input: { agentId: $id, tokenId: $t }) { tokenId } }',
    {
      id: agent.id,
      t: record.id,
    },
  )
  expect((await ask('{ viewer { id } }')).status).toBe(401)
})

test('access, webhooks and the connected client can be set and read', async () => {
  const agent = await service.agent(ours, 'Settings')
  const id = agent.id
  const access = await agent.ask(
    'mutation ($id: UUID!) { setAccess(input: { agentId: $id, channel: email, admit: team, senders: ["Ann@Example.com"] }) { access { admit senders } } }',
    { id },
  )
  expect(access.data.setAccess.access).toEqual({ admit: 'team', senders: ['ann@example.com'] })
  const add =
    'mutation ($id: UUID!) { addWebhook(input: { agentId: $id, url: "http://127.0.0.1:9/hook" }) { webhook { id url attempts } secret created } }'
  const added = (await agent.ask(add, { id })).data.addWebhook
  expect(added).toMatchObject({ webhook: { url: 'http://127.0.0.1:9/hook', attempts: 0 }, created: true })
  expect(added.secret).toMatch(/^whsec_/)
  expect((await agent.ask(add, { id })).data.addWebhook).toEqual({ ...added, created: false })
  const connected = await agent.ask(
    'mutation ($id: UUID!) { connect(input: { agentId: $id, client: "cli", machine: "laptop" }) { connection { id client machine tokenId } } }',
    { id },
  )
  expect(connected.data.connect.connection).toMatchObject({
    client: 'cli',
    machine: 'laptop',
    tokenId: agent.tokenId,
  })
  const asMember = await ours.ask(
    'mutation ($id: UUID!) { connect(input: { agentId: $id, client: "c", machine: "m" }) { connection { id } } }',
    { id },
  )
  expect(errorsOf(asMember)).toEqual([
    { message: "Only the agent's own token can do this.", code: 'forbidden' },
  ])
  const shown = await ours.ask(`query ($id: UUID!) { agent(id: $id) { ${AGENT} } }`, { id })
  expect(shown.errors).toBeUndefined()
  expect(shown.data.agent).toMatchObject({
    access: { email: { admit: 'team', senders: ['ann@example.com'] } },
    webhooks: [{ id: added.webhook.id, error: null, retryAt: null }],
    listeners: [{ kind: 'webhook', id: added.webhook.id, url: 'http://127.0.0.1:9/hook', client: null }],
  })
  await agent.ask(
    'mutation ($id: UUID!, $w: UUID!) { removeWebhook(input: { agentId: $id, webhookId: $w }) { webhookId } }',
    {
      id,
      w: added.webhook.id,
    },
  )
  expect(
    (await ours.ask('query ($id: UUID!) { agent(id: $id) { webhooks { id } } }', { id })).data.agent.webhooks,
  ).toEqual([])
})

test('every type, field, argument and enum value has a description', async () => {
  const { data } = await ours.ask(`{ __schema { types { name description
    fields { name description args { name description } } inputFields { name description } enumValues { name description } } } }`)
  interface Described {
    name: string
    description: string | null
  }
  type Type = Described & {
    fields: (Described & { args: Described[] })[] | null
    inputFields: Described[] | null
    enumValues: Described[] | null
  }
  const types = (data.__schema.types as Type[]).filter(({ name }) => !name.startsWith('__'))
  const undescribed = types.flatMap((type) =>
    [
      type,
      ...(type.fields ?? []),
      ...(type.fields ?? []).flatMap(({ args }) => args),
      ...(type.inputFields ?? []),
      ...(type.enumValues ?? []),
    ]
      .filter(({ description }) => !description)
      .map(({ name }) => `${type.name}.${name}`),
  )
  expect(undescribed).toEqual([])
  expect(types.length).toBeGreaterThan(40)
})
