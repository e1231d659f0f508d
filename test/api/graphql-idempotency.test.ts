import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { dump, holds } from '../support/dump.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)

const ask = async (who: Tenant | TestAgent, key: string, query: string, variables: object = {}) => {
  const { status, body, headers } = await who.api(
    'POST',
    '/graphql',
    { query, variables },
    { 'Idempotency-Key': key },
  )
  return { status, ...body, replayed: headers.get('idempotency-replayed') === 'true' }
}
const CREATE =
  'mutation ($name: String!) { createAgent(input: { name: $name, icon: bot }) { agent { id name addresses { value } } } }'
const countNamed = (name: string) => service.db.prisma.agent.count({ where: { name } })

test('repeating a mutation with the same key returns the first response and changes nothing', async () => {
  const first = await ask(owner, 'once', CREATE, { name: 'Once' })
  expect(first).toMatchObject({
    status: 200,
    replayed: false,
    data: { createAgent: { agent: { name: 'Once' } } },
  })
  for (const key of ['once', '"once"']) {
    const again = await ask(owner, key, CREATE, { name: 'Once' })
    expect(again).toEqual({ ...first, replayed: true })
  }
  expect(await countNamed('Once')).toBe(1)
})

test('a different request with a used key is refused, in GraphQL and in REST', async () => {
  await ask(owner, 'taken', CREATE, { name: 'Taken' })
  const wrong = {
    errors: [
      { message: 'Idempotency-Key: was used for another request', extensions: { code: 'invalid_input' } },
    ],
  }
  expect(await ask(owner, 'taken', CREATE, { name: 'Other' })).toMatchObject(wrong)
  const rest = await owner.api(
    'POST',
    '/agents',
    { name: 'Taken', icon: 'bot' },
    { 'Idempotency-Key': 'taken' },
  )
  expect(rest).toMatchObject({ status: 400, body: { error: { code: 'invalid_input' } } })
})

test('of 20 concurrent requests with one key, one is executed and the others get its response or a conflict', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => ask(owner, 'crowd', CREATE, { name: 'Crowd' })),
  )
  const made = answers.filter(({ data }) => data?.createAgent)
  expect(new Set(made.map(({ data }) => data.createAgent.agent.id)).size).toBe(1)
  for (const { errors } of answers.filter(({ data }) => !data?.createAgent))
    expect(errors).toMatchObject([{ extensions: { code: 'conflict' } }])
  expect(await countNamed('Crowd')).toBe(1)
})

test('a failed mutation releases its key', async () => {
  expect(await ask(owner, 'free', CREATE, { name: ' ' })).toMatchObject({ data: { createAgent: null } })
  expect((await ask(owner, 'free', CREATE, { name: 'Free' })).data.createAgent.agent.name).toBe('Free')
})

test('a message that is sent twice with the same key is created once', async () => {
  const query = `mutation { sendMessage(input: { agentId: "${agent.id}", channel: email, to: ["ann@example.com"], text: "hi" }) { message { id status } } }`
  const first = await ask(agent, 'send', query)
  expect(first.data.sendMessage.message.status).toBe('sending')
  expect(await ask(agent, 'send', query)).toEqual({ ...first, replayed: true })
  expect(await service.db.prisma.message.count({ where: { agentId: agent.id } })).toBe(1)
})

test('a replayed response contains tokens and Message URL texts, which are not stored in plain text', async () => {
  const text = `unmistakable ${randomUUID()} words`
  await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
  const token = `mutation { createToken(input: { agentId: "${agent.id}" }) { token } }`
  const url = `mutation ($text: String!) { heard: sendToUrl(input: { agentId: "${agent.id}", text: $text }) { event { id text type } } }`
  const [made, sent] = [await ask(owner, 'token', token), await ask(owner, 'url', url, { text })]
  expect(sent.data.heard.event.text).toBe(text)
  expect(await ask(owner, 'token', token)).toEqual({ ...made, replayed: true })
  expect(await ask(owner, 'url', url, { text })).toEqual({ ...sent, replayed: true })
  const dumped = await dump(service.db)
  for (const kept of [made.data.createToken.token, text]) expect(holds(dumped, kept)).toBe(false)
})

test('revealing secrets again with the same key reads the current values and is audited each time', async () => {
  await owner.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'one' })
  const reveal = () =>
    ask(
      agent,
      'reveal',
      `mutation { revealSecrets(input: { agentId: "${agent.id}" }) { secrets { value } } }`,
    )
  expect((await reveal()).data.revealSecrets.secrets).toEqual([{ value: 'one' }])
  await owner.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'two' })
  expect((await reveal()).data.revealSecrets.secrets).toEqual([{ value: 'two' }])
  expect(
    await service.db.prisma.auditEntry.count({ where: { agentId: agent.id, action: 'secret.reveal' } }),
  ).toBe(2)
})

test('queries and idempotent mutations ignore the key', async () => {
  const rename = `mutation ($name: String!) { updateAgent(input: { agentId: "${agent.id}", name: $name }) { agent { name } } }`
  for (const name of ['First', 'Second'])
    expect((await ask(owner, 'patch', rename, { name })).data.updateAgent.agent.name).toBe(name)
  for (const _ of [1, 2])
    expect(await ask(owner, 'patch', '{ viewer { kind } }')).toMatchObject({
      replayed: false,
      data: { viewer: {} },
    })
})

test.each([
  [
    'two mutations',
    `mutation { a: createAgent(input: { name: "Two", icon: bot }) { agent { id } } b: createAgent(input: { name: "Two", icon: bot }) { agent { id } } }`,
  ],
  [
    'two mutations in fragments',
    `mutation { ...f ...{ b: createAgent(input: { name: "Two", icon: bot }) { agent { id } } } } fragment f on Mutation { a: createAgent(input: { name: "Two", icon: bot }) { agent { id } } }`,
  ],
])('%s in one request with a key are refused', async (_, query) => {
  expect(await ask(owner, 'two', query)).toMatchObject({
    errors: [{ message: 'Idempotency-Key: is for one mutation at a time' }],
  })
  expect(await countNamed('Two')).toBe(0)
})

test('a key that is too long is refused', async () => {
  expect(await ask(owner, 'x'.repeat(256), CREATE, { name: 'Long' })).toMatchObject({
    status: 400,
    errors: [{ extensions: { field: 'Idempotency-Key' } }],
  })
  expect(await countNamed('Long')).toBe(0)
})
