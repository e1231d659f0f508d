import { beforeAll, expect, test } from 'vitest'
import { startGraphql, type TestTenant } from '../support/graphql.ts'
import { statementsOf } from '../support/statements.ts'

/**
 * Queries of a dashboard with their numbers of SQL statements, which do not depend on the number of agents,
 * messages and webhooks.
 */
const QUERIES: Record<string, { query: string; statements: number }> = {
  'the viewer and their permissions': {
    query: '{ viewer { kind name may { createAgents } workspace { name } } }',
    statements: 2,
  },
  'the agents with their last message and unread count': {
    query: '{ agents { id name icon unreadCount lastMessage { subject counterpart createdAt } } }',
    statements: 3,
  },
  'the agents with all their settings': {
    query: `{ agents { name addresses { value primary } access { email { admit senders } url { admit } } webhooks { url error } tokens { name }
      secrets { name } listeners { kind client url } } }`,
    statements: 10,
  },
  'the state of each agent': {
    query: `{ agents(first: 200) { id name unreadCount activity listening { now since } unheardCount heldCount refusedCount signature } }`,
    statements: 8,
  },
  'the webhooks of the workspace with what blocks them': {
    query: `{ workspace { webhooks(failing: true) { id url blocking { createdAt attempts { at status error answer { body } } } }
      mailHealth { domain sent bounced complained } } }`,
    statements: 4,
  },
  "an agent's inbox page": {
    query: `query ($agent: UUID!) { agent(id: $agent) { name messages(first: 20) { edges { cursor node { id counterpart counterpartName subject
      text status createdAt attachments { name size } } } pageInfo { hasNextPage endCursor } } } }`,
    statements: 2,
  },
  'a message search': {
    query:
      'query ($agent: UUID!) { agent(id: $agent) { messages(q: "letter", direction: inbound) { edges { node { subject text } } } } }',
    statements: 4,
  },
  'the threads of an agent': {
    query: `query ($agent: UUID!) { agent(id: $agent) { unreadCount threads(first: 20) { edges { node { subject participants { name address }
      messageCount unreadCount lastMessage { preview } } } pageInfo { hasNextPage } } } }`,
    statements: 6,
  },
  'a thread with its messages': {
    query: `query ($message: UUID!) { thread(id: $message) { subject participants { address } messages(first: 50) { edges { node { text direction
      status checks { name verdict } attachments { name } agent { name } } } } } }`,
    statements: 5,
  },
  'webhooks with their last deliveries': {
    query: `query ($agent: UUID!) { agent(id: $agent) { webhooks { url error retryAt deliveries(first: 5) { edges { node { status eventId
      attempts { at status ms } } } } } } }`,
    statements: 3,
  },
  'the event log with its messages': {
    query:
      'query ($agent: UUID!) { agent(id: $agent) { events(first: 20) { edges { node { id channel sender { name } message { subject } } } } } }',
    statements: 3,
  },
  'the workspace with its members and its plan': {
    query: `{ workspace { name members { email role } invitations { email } domains { name state } phoneNumbers { value }
      plan { key limits { agents } usage { agents members ownDomains webhooks sendsPerDay storedMessages } } } }`,
    statements: 10,
  },
  'the domains with their records': {
    query: '{ workspace { domains { name state records { purpose name ok problem } } } }',
    statements: 3,
  },
}

const service = await startGraphql()
const small = await service.tenant()
const large = await service.tenant()
let ids: Record<'small' | 'large', { agent: string; message: string }>

const MESSAGE = 'query ($id: UUID!) { agent(id: $id) { messages(first: 1) { edges { node { id } } } } }'

const addDomains = async ({ workspace: workspaceId }: TestTenant, domains: number) => {
  for (let n = 0; n < domains; n++) {
    const name = `d${n}-${workspaceId}.example`
    await service.deps.prisma.domain.create({ data: { workspaceId, name, ownershipToken: 't' } })
    const keys = { publicKey: 'p', privateKey: new Uint8Array(), ed25519PublicKey: 'e' }
    await service.deps.prisma.dkimKey.create({ data: { workspaceId, domain: name, selector: 's', ...keys } })
  }
}

const fill = async (tenant: TestTenant, agents: number, letters: number, hooks: number) => {
  await addDomains(tenant, hooks)
  let last = { agent: '', message: '' }
  for (let n = 0; n < agents; n++) {
    const agent = await service.agent(tenant, `Agent ${n}`)
    for (let hook = 0; hook < hooks; hook++)
      await tenant.ask(
        'mutation ($id: UUID!, $url: String!) { addWebhook(input: { agentId: $id, url: $url }) { secret } }',
        {
          id: agent.id,
          url: `http://127.0.0.1:9/${hook}`,
        },
      )
    await tenant.ask(
      'mutation ($id: UUID!) { setSecret(input: { agentId: $id, name: "A", value: "b" }) { secret { name } } }',
      {
        id: agent.id,
      },
    )
    for (let letter = 0; letter < letters; letter++) await service.letter(agent, tenant, `letter ${letter}`)
    const { data } = await tenant.ask(MESSAGE, { id: agent.id })
    last = { agent: agent.id, message: data.agent.messages.edges[0].node.id }
  }
  return last
}

beforeAll(async () => {
  await service.know(small.token)
  await service.know(large.token)
  ids = { small: await fill(small, 1, 1, 1), large: await fill(large, 8, 12, 4) }
})

test.each(Object.keys(QUERIES))('the query for %s takes a fixed number of SQL statements', async (name) => {
  const { query, statements: expected } = QUERIES[name]!
  const counted: number[] = []
  for (const [tenant, variables] of [
    [small, ids.small],
    [large, ids.large],
  ] as const) {
    const { result, statements } = await statementsOf(service.deps.pool, () => tenant.ask(query, variables))
    expect(result.errors).toBeUndefined()
    counted.push(statements.length)
  }
  expect(counted).toEqual([expected, expected])
})
