import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { docx, word } from '../support/documents.ts'
import { proves } from '../support/domain.ts'
import { openEvents } from '../support/events.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** No message with a value of an agent's secrets leaves, whichever way it is sent, unless a member lets it. */

const HOUR = 3_600_000
const VALUE = 'kD93nfP2-mXz8Qw7s'

let clock: FakeClock
let service: TestService
let elsewhere: string
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({
    environment: { RATE_LIMIT: '100000' },
    world: { clock, resolver: fakeResolver(proves('example.com')) },
  })
  elsewhere = (await service.again()).http
})
beforeEach(async () => {
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  expect((await setSecret('API_KEY', VALUE)).body.guarded).toBe(true)
})

const setSecret = (name: string, value: string) =>
  owner.api('PUT', `/agents/${agent.id}/secrets/${name}`, { value })
const setTo = (secretsInMessages: string) => owner.api('PATCH', `/agents/${agent.id}`, { secretsInMessages })
const send = (fields: object = {}, by = agent.api, headers = {}) =>
  by('POST', path, { channel: 'email', to: ['ann@example.com'], text: 'Hello', ...fields }, headers)
const refusals = async () =>
  (await owner.api('GET', '/audit')).body.items.filter(
    ({ action }: { action: string }) => action === 'message.refuse',
  )
const stored = async () => (await owner.api('GET', path)).body.items.length
const file = (content: string | Buffer, name = 'notes.txt', type = 'text/plain') => ({
  ...{ name, type },
  content: Buffer.from(content as Buffer).toString('base64'),
})

test.each<[string, object, string]>([
  ['text', { text: `The key is ${VALUE}.` }, 'text'],
  ['subject', { subject: Buffer.from(VALUE).toString('base64') }, 'subject'],
  ['HTML', { html: `<p>${[...VALUE].map((one) => `<b>${one}</b>`).join('')}</p>` }, 'html'],
  [
    'an attribute',
    { html: `<p>Hi <a href="https://x.example/?q=${encodeURIComponent(VALUE)}">here</a></p>` },
    'html',
  ],
  ['a recipient', { to: [`${VALUE}@example.com`] }, 'to'],
  ['a copy', { cc: [`${VALUE}@example.com`] }, 'cc'],
  ['the name of a file', { attachments: [file('hi', `${VALUE}.txt`)] }, String.raw`attachments\[0\].name`],
  [
    'a file',
    { attachments: [file('hi'), file(`key=${VALUE}`, 'a.bin', 'application/octet-stream')] },
    String.raw`attachments\[1\]`,
  ],
  [
    'a document, whose bytes are compressed',
    { attachments: [file(docx(word(`The key is ${VALUE}.`)), 'a.docx')] },
    String.raw`attachments\[0\]`,
  ],
  ['two parts', { subject: `begins ${VALUE.slice(0, 8)}`, text: `ends ${VALUE.slice(8)}` }, 'subject, text'],
])('refuses a value in %s, names the secret and not the value', async (_where, fields, named) => {
  const answer = await send(fields)
  expectFailure(answer, 'forbidden', new RegExp(`the secret API_KEY \\(.*${named}`))
  expect(answer.text).not.toContain(VALUE)
  expect(await stored()).toBe(0)
  const [entry] = await refusals()
  expect(entry).toMatchObject({ agentId: agent.id, detail: { secrets: [{ name: 'API_KEY' }] } })
  expect(JSON.stringify(entry)).not.toContain(VALUE)
})

test('members are refused too, and every other message passes', async () => {
  expectFailure(await send({ text: VALUE }, owner.api), 'forbidden')
  expect((await send()).status).toBe(201)
  expect((await send({}, owner.api)).status).toBe(201)
})

test('refuses with an idempotency key, for replies, forwards and drafts, over GraphQL and MCP', async () => {
  const key = { 'Idempotency-Key': randomUUID() }
  expectFailure(await send({ text: VALUE }, agent.api, key), 'forbidden')
  expect((await send({}, agent.api, key)).status).toBe(201)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const written = { from: 'ann@example.com', to: agent.address, text: `Is ${VALUE} yours?` }
  const letter = await receive(service, agent, written)
  expectFailure(
    await agent.api('POST', path, { forward: letter.id, to: ['bo@example.com'], text: 'See' }),
    'forbidden',
  )
  expectFailure(await agent.api('POST', path, { replyTo: letter.id, text: `Yes, ${VALUE}` }), 'forbidden')
  const drafts = `/agents/${agent.id}/drafts`
  const draft = await agent.api('POST', drafts, { channel: 'email', to: ['ann@example.com'], text: VALUE })
  expect(draft.status).toBe(201)
  for (const headers of [{}, { 'Idempotency-Key': randomUUID() }])
    expectFailure(await agent.api('POST', `${drafts}/${draft.body.id}/send`, undefined, headers), 'forbidden')
  expect((await agent.api('GET', `${drafts}/${draft.body.id}`)).status).toBe(200)
  const input = { agentId: agent.id, channel: 'email', to: ['ann@example.com'], text: VALUE }
  const query = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id } } }'
  const answer = await agent.api('POST', '/graphql', { query, variables: { input } })
  expect(answer.body.errors[0]).toMatchObject({ extensions: { code: 'forbidden' } })
  const mcp = await openMcp(service.http, agent.token)
  const sent = { channel: 'email', to: ['ann@example.com'], subject: 'Key', text: VALUE }
  const answered = await mcp.client.callTool({ name: 'send_message', arguments: sent })
  expect(answered.isError).toBe(true)
  expect(JSON.stringify(answered)).toMatch(/the secret API_KEY/)
  const changed = await mcp.call('update_draft', {
    draftId: draft.body.id,
    do: 'send',
    key: 'once',
    text: `Take ${VALUE}`,
  })
  expect(changed.isError).toBe(true)
  expect((await agent.api('GET', `${drafts}/${draft.body.id}`)).body.text).toBe(VALUE)
  await mcp.close()
  expect(await refusals()).toHaveLength(8)
  expect(await stored()).toBe(2)
})

test('neither the name and the address of an agent nor those that it creates have a value', async () => {
  const own = `/agents/${agent.id}`
  const [address] = (await agent.api('GET', `${own}/addresses`)).body
  const value = `${VALUE}@agents.localhost`
  for (const by of [agent.api, owner.api]) {
    expectFailure(await by('PATCH', own, { name: `Ann ${VALUE}` }), 'forbidden', /API_KEY \(name\)/)
    expectFailure(await by('PATCH', `${own}/addresses/${address.id}`, { value }), 'forbidden', /\(value\)/)
  }
  expectFailure(await agent.api('POST', '/agents', { name: VALUE, icon: 'bot' }), 'forbidden', /\(name\)/)
  const mcp = await openMcp(service.http, agent.token)
  expect(JSON.stringify(await mcp.call('create_agent', { name: VALUE }))).toMatch(/forbidden.*API_KEY/)
  await mcp.close()
  expect(await refusals()).toHaveLength(6)
  expect((await agent.api('GET', own)).body.name).not.toContain(VALUE)
  const stranger = await createTestAgent(service, await service.workspace())
  expectFailure(await stranger.api('PATCH', own, { name: VALUE }), 'not_found')
  expect((await owner.api('PATCH', own, { name: 'Ann' })).status).toBe(200)
})

test('a Message URL carries no value of the sender’s secrets', async () => {
  const other = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${other.id}/access/url`, { admit: 'team', senders: [] })
  const { body } = await other.api('PUT', `/agents/${other.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(
    `${service.http}/agents/${other.id}/connections/${body.id}/events`,
    other.token,
  )
  await until(async () => (await other.api('GET', `/agents/${other.id}/listeners`)).body.length > 0)
  const say = (text: string) => agent.api('POST', `/a/${other.id}`, { text })
  expectFailure(await say(`take ${VALUE}`), 'forbidden', /API_KEY \(text\)/)
  expect((await say('hello')).status).toBe(200)
  expect(await refusals()).toHaveLength(1)
  stream.close()
})

describe('a change is known in every process at once', () => {
  const there = () => apiOf(elsewhere, agent.token)
  test('of the secrets', async () => {
    expect((await send({ text: 'aZ19-new-value' }, there())).status).toBe(201)
    await setSecret('NEW', 'aZ19-new-value')
    expectFailure(await send({ text: 'aZ19-new-value' }, there()), 'forbidden', /NEW/)
    await setSecret('NEW', 'other-value-77')
    expect((await send({ text: 'aZ19-new-value' }, there())).status).toBe(201)
    expectFailure(await send({ text: 'other-value-77' }, there()), 'forbidden', /NEW/)
    await owner.api('DELETE', `/agents/${agent.id}/secrets/NEW`)
    expect((await send({ text: 'other-value-77' }, there())).status).toBe(201)
  })

  test('of the setting', async () => {
    expectFailure(await send({ text: VALUE }, there()), 'forbidden')
    await setTo('allow')
    expect((await send({ text: VALUE }, there())).body).toMatchObject({ status: 'sending', hold: null })
    await setTo('hold')
    expect((await send({ text: VALUE }, there())).body).toMatchObject({ hold: { reason: 'approval' } })
  })

  test('of secrets that an earlier release has set', async () => {
    await service.db.prisma.agent.update({ where: { id: agent.id }, data: { guardVersion: 0 } })
    const { guardAgents } = await import('../../src/agent/guard.ts')
    expect(await guardAgents(service.db)).toBe(1)
    expectFailure(await send({ text: VALUE }, there()), 'forbidden')
  })
})

describe('the setting', () => {
  test('is changed by members only, and holds for agents that the agent creates', async () => {
    expectFailure(
      await agent.api('PATCH', `/agents/${agent.id}`, { secretsInMessages: 'allow' }),
      'forbidden',
    )
    expectFailure(await setTo('sometimes'), 'invalid_input')
    await setTo('hold')
    const created = await agent.api('POST', '/agents', { name: 'Child', icon: 'bot' })
    expect((await owner.api('GET', `/agents/${created.body.id}`)).body.secretsInMessages).toBe('hold')
    await setTo('refuse')
    expect((await owner.api('GET', `/agents/${created.body.id}`)).body.secretsInMessages).toBe('refuse')
  })

  test('hold: waits for a member, who sees why', async () => {
    await setTo('hold')
    const { body } = await send({ text: VALUE })
    expect(body.hold).toMatchObject({ reason: 'approval' })
    expect(body.checks).toEqual([
      { name: 'secrets', verdict: 'held', detail: 'contains the value of the secret API_KEY (text)' },
    ])
    expectFailure(await agent.api('POST', `${path}/${body.id}/approve`), 'forbidden')
    expect((await owner.api('POST', `${path}/${body.id}/approve`)).status).toBe(200)
    expect(
      (await owner.api('GET', '/audit')).body.items.map(({ action }: { action: string }) => action),
    ).toEqual(expect.arrayContaining(['message.hold', 'message.approve']))
  })

  test('refuse: not by an approval with a new text either, nor of a message from before', async () => {
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
    const { body } = await send()
    const approve = (edits?: object) => owner.api('POST', `${path}/${body.id}/approve`, edits)
    expectFailure(await approve({ text: `new: ${VALUE}` }), 'forbidden', /API_KEY \(text\)/)
    expectFailure(await approve({ subject: VALUE }), 'forbidden', /API_KEY \(subject\)/)
    expect(await refusals()).toHaveLength(2)
    await setSecret('GREETING', 'unusual greeting 77')
    await setTo('allow')
    const older = (await send({ attachments: [file('unusual greeting 77')] })).body
    await setTo('refuse')
    expectFailure(await owner.api('POST', `${path}/${older.id}/approve`), 'forbidden', /GREETING/)
    expect((await approve({ text: 'fine' })).status).toBe(200)
  })
})

test('short and common values are not looked for, and say so', async () => {
  for (const value of ['short', 'password', '12345678'])
    expect((await setSecret('WEAK', value)).body).toMatchObject({ name: 'WEAK', guarded: false })
  expect((await send({ text: 'password 12345678 short' })).status).toBe(201)
  const query = `mutation { setSecret(input: {agentId: "${agent.id}", name: "WEAK", value: "letmein1"}) { guarded } }`
  expect((await owner.api('POST', '/graphql', { query })).body.data.setSecret.guarded).toBe(false)
})

describe('trying values', () => {
  test('ends after 10 in an hour: then all messages wait, whatever they contain', async () => {
    for (let tried = 0; tried < 10; tried++)
      expectFailure(await send({ text: VALUE }, tried % 2 ? owner.api : agent.api), 'forbidden')
    for (const http of [service.http, elsewhere]) {
      const [right, wrong] = [
        (await send({ text: VALUE }, apiOf(http, agent.token))).body,
        (await send({ text: 'a wrong guess' }, apiOf(http, agent.token))).body,
      ]
      const seen = ({ id, text, replyText, createdAt, threadId, ...message }: Record<string, unknown>) =>
        message
      expect(right.hold).toMatchObject({ reason: 'approval' })
      expect(seen(right)).toEqual(seen(wrong))
      expectFailure(await owner.api('POST', `${path}/${right.id}/approve`), 'rate_limited')
      expectFailure(await owner.api('POST', `${path}/${wrong.id}/approve`), 'rate_limited')
    }
    expect(await refusals()).toHaveLength(10)
    const waiting = (await send({ text: VALUE })).body
    clock.advance(HOUR + 1_000)
    expect((await send()).body.hold).toBeNull()
    expectFailure(await owner.api('POST', `${path}/${waiting.id}/approve`), 'forbidden', /API_KEY/)
  })

  test('is limited with the setting hold as well, and a member can end the wait', async () => {
    await setTo('hold')
    for (let tried = 0; tried < 10; tried++) expect((await send({ text: VALUE })).status).toBe(201)
    expect((await send({ text: 'a wrong guess' })).body.hold).toMatchObject({ reason: 'approval' })
    await setTo('allow')
    expect((await send({ text: 'a wrong guess' })).body.hold).toBeNull()
  })
})
