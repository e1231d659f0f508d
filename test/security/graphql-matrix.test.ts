import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { hashToken, newToken } from '../../src/workspace/token.ts'
import { type Ask, startGraphql, type TestTenant } from '../support/graphql.ts'
import { objectTypes, payloadOf, rootFields, selectionOf } from '../support/graphql-schema.ts'

/**
 * Who may read and change what, for every field of the schema: one that is in no row fails. Callers are the owner and another member of
 * the workspace, the agent itself, another agent (peer) of the workspace, and another workspace's owner and agent (stranger).
 */
const CALLERS = ['owner', 'member', 'self', 'peer', 'foreign', 'stranger'] as const
type Caller = (typeof CALLERS)[number]
type Outcome = 'ok' | 'forbidden' | 'not_found'
type Rule = Record<Caller, Outcome>

const rule = (owner: Outcome, member: Outcome, self: Outcome, peer: Outcome, foreign: Outcome, stranger: Outcome): Rule => ({
  owner,
  member,
  self,
  peer,
  foreign,
  stranger,
})
/** What belongs to one agent. */
const AGENT = rule('ok', 'ok', 'ok', 'forbidden', 'not_found', 'not_found')
/** What everybody has of their own. */
const OWN = rule('ok', 'ok', 'ok', 'ok', 'ok', 'ok')
/** What every member has of their own, and no agent. */
const MEMBERS = rule('ok', 'ok', 'forbidden', 'forbidden', 'ok', 'forbidden')
/** What only the agent's own token may do. */
const SELF = rule('forbidden', 'forbidden', 'ok', 'forbidden', 'not_found', 'not_found')

const inAgent = (inner: string) => `query ($agentId: UUID!) { agent(id: $agentId) { ${inner} } }`
const inMessage = (inner: string) => `query ($messageId: UUID!) { message(id: $messageId) { ${inner} } }`
const inThread = (inner: string) => `query ($messageId: UUID!) { thread(id: $messageId) { ${inner} } }`

/** Each type: how it is reached (`%` stands for the field), who gets that far, its fields, and those that are for members alone. */
interface TypeRow {
  reach: string
  rule: Rule
  fields: string
  members?: string
}

const page = (field: string) => ({ connection: inAgent(`${field} { % }`), edge: inAgent(`${field} { edges { % } }`) })
const deliveries = { connection: inAgent('webhooks { deliveries { % } }'), edge: inAgent('webhooks { deliveries { edges { % } } }') }
const CONNECTION = { rule: AGENT, fields: 'edges pageInfo' }
const EDGE = { rule: AGENT, fields: 'cursor node' }
const LIMITED = 'agents members ownDomains webhooks sendsPerDay storedMessages'

const TYPES: Record<string, TypeRow> = {
  Viewer: {
    reach: '{ viewer { % } }',
    rule: OWN,
    fields: 'kind id name email role tokenId expiresAt workspace agent may',
    members: 'tokens',
  },
  ViewerMay: {
    reach: '{ viewer { may { % } } }',
    rule: OWN,
    fields: 'createAgents setAccess updateWorkspace inviteMembers inviteOwners removeMembers connect revealSecrets',
  },
  Workspace: {
    reach: '{ workspace { % } }',
    rule: OWN,
    fields: 'id name createdAt settings plan',
    members: 'members invitations domains phoneNumbers',
  },
  WorkspaceSettings: { reach: '{ workspace { settings { % } } }', rule: OWN, fields: 'agentsMaySetAccess agentsMayCreateAgents' },
  Plan: { reach: '{ workspace { plan { % } } }', rule: OWN, fields: 'key limits usage changeAddress' },
  PlanLimits: { reach: '{ workspace { plan { limits { % } } } }', rule: OWN, fields: LIMITED },
  PlanUsage: { reach: '{ workspace { plan { usage { % } } } }', rule: OWN, fields: LIMITED },
  Member: { reach: '{ workspace { members { % } } }', rule: MEMBERS, fields: 'id email name role createdAt' },
  Invitation: { reach: '{ workspace { invitations { % } } }', rule: MEMBERS, fields: 'id email role expiresAt' },
  Domain: { reach: '{ workspace { domains { % } } }', rule: MEMBERS, fields: 'id name state checkedAt createdAt' },
  PhoneNumber: { reach: '{ workspace { phoneNumbers { % } } }', rule: MEMBERS, fields: 'id value addressId createdAt' },
  Agent: {
    reach: inAgent('%'),
    rule: AGENT,
    fields: 'id name icon createdAt addresses access messages threads lastMessage unreadCount secrets listeners webhooks tokens events',
  },
  Address: { reach: inAgent('addresses { % }'), rule: AGENT, fields: 'id channel value domainId primary createdAt' },
  AgentAccess: { reach: inAgent('access { % }'), rule: AGENT, fields: 'email sms telegram url' },
  Access: { reach: inAgent('access { email { % } }'), rule: AGENT, fields: 'admit senders' },
  Token: { reach: inAgent('tokens { % }'), rule: AGENT, fields: 'id name createdAt lastUsedAt expiresAt' },
  Secret: { reach: inAgent('secrets { % }'), rule: AGENT, fields: 'name kind setBy updatedAt' },
  Listener: { reach: inAgent('listeners { % }'), rule: AGENT, fields: 'kind client machine id url' },
  Webhook: {
    reach: inAgent('webhooks { % }'),
    rule: AGENT,
    fields: 'id url createdAt error attempts retryAt lastDeliveredAt deliveries',
  },
  Delivery: { reach: inAgent('webhooks { deliveries { edges { node { % } } } }'), rule: AGENT, fields: 'id eventId status attempts' },
  DeliveryAttempt: {
    reach: inAgent('webhooks { deliveries { edges { node { attempts { % } } } } }'),
    rule: AGENT,
    fields: 'at status error ms',
  },
  Message: {
    reach: inMessage('%'),
    rule: AGENT,
    fields:
      'id addressId channel direction counterpart counterpartName to cc subject text replyText attachments thread threadId status refusal admission error checks createdAt agent',
  },
  Attachment: { reach: inMessage('attachments { % }'), rule: AGENT, fields: 'name type size' },
  Check: { reach: inMessage('checks { % }'), rule: AGENT, fields: 'name verdict detail' },
  ThreadHeaders: { reach: inMessage('thread { % }'), rule: AGENT, fields: 'messageId references' },
  Thread: {
    reach: inThread('%'),
    rule: AGENT,
    fields: 'id agentId channel subject participants messageCount unreadCount lastActivityAt lastMessage messages',
  },
  Participant: { reach: inThread('participants { % }'), rule: AGENT, fields: 'address name' },
  Event: {
    reach: inAgent('events { edges { node { % } } }'),
    rule: AGENT,
    fields: 'id type channel messageId createdAt text sender message',
  },
  EventSender: { reach: inAgent('events { edges { node { sender { % } } } }'), rule: AGENT, fields: 'id kind name email phone' },
  PageInfo: {
    reach: inAgent('messages { pageInfo { % } }'),
    rule: AGENT,
    fields: 'hasNextPage hasPreviousPage startCursor endCursor',
  },
  MessageConnection: { reach: page('messages').connection, ...CONNECTION },
  MessageEdge: { reach: page('messages').edge, ...EDGE },
  ThreadConnection: { reach: page('threads').connection, ...CONNECTION },
  ThreadEdge: { reach: page('threads').edge, ...EDGE },
  EventConnection: { reach: page('events').connection, ...CONNECTION },
  EventEdge: { reach: page('events').edge, ...EDGE },
  DeliveryConnection: { reach: deliveries.connection, ...CONNECTION },
  DeliveryEdge: { reach: deliveries.edge, ...EDGE },
  Connection: {
    reach: 'mutation ($agentId: UUID!) { connect(input: { agentId: $agentId, client: "c", machine: "m" }) { connection { % } } }',
    rule: SELF,
    fields: 'id client machine tokenId',
  },
  RevealedSecret: {
    reach: 'mutation ($agentId: UUID!) { revealSecrets(input: { agentId: $agentId }) { secrets { % } } }',
    rule: SELF,
    fields: 'name value',
  },
}

/** Told by a subscription alone; its row is that one's. */
const TOLD = { WebhookChange: 'webhookId webhook' }

interface Target {
  agentId: string
  addressId: string
  tokenId: string
  webhookId: string
  deliveryId: string
  messageId: string
  memberId: string
  invitationId: string
  ownTokenId: string
}

interface MutationRow {
  input(target: Target): object
  rule: Rule
}
const ofAgent = ({ agentId }: Target) => ({ agentId })
const ofWebhook = ({ agentId, webhookId }: Target) => ({ agentId, webhookId })
/** Ids of a workspace's own: to others they are not there. */
const OWNERS = rule('ok', 'forbidden', 'forbidden', 'forbidden', 'not_found', 'forbidden')
const MEMBERS_ID = rule('ok', 'ok', 'forbidden', 'forbidden', 'not_found', 'forbidden')

const MUTATIONS: Record<string, MutationRow> = {
  createAgent: { rule: OWN, input: () => ({ name: 'New', icon: 'bot' }) },
  updateAgent: { rule: AGENT, input: (t) => ({ ...ofAgent(t), name: 'Renamed' }) },
  deleteAgent: { rule: AGENT, input: ofAgent },
  changeAddress: {
    rule: AGENT,
    input: ({ agentId, addressId }) => ({ agentId, addressId, value: `${randomUUID()}@agents.localhost` }),
  },
  removeAddress: { rule: AGENT, input: ({ agentId, addressId }) => ({ agentId, addressId }) },
  setUpAddress: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'telegram' }) },
  setAccess: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'email', senders: [] }) },
  createToken: { rule: { ...AGENT, self: 'forbidden' }, input: ofAgent },
  revokeToken: { rule: AGENT, input: ({ agentId, tokenId }) => ({ agentId, tokenId }) },
  connect: { rule: SELF, input: (t) => ({ ...ofAgent(t), client: 'c', machine: 'm' }) },
  sendMessage: { rule: AGENT, input: (t) => ({ ...ofAgent(t), text: 'hi', channel: 'email', to: ['bo@example.com'] }) },
  // The list of a Message URL names its agent's creator, whose token each tenant asks with.
  sendToUrl: {
    rule: rule('ok', 'forbidden', 'forbidden', 'forbidden', 'not_found', 'not_found'),
    input: (t) => ({ ...ofAgent(t), text: 'hi' }),
  },
  setSecret: { rule: AGENT, input: (t) => ({ ...ofAgent(t), name: 'NEW', value: 'v' }) },
  deleteSecret: { rule: AGENT, input: (t) => ({ ...ofAgent(t), name: 'KEY' }) },
  revealSecrets: { rule: SELF, input: ofAgent },
  addWebhook: { rule: AGENT, input: (t) => ({ ...ofAgent(t), url: 'http://127.0.0.1:9/another' }) },
  removeWebhook: { rule: AGENT, input: ofWebhook },
  rotateWebhook: { rule: AGENT, input: ofWebhook },
  testWebhook: { rule: AGENT, input: ofWebhook },
  resendDelivery: { rule: AGENT, input: ({ agentId, webhookId, deliveryId }) => ({ agentId, webhookId, deliveryId }) },
  replayWebhook: { rule: AGENT, input: (t) => ({ ...ofWebhook(t), after: 0 }) },
  updateWorkspace: { rule: MEMBERS, input: () => ({ name: 'Renamed' }) },
  inviteMember: { rule: MEMBERS, input: () => ({ email: `${randomUUID()}@example.com` }) },
  revokeInvitation: { rule: MEMBERS_ID, input: ({ invitationId }) => ({ invitationId }) },
  removeMember: { rule: OWNERS, input: ({ memberId }) => ({ memberId }) },
  createOwnToken: { rule: MEMBERS, input: () => ({ name: 'another' }) },
  revokeOwnToken: {
    rule: rule('ok', 'not_found', 'forbidden', 'forbidden', 'not_found', 'forbidden'),
    input: ({ ownTokenId }) => ({ tokenId: ownTokenId }),
  },
}
/** Done by those who may, refused all the same: what is asked of the target can't be. */
const CONFLICTS = ['removeAddress']

const QUERIES: Record<string, { query: string; rule: Rule }> = {
  viewer: { query: '{ viewer { id } }', rule: OWN },
  workspace: { query: '{ workspace { id } }', rule: OWN },
  agents: { query: '{ agents { id } }', rule: OWN },
  agent: { query: inAgent('id'), rule: AGENT },
  message: { query: inMessage('id'), rule: AGENT },
  thread: { query: inThread('id'), rule: AGENT },
}

const SUBSCRIPTIONS: Record<string, string> = {
  messageReceived: 'subscription ($agentId: UUID!) { messageReceived(agentId: $agentId, after: 0) { id } }',
  messageChanged: 'subscription ($agentId: UUID!) { messageChanged(agentId: $agentId) { id } }',
  webhookChanged: `subscription ($agentId: UUID!) { webhookChanged(agentId: $agentId) { webhookId webhook { id } } }`,
}

const service = await startGraphql()
const tenant = await service.tenant()
const foreign = await service.tenant()
const asks = {} as Record<Caller, Ask>
let target: Target

const addMember = async (of: TestTenant) => {
  const [memberId, token] = [randomUUID(), newToken('member')]
  await service.deps.prisma.member.create({ data: { id: memberId, workspaceId: of.workspace, email: `${memberId}@example.com` } })
  await service.deps.prisma.token.create({ data: { workspaceId: of.workspace, memberId, hash: Uint8Array.from(hashToken(token)) } })
  return { memberId, ask: service.askWith(token) }
}

const change = async (ask: Ask, name: string, selection: string, input: object) => {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`
  return ask(`mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`, { input })
}

/** An agent with one of everything, and of its workspace too. */
const createTarget = async (of: TestTenant): Promise<{ target: Target; self: Ask }> => {
  const agent = await service.agent(of, 'Target')
  const agentId = agent.id
  await change(of.ask, 'addWebhook', 'secret', { agentId, url: 'http://127.0.0.1:9/hook' })
  await change(of.ask, 'setSecret', 'secret { name }', { agentId, name: 'KEY', value: 'v' })
  const spare = await change(of.ask, 'createToken', 'record { id }', { agentId })
  const own = await change(of.ask, 'createOwnToken', 'record { id }', {})
  const invited = await change(of.ask, 'inviteMember', 'invitation { id }', { email: `${randomUUID()}@example.com` })
  await service.letter(agent, of, 'hello')
  await service.deps.pool.query(`update job set state = 'delivered', log = '[{"at":"2026-01-01T00:00:00Z","status":200,"ms":1}]'`)
  const query = inAgent('messages { edges { node { id addressId } } } webhooks { id deliveries { edges { node { id } } } }')
  const { messages, webhooks } = (await of.ask(query, { agentId })).data.agent
  const { memberId } = await addMember(of)
  return {
    self: agent.ask,
    target: {
      agentId,
      messageId: messages.edges[0].node.id,
      addressId: messages.edges[0].node.addressId,
      webhookId: webhooks[0].id,
      deliveryId: webhooks[0].deliveries.edges[0].node.id,
      tokenId: spare.data.createToken.record.id,
      ownTokenId: own.data.createOwnToken.record.id,
      invitationId: invited.data.inviteMember.invitation.id,
      memberId,
    },
  }
}

beforeAll(async () => {
  const made = await createTarget(tenant)
  target = made.target
  await service.deps.prisma.domain.create({ data: { workspaceId: tenant.workspace, name: 'example.com', ownershipToken: 't' } })
  await service.deps.prisma.phoneNumber.create({ data: { workspaceId: tenant.workspace, value: '+15551234567', providerId: 'p' } })
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

test('every field, mutation and subscription of the schema has its row', () => {
  const types = objectTypes().filter(({ name }) => !name.endsWith('Payload') && !(name in TOLD)) // payloads are asked for whole
  const walked = Object.fromEntries(types.map((type) => [type.name, Object.keys(type.getFields()).sort()]))
  const rows = Object.entries(TYPES).map(([name, { fields, members }]) => [name, names(fields + (members ? ` ${members}` : '')).sort()])
  expect(walked).toEqual(Object.fromEntries(rows))
  expect(Object.keys(MUTATIONS).sort()).toEqual(rootFields('Mutation').sort())
  expect(Object.keys(QUERIES).sort()).toEqual(rootFields('Query').sort())
  expect(Object.keys(SUBSCRIPTIONS).sort()).toEqual(rootFields('Subscription').sort())
})

describe.each(CALLERS)('for the %s', (caller) => {
  test.each(Object.keys(QUERIES))('the query %s is as its row says', async (name) => {
    const { query, rule } = QUERIES[name]!
    expect(await outcomeOf(asks[caller], query, { ...target })).toBe(rule[caller])
  })

  test.each(Object.keys(TYPES))('every field of %s is as its row says', async (name) => {
    const { reach, rule, members = '' } = TYPES[name]!
    const type = objectTypes().find((one) => one.name === name)!
    for (const field of Object.values(type.getFields())) {
      const expected = names(members).includes(field.name) ? MEMBERS[caller] : rule[caller]
      const outcome = await outcomeOf(asks[caller], reach.replace('%', selectionOf(field)), { ...target })
      expect(`${field.name}: ${outcome}`).toBe(`${field.name}: ${expected}`)
    }
  })

  test.each(Object.keys(SUBSCRIPTIONS))('the subscription %s is as that of any agent', async (name) => {
    if (AGENT[caller] === 'ok') return // test/api/graphql-subscriptions.test.ts
    const response = await asks[caller](SUBSCRIPTIONS[name]!, { ...target }, { Accept: 'text/event-stream, application/json' })
    expect(response.errors?.[0]?.extensions.code).toBe(AGENT[caller])
  })
})

test('an agent that created another sees its columns and nothing else of it', async () => {
  const open = ['id', 'name', 'icon', 'createdAt']
  for (const field of Object.values(
    objectTypes()
      .find(({ name }) => name === 'Agent')!
      .getFields(),
  )) {
    const query = `mutation { createAgent(input: { name: "Child", icon: bot }) { agent { ${selectionOf(field)} } } }`
    expect([field.name, await outcomeOf(asks.self, query, {})]).toEqual([field.name, open.includes(field.name) ? 'ok' : 'forbidden'])
  }
})

const run = (caller: Caller, name: string, on: Target) => change(asks[caller], name, payloadOf(name), MUTATIONS[name]!.input(on))

describe.each(['peer', 'foreign', 'stranger'] as const)('for the %s', (caller) => {
  test.each(Object.keys(MUTATIONS))('the mutation %s is as its row says', async (name) => {
    const { errors } = await run(caller, name, target)
    expect(errors?.[0]?.extensions.code ?? 'ok').toBe(MUTATIONS[name]!.rule[caller])
  })
})

test('nothing of all this changed anything', async () => {
  const query = inAgent('name webhooks { id } secrets { name } tokens { id } access { email { senders } } addresses { id }')
  expect((await tenant.ask(query, { ...target })).data.agent).toMatchObject({
    name: 'Target',
    webhooks: [{ id: target.webhookId }],
    secrets: [{ name: 'KEY' }],
    access: { email: { senders: [tenant.email] } },
    addresses: [{ id: target.addressId }],
  })
  expect((await tenant.ask('{ workspace { name invitations { id } } }')).data.workspace).toMatchObject({
    name: 'Test',
    invitations: [{ id: target.invitationId }],
  })
})

describe.each(['member', 'self', 'owner'] as const)('for the %s', (caller) => {
  test.each(Object.keys(MUTATIONS))('the mutation %s is as its row says', async (name) => {
    const made = await createTarget(tenant)
    if (caller === 'self') asks.self = made.self
    const { errors, data } = await run(caller, name, made.target)
    const allowed = CONFLICTS.includes(name) ? 'conflict' : 'ok'
    const expected = MUTATIONS[name]!.rule[caller]
    expect(errors?.[0]?.extensions.code ?? 'ok').toBe(expected === 'ok' ? allowed : expected)
    if (expected === 'ok' && allowed === 'ok') expect(Object.keys(data[name])).not.toHaveLength(0)
  })
})
