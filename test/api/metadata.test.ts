import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Agent } from '../../src/client/index.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Values that programs keep with messages and agents. */

let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
})
beforeEach(async () => {
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const letter = (subject = 'Order') =>
  receive(service, agent, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })
const send = (metadata: unknown, more: object = {}) =>
  agent.api('POST', path, { channel: 'email', to: ['ann@example.com'], text: 'Hello', metadata, ...more })
const mark = (id: string, metadata: unknown) => agent.api('PATCH', `${path}/${id}`, { metadata })
const listed = async (query: string, list = path, by = owner) =>
  (await by.api('GET', `${list}?${query}`)).body.items.map(({ id }: { id: string }) => id)
const sixteen = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, 'x']))

describe('of a message', () => {
  test('are given when it is sent, and changed with the marks: null removes a key, others stay', async () => {
    const { body } = await send({ order: '4711', step: 'asked' })
    expect(body.metadata).toEqual({ order: '4711', step: 'asked' })
    const changed = await mark(body.id, { step: null, 'sync.at': 'now', empty: '' })
    expect(changed.body.metadata).toEqual({ order: '4711', 'sync.at': 'now', empty: '' })
    expect((await mark(body.id, {})).body.metadata).toEqual(changed.body.metadata)
    expect((await owner.api('GET', `${path}/${body.id}`)).body.metadata).toEqual(changed.body.metadata)
  })

  test('are there for received ones, one by one and in bulk', async () => {
    const [one, two] = [await letter(), await letter('Two')]
    expect(one.metadata).toEqual({})
    await mark(one.id, { order: '1' })
    const many = await agent.api('PATCH', path, {
      ids: [one.id, two.id],
      read: true,
      metadata: { batch: 'b' },
    })
    expect(many.body).toMatchObject([
      { id: one.id, labels: [], metadata: { order: '1', batch: 'b' } },
      { id: two.id, labels: [], metadata: { batch: 'b' } },
    ])
    expect(many.body[0].readAt).not.toBeNull()
  })

  test('are limited in number and length, for all of a bulk or none', async () => {
    const [one, two] = [await letter(), await letter('Two')]
    expect((await mark(one.id, sixteen)).status).toBe(200)
    const many = { ids: [one.id, two.id], metadata: { more: 'x' } }
    expectFailure(await agent.api('PATCH', path, many), 'invalid_input', /^metadata: would give .* 16 keys/)
    expect((await agent.api('GET', `${path}/${two.id}`)).body.metadata).toEqual({})
    expectFailure(await mark(one.id, { more: 'x' }), 'invalid_input', /^metadata: would give/)
    expect((await mark(one.id, { more: 'x', k0: null })).status).toBe(200)
    for (const [wrong, says] of [
      [{ ...sixteen, more: 'x' }, /^metadata: must have at most 16 keys/],
      [{ '': 'x' }, /^metadata: must have at most 16 keys of 1 to 40/],
      [{ ['k'.repeat(41)]: 'x' }, /^metadata: must have at most 16 keys of 1 to 40/],
      [{ 'a\nb': 'x' }, /^metadata: must have/],
      [{ a: 'x'.repeat(501) }, /^metadata\.a: must be at most 500 characters long/],
      [{ a: 'x\0' }, /^metadata\.a: must not contain NUL/],
      [{ a: 1 }, /^metadata\.a: must be a string/],
      [['a'], /^metadata: /],
      ['a', /^metadata: /],
    ] as const) {
      expectFailure(await send(wrong), 'invalid_input', says)
      expectFailure(await mark(one.id, wrong), 'invalid_input', says)
    }
    expectFailure(await send({ a: null }), 'invalid_input', /^metadata\.a: must be a string/)
    expect((await send({ ['🗝'.repeat(40)]: '🗝'.repeat(500) })).status).toBe(201)
  })

  test('filter lists of an agent and of the workspace, all of them together and with other filters', async () => {
    const [one, two, three] = [await letter(), await letter('Two'), await letter('Three')]
    await mark(one.id, { order: '1', kind: 'a b' })
    await mark(two.id, { order: '1' })
    await mark(three.id, { order: '2', 'x.y[z]': '%&=' })
    for (const list of [path, '/messages']) {
      expect(await listed('metadata.order=1', list)).toEqual([two.id, one.id])
      expect(await listed('metadata[order]=1', list)).toEqual([two.id, one.id])
      expect(await listed('metadata.order=1&metadata.kind=a%20b', list)).toEqual([one.id])
      expect(await listed('metadata.order=1&q=two', list)).toEqual([two.id])
      expect(await listed('metadata.order=1&direction=outbound', list)).toEqual([])
      expect(await listed('metadata.order=', list)).toEqual([])
      expect(await listed(`metadata.x.y[z]=${encodeURIComponent('%&=')}`, list)).toEqual([three.id])
      expect(await listed('metadata.order=1&limit=1', list)).toEqual([two.id])
    }
    const twice = await owner.api('GET', `${path}?metadata.order=1&metadata.order=2`)
    expectFailure(twice, 'invalid_input', 'metadata.order: must be given once')
    expectFailure(await owner.api('GET', `${path}?metadata=1`), 'invalid_input', /^metadata: /)
    expectFailure(await owner.api('GET', `${path}?metadata=1&metadata.a=1`), 'invalid_input', /^metadata: /)
    expectFailure(await owner.api('GET', `${path}?metadatum.a=1`), 'invalid_input', 'is not a known field')
    const long = await owner.api('GET', `${path}?metadata.a=${'x'.repeat(501)}`)
    expectFailure(long, 'invalid_input', 'metadata.a: must be at most 500 characters long')
    const key = await agent.api('GET', `${path}?metadata.${'k'.repeat(41)}=x`)
    expectFailure(key, 'invalid_input', 'metadata: must have at most 16 keys of 1 to 40 characters')
  })

  test('belong to one workspace', async () => {
    const { id } = await letter()
    await mark(id, { order: 'mine' })
    const other = await service.workspace()
    expect(await listed('metadata.order=mine', '/messages', other)).toEqual([])
    expectFailure(await other.api('PATCH', `${path}/${id}`, { metadata: { a: 'b' } }), 'not_found')
  })

  test('stay in the service: no mail contains them', async () => {
    const { id } = (await send({ canary: 'seen-4711-nowhere' })).body
    const named = () =>
      readdirSync(join(service.dataDir, 'outbox')).find((name) => name.includes(id) && name.endsWith('.eml'))
    const file = await until(named)
    const mail = readFileSync(join(service.dataDir, 'outbox', file), 'latin1')
    expect(mail).toContain('Hello')
    expect(mail).not.toMatch(/canary|seen-4711-nowhere/i)
  })

  test('a draft keeps them, and an answer does not take them over', async () => {
    const drafts = `/agents/${agent.id}/drafts`
    const content = { channel: 'email', to: ['ann@example.com'], text: 'Hi', metadata: { order: '1' } }
    const draft = (await agent.api('POST', drafts, content)).body
    expect(draft.metadata).toEqual({ order: '1' })
    const sent = (await agent.api('POST', `${drafts}/${draft.id}/send`)).body
    expect(sent.metadata).toEqual({ order: '1' })
    expect((await agent.api('POST', path, { replyTo: sent.id, text: 'More' })).body.metadata).toEqual({})
  })
})

describe('GraphQL, MCP and the client', () => {
  test('set, show and filter by them', async () => {
    const { id } = await letter()
    const query = `mutation ($agentId: UUID!, $id: UUID!) {
      markMessage(input: { agentId: $agentId, messageId: $id, metadata: { order: "1", gone: null } }) { message { metadata } }
    }`
    const marked = (await agent.api('POST', '/graphql', { query, variables: { agentId: agent.id, id } })).body
    expect(marked.data.markMessage.message.metadata).toEqual({ order: '1' })
    const list = `query ($id: UUID!) { agent(id: $id) { messages(metadata: { order: "1" }) { edges { node { id metadata } } } } }`
    const { data } = (await agent.api('POST', '/graphql', { query: list, variables: { id: agent.id } })).body
    expect(data.agent.messages.edges).toEqual([{ node: { id, metadata: { order: '1' } } }])
    const mcp = await openMcp(service.http, agent.token)
    const updated = await mcp.call('update_message', { messageId: id, metadata: { order: '2', seen: 'yes' } })
    expect(updated.result.messages[0].metadata).toEqual({ order: '2', seen: 'yes' })
    expect((await mcp.call('read_message', { messageId: id })).result.metadata).toEqual(
      updated.result.messages[0].metadata,
    )
    const found = await mcp.call('list_messages', { metadata: { seen: 'yes' } })
    await mcp.close()
    expect(found.result.messages).toMatchObject([{ messageId: id }])
    const client = new Agent({ url: service.http, token: agent.token })
    const [message] = await client.list({ metadata: { order: '2' } }).all(10)
    expect(message).toMatchObject({ id, metadata: { order: '2', seen: 'yes' } })
  })
})

describe('of an agent', () => {
  const create = async (metadata: object) =>
    (await owner.api('POST', '/agents', { name: 'Bot', icon: 'bot', metadata })).body
  const names = async (query: string, by = owner.api) =>
    (await by('GET', `/agents?${query}`)).body.map(({ id }: { id: string }) => id)

  test('are given when it is created and changed later, and filter the list', async () => {
    const [one, two] = [await create({ team: 'a', tier: '1' }), await create({ team: 'a' })]
    expect(one.metadata).toEqual({ team: 'a', tier: '1' })
    expect(await names('metadata.team=a')).toEqual([one.id, two.id])
    expect(await names('metadata.team=a&metadata.tier=1')).toEqual([one.id])
    const changed = await owner.api('PATCH', `/agents/${two.id}`, { metadata: { team: null, tier: '1' } })
    expect(changed.body.metadata).toEqual({ tier: '1' })
    expect(await names('metadata.team=a')).toEqual([one.id])
    const { body } = await owner.api('POST', '/graphql', {
      query: '{ agents(metadata: { tier: "1", team: "a" }) { id metadata } }',
    })
    expect(body.data.agents).toEqual([{ id: one.id, metadata: { team: 'a', tier: '1' } }])
    const audit = (await owner.api('GET', '/audit?action=agent.update')).body.items
    expect(audit[0].detail).toEqual({ metadata: ['team', 'tier'] })
  })

  test('are the agent’s own to set, within the limits', async () => {
    expect((await agent.api('PATCH', `/agents/${agent.id}`, { metadata: sixteen })).body.metadata).toEqual(
      sixteen,
    )
    const more = await agent.api('PATCH', `/agents/${agent.id}`, { name: 'Other', metadata: { more: 'x' } })
    expectFailure(more, 'invalid_input', /^metadata: would give the agent more than 16 keys/)
    expect((await agent.api('GET', `/agents/${agent.id}`)).body.name).toBe('Support Bot')
    expect(await names('metadata.k0=x', agent.api)).toEqual([agent.id])
    expect(await names('metadata.k0=y', agent.api)).toEqual([])
  })
})

/** Keys and values that some language or notation would read as something else. */
const HOSTILE: [key: string, value: string][] = [
  ['a.b', 'x'],
  ['a[b]', '[]'],
  ["it's", "o'clock; --"],
  ['"', '"quoted"'],
  ['back\\slash', '\\u0041\\'],
  ['{a,b}', '{}'],
  ['0', '0'],
  ['%', '%_*'],
  [' ', ' '],
  ['ключ', 'значение'],
  ['🗝', 'e\u0301'],
  ['constructor', 'null'],
]

test('every interface reads a hostile key and value the same, and no other for them', async () => {
  const { id } = await letter()
  const target = { agent: `/agents/${agent.id}`, message: `${path}/${id}` }
  const byRest = async (metadata: object, by: Tenant) => {
    const query = Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])
    const url = new URLSearchParams(query)
    return [
      (await by.api('GET', `/agents?${url}`)).body.length,
      (await by.api('GET', `${path}?${url}`)).body.items.length,
    ]
  }
  const byGraphql = async (metadata: object, by: Tenant) => {
    const query = `query ($id: UUID!, $metadata: JSONObject) {
      agents(metadata: $metadata) { id } agent(id: $id) { messages(metadata: $metadata) { edges { node { id } } } }
    }`
    const { data } = (await by.api('POST', '/graphql', { query, variables: { id: agent.id, metadata } })).body
    return [data.agents.length, data.agent.messages.edges.length]
  }
  const client = new Agent({ url: service.http, token: agent.token })
  const byClient = async (metadata: Record<string, string>) => (await client.list({ metadata }).all(9)).length
  for (const [key, value] of HOSTILE) {
    const given = Object.fromEntries([[key, value]])
    for (const one of Object.values(target)) {
      const { status, body } = await agent.api('PATCH', one, { metadata: given })
      expect({ key, status, own: Object.entries(body.metadata) }).toEqual({
        key,
        status: 200,
        own: [[key, value]],
      })
    }
    const others = [
      Object.fromEntries([[key, `${value}x`]]),
      Object.fromEntries([[key, value.normalize('NFC').trim().replaceAll('\\', '')]]),
      Object.fromEntries([[`${key}x`, value]]),
    ].filter((other) => JSON.stringify(other) !== JSON.stringify(given))
    for (const by of [owner, { ...owner, api: agent.api }]) {
      expect([key, ...(await byRest(given, by)), ...(await byGraphql(given, by))]).toEqual([key, 1, 1, 1, 1])
      for (const other of others)
        expect([key, ...(await byRest(other, by)), ...(await byGraphql(other, by))]).toEqual([
          key,
          0,
          0,
          0,
          0,
        ])
    }
    expect([key, await byClient(given)]).toEqual([key, 1])
    const gone = Object.fromEntries([[key, null]])
    for (const one of Object.values(target)) await agent.api('PATCH', one, { metadata: gone })
  }
})

test('a name that programs cannot keep is refused everywhere: a filter without it would find everything', async () => {
  const { id } = await letter()
  const expectRefused = (answer: { status: number; text: string }) => {
    expect(answer.text).toMatch(/must not have a value named __proto__|is not a known field/)
    expect(answer.status).toBeGreaterThanOrEqual(400)
  }
  for (const query of ['metadata.__proto__=x', 'metadata[__proto__]=x', 'metadata.a=b&metadata.__proto__=x'])
    for (const list of ['/agents', path]) expectRefused(await agent.api('GET', `${list}?${query}`))
  for (const json of ['{"metadata":{"__proto__":"x"}}', '{"metadata":{"a":"b","\\u005f_proto__" : "x"}}']) {
    const headers = { Authorization: `Bearer ${agent.token}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${service.http}${path}/${id}`, { method: 'PATCH', headers, body: json })
    expectRefused({ status: answer.status, text: await answer.text() })
  }
  const literal = await agent.api('POST', '/graphql', {
    query: '{ agents(metadata: { __proto__: "x" }) { id } }',
  })
  expect(literal.text).toContain('must not have a value named __proto__')
  const said = { text: 'The key is "__proto__": really', metadata: { note: '"__proto__": "x"' } }
  expect((await send(said.metadata, { text: said.text })).body).toMatchObject(said)
})
