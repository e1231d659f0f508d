import { randomInt, randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSession } from '../../src/auth/session.ts'
import { hashToken, newToken } from '../../src/workspace/token/token.ts'
import { storeApp } from '../support/connected-app.ts'
import { type Ask, startGraphql, type TestTenant } from '../support/graphql.ts'
import { objectTypes, payloadOf, rootFields, selectionOf } from '../support/graphql-schema.ts'
import {
  CALLERS,
  type Caller,
  CONFLICTS,
  inAgent,
  MEMBERS,
  MUTATIONS,
  QUERIES,
  SUBSCRIPTION_ONLY,
  SUBSCRIPTIONS,
  type Target,
  TYPES,
} from './graphql-table.ts'

const service = await startGraphql()
const tenant = await service.tenant()
const foreign = await service.tenant()
const asks = {} as Record<Caller, Ask>
let target: Target
/** The agent of the target. */
let itself: Ask

const addMember = async (of: TestTenant) => {
  const [memberId, token] = [randomUUID(), newToken('member')]
  await service.deps.prisma.member.create({
    data: { id: memberId, workspaceId: of.workspace, email: `${memberId}@example.com` },
  })
  await service.deps.prisma.token.create({
    data: { workspaceId: of.workspace, memberId, hash: Uint8Array.from(hashToken(token)) },
  })
  return { memberId, ask: service.askWith(token) }
}

const change = async (ask: Ask, name: string, selection: string, input: object) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`
  return ask(`mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`, { input })
}

/** Each is given out once, and every field is asked for by all who may. */
const CODES = Array.from({ length: 50 }, (_, n) => ({
  value: `${100_000 + n}`,
  kind: 'code' as const,
  purpose: 'sign_in' as const,
}))

/** Creates an agent with one of each of its resources and of those of its workspace. */
const createTarget = async (of: TestTenant): Promise<{ target: Target; self: Ask }> => {
  const agent = await service.agent(of, 'Target')
  const agentId = agent.id
  await change(of.ask, 'addWebhook', 'secret', { agentId, url: 'http://127.0.0.1:9/hook' })
  await change(of.ask, 'setSecret', 'secret { name }', { agentId, name: 'KEY', value: 'v' })
  const spare = await change(of.ask, 'createToken', 'record { id }', { agentId })
  // A member has at most 100 tokens.
  await service.deps.prisma.token.deleteMany({ where: { memberId: of.member, name: 'Target' } })
  const own = await change(of.ask, 'createOwnToken', 'record { id }', { name: 'Target' })
  const invited = await change(of.ask, 'inviteMember', 'invitation { id }', {
    email: `${randomUUID()}@example.com`,
  })
  const brought = { workspaceId: of.workspace, name: `${randomUUID()}.example`, ownershipToken: 't' }
  // directly, since generating its key takes a while
  const domain = await service.deps.prisma.domain.create({ data: brought })
  const number = await change(of.ask, 'buyPhoneNumber', 'phoneNumber { id }', {
    value: `+1500${randomInt(1e7, 1e8)}`,
  })
  const bot = { workspaceId: of.workspace, agentId, channel: 'telegram', value: `@${randomUUID()}` } as const
  await service.deps.prisma.address.create({ data: bot })
  await service.letter(agent, of, 'hello', { codes: CODES })
  const suppressed = {
    agentId,
    channel: 'email',
    recipient: 'gone@example.com',
    reason: 'bounce',
    detail: '550 5.1.1',
  } as const
  await service.deps.prisma.suppression.create({ data: suppressed })
  await service.deps.pool.query(
    `update job set state = 'delivered', log = '[{"at":"2026-01-01T00:00:00Z","status":200,"ms":1,"answer":{"headers":[["server","x"]],"body":"ok"}}]'`,
  )
  const query = inAgent(
    'messages { edges { node { id addressId } } } webhooks { id deliveries { edges { node { id } } } }',
  )
  const eve = { agentId, channel: 'email', sender: 'eve@example.com' }
  await change(of.ask, 'blockSender', 'access { blocked }', eve)
  const { messages, webhooks } = (await of.ask(query, { agentId })).data.agent
  const { memberId } = await addMember(of)
  const draft = await change(of.ask, 'saveDraft', 'draft { id }', {
    ...{ agentId, channel: 'email', to: ['bo@example.com'], text: 'hi' },
    attachments: [{ name: 'a.txt', type: 'text/plain', content: 'aGk=' }],
  })
  const appId = await storeApp(service.deps, { workspaceId: of.workspace, agentId, memberId })
  const passkey = await service.deps.prisma.passkey.create({
    data: {
      memberId: of.member,
      credentialId: Buffer.from(randomUUID()),
      publicKey: Buffer.from('key'),
      name: 'laptop',
      createdAt: new Date(),
    },
  })
  const session = await createSession(
    service.deps,
    { id: of.member, workspaceId: of.workspace },
    { way: 'token', browser: 'Firefox' },
  )
  return {
    self: agent.ask,
    target: {
      agentId,
      messageId: messages.edges[0].node.id,
      draftId: draft.data.saveDraft.draft.id,
      addressId: messages.edges[0].node.addressId,
      listed: of.email,
      blocked: eve.sender,
      webhookId: webhooks[0].id,
      deliveryId: webhooks[0].deliveries.edges[0].node.id,
      tokenId: spare.data.createToken.record.id,
      ownTokenId: own.data.createOwnToken.record.id,
      sessionId: session.id,
      passkeyId: passkey.id,
      invitationId: invited.data.inviteMember.invitation.id,
      memberId,
      domainId: domain.id,
      phoneNumberId: number.data.buyPhoneNumber.phoneNumber.id,
      appId,
      workspaceId: of.workspace,
    },
  }
}

beforeAll(async () => {
  const made = await createTarget(tenant)
  target = made.target
  itself = made.self
  await service.deps.prisma.phoneNumber.create({
    data: { workspaceId: tenant.workspace, value: '+15551234567', providerId: 'p' },
  })
  Object.assign(asks, {
    owner: tenant.ask,
    member: (await addMember(tenant)).ask,
    self: made.self,
    peer: (await service.agent(tenant, 'Peer')).ask,
    foreign: foreign.ask,
    stranger: (await service.agent(foreign, 'Stranger')).ask,
  })
})

const outcomeOf = async (ask: Ask, query: string, variables: object, headers = {}): Promise<string> => {
  const { errors } = await ask(query, variables, headers)
  return errors?.[0]?.extensions.code ?? 'ok'
}

const names = (fields: string) => fields.split(' ')

test('every field, mutation and subscription of the schema has a row in the table', () => {
  // payloads are selected as a whole
  const types = objectTypes().filter(({ name }) => !name.endsWith('Payload') && !(name in SUBSCRIPTION_ONLY))
  const walked = Object.fromEntries(types.map((type) => [type.name, Object.keys(type.getFields()).sort()]))
  const rows = Object.entries(TYPES).map(([name, { fields, members }]) => [
    name,
    names(fields + (members ? ` ${members}` : '')).sort(),
  ])
  expect(walked).toEqual(Object.fromEntries(rows))
  expect(Object.keys(MUTATIONS).sort()).toEqual(rootFields('Mutation').sort())
  expect(Object.keys(QUERIES).sort()).toEqual(rootFields('Query').sort())
  expect(Object.keys(SUBSCRIPTIONS).sort()).toEqual(rootFields('Subscription').sort())
})

describe.each(CALLERS)('for the caller %s', (caller) => {
  test.each(Object.keys(QUERIES))('the query %s has the outcome in its row', async (name) => {
    const { query, rule } = QUERIES[name]!
    expect(await outcomeOf(asks[caller], query, { ...target })).toBe(rule[caller])
  })

  test.each(Object.keys(TYPES))('every field of %s has the outcome in its row', async (name) => {
    const { reach, rule, members = '' } = TYPES[name]!
    const type = objectTypes().find((one) => one.name === name)!
    for (const field of Object.values(type.getFields())) {
      const isForMembers = names(members).includes(field.name) && rule[caller] === 'ok'
      const expected = isForMembers ? MEMBERS[caller] : rule[caller]
      const outcome = await outcomeOf(asks[caller], reach.replace('%', selectionOf(field)), { ...target })
      expect(`${field.name}: ${outcome}`).toBe(`${field.name}: ${expected}`)
    }
  })

  test.each(Object.keys(SUBSCRIPTIONS))('the subscription %s has the outcome in its row', async (name) => {
    const { query, rule } = SUBSCRIPTIONS[name]!
    if (rule[caller] === 'ok') return // test/api/graphql-subscriptions.test.ts, workspace-changed.test.ts
    const response = await asks[caller](
      query,
      { ...target },
      { Accept: 'text/event-stream, application/json' },
    )
    expect(response.errors?.[0]?.extensions.code).toBe(rule[caller])
  })
})

test('an agent that created another can read its basic fields and nothing else of it', async () => {
  const open = ['id', 'name', 'icon', 'createdAt', 'messageUrl']
  for (const field of Object.values(
    objectTypes()
      .find(({ name }) => name === 'Agent')!
      .getFields(),
  )) {
    const query = `mutation { createAgent(input: { name: "Child", icon: bot }) { agent { ${selectionOf(field)} } } }`
    expect([field.name, await outcomeOf(asks.self, query, {})]).toEqual([
      field.name,
      open.includes(field.name) ? 'ok' : 'forbidden',
    ])
  }
})

const run = (caller: Caller, name: string, on: Target) =>
  change(asks[caller], name, payloadOf(name), MUTATIONS[name]!.input(on))

describe.each(['peer', 'foreign', 'stranger'] as const)('for the caller %s', (caller) => {
  test.each(Object.keys(MUTATIONS))('the mutation %s has the outcome in its row', async (name) => {
    const { errors } = await run(caller, name, target)
    expect(errors?.[0]?.extensions.code ?? 'ok').toBe(MUTATIONS[name]!.rule[caller])
  })
})

test('refused mutations have changed nothing', async () => {
  const query = inAgent(
    'name webhooks { id } secrets { name } tokens { id } access { email { senders } } addresses { id }',
  )
  expect((await tenant.ask(query, { ...target })).data.agent).toMatchObject({
    name: 'Target',
    webhooks: [{ id: target.webhookId }],
    secrets: [{ name: 'KEY' }],
    access: { email: { senders: [tenant.email] } },
    addresses: [{ id: target.addressId }, { id: expect.any(String) }],
  })
  expect((await tenant.ask('{ workspace { name invitations { id } } }')).data.workspace).toMatchObject({
    name: 'Test',
    invitations: [{ id: target.invitationId }],
  })
})

describe.each(['member', 'self', 'owner'] as const)('for the caller %s', (caller) => {
  // Together the tests would exceed the number of invitations that a workspace can send in an hour.
  beforeEach(async () => {
    const where = { workspaceId: tenant.workspace }
    await service.deps.prisma.invitation.deleteMany({ where })
    await service.deps.prisma.auditEntry.deleteMany({ where: { ...where, action: 'member.invite' } })
  })

  test.each(Object.keys(MUTATIONS))('the mutation %s has the outcome in its row', async (name) => {
    const expected = MUTATIONS[name]!.rule[caller]
    // What is refused changes nothing, so all of them can share the target.
    const made = expected === 'ok' ? await createTarget(tenant) : { target, self: itself }
    if (caller === 'self') asks.self = made.self
    const { errors, data } = await run(caller, name, made.target)
    const allowed = CONFLICTS.includes(name) ? 'conflict' : 'ok'
    expect(errors?.[0]?.extensions.code ?? 'ok').toBe(expected === 'ok' ? allowed : expected)
    if (expected === 'ok' && allowed === 'ok') expect(Object.keys(data[name])).not.toHaveLength(0)
  })
})
