import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type GraphqlAnswer, startGraphql } from '../support/graphql.ts'

const service = await startGraphql()
const ours = await service.tenant()
const errorsOf = ({ errors }: GraphqlAnswer) =>
  errors?.map(({ message, extensions: { code, field } }) => ({ message, code, field }))
/** Runs a mutation by its name, with its input. */
const change = async (ask: typeof ours.ask, name: string, selection: string, input: object) => {
  const answer = await ask(
    `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) ${selection} }`,
    {
      input,
    },
  )
  return { ...answer, payload: answer.data?.[name] }
}

test('the assigned address of an agent can be changed but not removed', async () => {
  const agent = await service.agent(ours, 'Movable')
  const { data } = await ours.ask('query ($id: UUID!) { agent(id: $id) { addresses { id } } }', {
    id: agent.id,
  })
  const input = { agentId: agent.id, addressId: data.agent.addresses[0].id }
  const value = `${randomUUID()}@agents.localhost`
  const changed = await change(ours.ask, 'changeAddress', '{ address { id value } }', { ...input, value })
  expect(changed.payload.address).toEqual({ id: input.addressId, value })
  const wrong = await change(ours.ask, 'changeAddress', '{ address { id } }', {
    ...input,
    value: 'a@elsewhere.example',
  })
  expect(errorsOf(wrong)).toMatchObject([{ code: 'invalid_input', field: 'value' }])
  const removed = await change(ours.ask, 'removeAddress', '{ addressId }', input)
  expect(errorsOf(removed)).toMatchObject([{ code: 'conflict' }])
  const link = await change(agent.ask, 'setUpAddress', '{ url }', { agentId: agent.id, channel: 'telegram' })
  expect(link.payload.url).toMatch(/^http:\/\/localhost\/setup\/ast_/)
})

test('members can set and list secrets, but only the agent can reveal them', async () => {
  const agent = await service.agent(ours, 'Keeper')
  const agentId = agent.id
  const set = await change(ours.ask, 'setSecret', '{ secret { name kind setBy updatedAt } }', {
    agentId,
    name: 'KEY',
    value: 'hidden words',
  })
  expect(set.payload.secret).toMatchObject({ name: 'KEY', kind: 'secret', setBy: 'member' })
  await change(agent.ask, 'setSecret', '{ secret { name } }', { agentId, name: 'OTHER', value: '2' })
  const listed = await ours.ask('query ($id: UUID!) { agent(id: $id) { secrets { name setBy } } }', {
    id: agentId,
  })
  expect(listed.data.agent.secrets).toEqual([
    { name: 'KEY', setBy: 'member' },
    { name: 'OTHER', setBy: 'agent' },
  ])
  const reveal = (ask: typeof ours.ask, names?: string[]) =>
    change(ask, 'revealSecrets', '{ secrets { name value } }', { agentId, names })
  expect((await reveal(agent.ask, ['KEY', 'NONE'])).payload.secrets).toEqual([
    { name: 'KEY', value: 'hidden words' },
  ])
  expect((await reveal(agent.ask)).payload.secrets).toHaveLength(2)
  expect(errorsOf(await reveal(ours.ask))).toMatchObject([{ code: 'forbidden' }])
  expect(errorsOf(await reveal(agent.ask, Array(201).fill('A')))).toMatchObject([
    { code: 'invalid_input', field: 'names' },
  ])
  const wrong = await change(ours.ask, 'setSecret', '{ secret { name } }', {
    agentId,
    name: 'a b',
    value: '',
  })
  expect(errorsOf(wrong)).toMatchObject([{ code: 'invalid_input', field: 'name' }])
  expect((await change(ours.ask, 'deleteSecret', '{ name }', { agentId, name: 'KEY' })).payload).toEqual({
    name: 'KEY',
  })
  expect(
    errorsOf(await change(ours.ask, 'deleteSecret', '{ name }', { agentId, name: 'KEY' })),
  ).toMatchObject([{ code: 'not_found' }])
})

test('sendToUrl returns the event with the whole text, and requires a listener and access', async () => {
  const agent = await service.agent(ours, 'Hearer')
  const input = { agentId: agent.id, text: 'Wake up' }
  const send = (ask = ours.ask) =>
    change(ask, 'sendToUrl', '{ event { id type channel text sender { id kind } message { id } } }', input)
  expect(errorsOf(await send())).toMatchObject([{ code: 'conflict' }])
  await change(ours.ask, 'addWebhook', '{ secret }', { agentId: agent.id, url: 'http://127.0.0.1:9/hook' })
  expect((await send()).payload.event).toEqual({
    id: 1,
    type: 'message.received',
    channel: 'url',
    text: 'Wake up',
    sender: { id: ours.member, kind: 'member' },
    message: null,
  })
  expect(errorsOf(await send((await service.agent(ours, 'Unlisted')).ask))).toMatchObject([
    { code: 'forbidden' },
  ])
})

test('a workspace has its plan with usage, and lists of members and resources that agents cannot read', async () => {
  const tenant = await service.tenant()
  const agent = await service.agent(tenant, 'Counted')
  const query = `{ workspace { id name settings { agentsMaySetAccess agentsMayCreateAgents } domains { name } phoneNumbers { value }
    plan { key changeAddress limits { agents members } usage { agents members ownDomains webhooks sendsPerDay storedMessages } }
    members { id email role } invitations { email role expiresAt } } }`
  const { data, errors } = await tenant.ask(query)
  expect(errors).toBeUndefined()
  expect(data.workspace).toMatchObject({
    id: tenant.workspace,
    settings: { agentsMaySetAccess: true, agentsMayCreateAgents: true },
    plan: {
      key: 'unlimited',
      changeAddress: true,
      limits: { agents: null },
      usage: { agents: 1, members: 1, storedMessages: 0 },
    },
    members: [{ id: tenant.member, email: tenant.email, role: 'owner' }],
    invitations: [],
    domains: [],
    phoneNumbers: [],
  })
  expect((await agent.ask('{ workspace { name plan { usage { agents } } } }')).data.workspace).toMatchObject({
    plan: { usage: { agents: 1 } },
  })
  for (const field of ['members { id }', 'invitations { id }', 'domains { id }', 'phoneNumbers { id }'])
    expect(errorsOf(await agent.ask(`{ workspace { ${field} } }`))).toEqual([
      { message: 'Only a member can do this.', code: 'forbidden' },
    ])
})

test('members can manage invitations, workspace settings and their own tokens', async () => {
  const tenant = await service.tenant()
  const agent = await service.agent(tenant, 'Watcher')
  const invited = await change(tenant.ask, 'inviteMember', '{ invitation { id email role } url }', {
    email: 'Bo@Example.com',
  })
  expect(invited.payload).toMatchObject({ invitation: { email: 'bo@example.com', role: 'member' } })
  expect(invited.payload.url).toMatch(/\/join\/ait_/)
  const { id } = invited.payload.invitation
  expect((await tenant.ask('{ workspace { invitations { id } } }')).data.workspace.invitations).toEqual([
    { id },
  ])
  expect(
    (await change(tenant.ask, 'revokeInvitation', '{ invitationId }', { invitationId: id })).payload
      .invitationId,
  ).toBe(id)
  const last = await change(tenant.ask, 'removeMember', '{ memberId }', { memberId: tenant.member })
  expect(errorsOf(last)).toMatchObject([{ code: 'conflict' }])

  const settings = await change(
    tenant.ask,
    'updateWorkspace',
    '{ workspace { name settings { agentsMayCreateAgents } } }',
    {
      name: 'Renamed',
      agentsMayCreateAgents: false,
    },
  )
  expect(settings.payload.workspace).toEqual({ name: 'Renamed', settings: { agentsMayCreateAgents: false } })
  expect((await agent.ask('{ viewer { may { createAgents setAccess connect } } }')).data.viewer.may).toEqual({
    createAgents: false,
    setAccess: true,
    connect: true,
  })

  const made = await change(tenant.ask, 'createOwnToken', '{ token record { id name } }', { name: 'laptop' })
  expect(made.payload.token).toMatch(/^amt_/)
  const tokens = async () => (await tenant.ask('{ viewer { tokens { name } } }')).data.viewer.tokens
  expect(await tokens()).toEqual([{ name: 'owner' }, { name: 'laptop' }])
  await change(tenant.ask, 'revokeOwnToken', '{ tokenId }', { tokenId: made.payload.record.id })
  expect(await tokens()).toHaveLength(1)
  expect((await service.askWith(made.payload.token)('{ viewer { id } }')).status).toBe(401)
})

test('the event log is returned in pages, with the messages of its events', async () => {
  const [one, other] = [await service.agent(ours, 'Logged'), await service.agent(ours, 'Logged too')]
  for (const text of ['first', 'second', 'third']) await service.letter(one, ours, text)
  await service.letter(other, ours, 'elsewhere')
  const query = `query ($id: UUID!, $first: Int, $after: String) { agent(id: $id) { events(first: $first, after: $after) {
    edges { cursor node { id message { text } } } pageInfo { hasNextPage endCursor } } } }`
  const events = async (variables: object) =>
    (await ours.ask(query, { id: one.id, ...variables })).data.agent.events
  const page = await events({ first: 2 })
  expect(page.edges).toEqual([
    { cursor: '1', node: { id: 1, message: { text: 'first' } } },
    { cursor: '2', node: { id: 2, message: { text: 'second' } } },
  ])
  expect(page.pageInfo).toEqual({ hasNextPage: true, endCursor: '2' })
  expect((await events({ after: '2' })).edges).toEqual([
    { cursor: '3', node: { id: 3, message: { text: 'third' } } },
  ])
  const all = (await ours.ask('{ agents { name events { edges { node { message { text } } } } } }')).data
    .agents
  expect(all.find(({ name }: { name: string }) => name === 'Logged too').events.edges).toEqual([
    { node: { message: { text: 'elsewhere' } } },
  ])
  expect(errorsOf(await ours.ask(query, { id: one.id, after: 'x' }))).toMatchObject([
    { code: 'invalid_input', field: 'after' },
  ])
})

test('the messages of events are not read when their texts are too long together', async () => {
  const agent = await service.agent(ours, 'Long')
  for (const text of ['first', 'second', 'third']) await service.letter(agent, ours, text)
  await service.deps.pool.query("update message set text = repeat('x', 6000000) where agent_id = $1", [
    agent.id,
  ])
  const query = `query ($id: UUID!) { agent(id: $id) { events { edges { node { message { id text } } } } } }`
  const { data, errors } = await ours.ask(query, { id: agent.id })
  const [error] = errorsOf({ errors } as GraphqlAnswer)!
  expect(error!.code).toBe('invalid_input')
  expect(error!.message).toMatch(/its texts have more than 16777216 characters in total/)
  expect(JSON.stringify(data).length).toBeLessThan(1000)
  const withoutTexts = await ours.ask(query.replace(' text', ''), { id: agent.id })
  expect(withoutTexts.data.agent.events.edges).toHaveLength(3)
})

test('the message of one event is read, however long its text is', async () => {
  const agent = await service.agent(ours, 'Longest')
  await service.letter(agent, ours, 'only')
  await service.deps.pool.query("update message set text = repeat('x', 17000000) where agent_id = $1", [
    agent.id,
  ])
  const query = `query ($id: UUID!) { agent(id: $id) { events { edges { node { message { text } } } } } }`
  const { data } = await ours.ask(query, { id: agent.id })
  expect(data.agent.events.edges[0].node.message.text).toHaveLength(17_000_000)
})
