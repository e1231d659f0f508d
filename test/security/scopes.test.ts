import { randomUUID } from 'node:crypto'
import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Scope, scopesIn, scopesOf } from '../../src/core/scopes.ts'
import { scopeOfField } from '../../src/graphql/builder/scopes.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { describeTools, SCOPES_OF_TOOLS } from '../../src/mcp/tools.ts'
import { postRpc } from '../support/mcp.ts'
import {
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * What tokens with scopes can do, generated from the descriptions: every caller with each scope, at every route of REST,
 * every mutation and field of GraphQL, and every tool of MCP. Ids in requests are unknown, so that nothing is changed: what
 * a scope allows then ends in another failure, or in nothing to show.
 */

const HOLDERS = ['member', 'agent'] as const
type Holder = (typeof HOLDERS)[number]
interface Caller {
  holder: Holder
  scope: Scope
  token: string
}

let service: TestService
let owner: Tenant
let agent: TestAgent
let callers: Caller[]

const issue = async (holder: Holder, scopes: readonly Scope[]): Promise<string> => {
  const path = holder === 'member' ? '/tokens' : `/agents/${agent.id}/tokens`
  const { status, body } = await owner.api('POST', path, { scopes })
  expect({ status, scopes: body.scopes }).toEqual({ status: 201, scopes })
  return body.token
}

beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  callers = []
  for (const holder of HOLDERS)
    for (const scope of scopesOf(holder)) callers.push({ holder, scope, token: await issue(holder, [scope]) })
})

const refusalOf = (scope: Scope) => `This token does not have the scope ${scope}.`

/** What is wrong for any of the callers, who all ask at once. */
const wrongFor = async (check: (caller: Caller) => Promise<string[]>): Promise<string[]> =>
  (await Promise.all(callers.map(check))).flat()

/** The scope that a request with one scope is refused for; undefined if it is not. */
const missing = ({ scope }: Caller, needed: readonly Scope[]) => needed.find((one) => one !== scope)

interface Route {
  method: string
  path: string
  needed: Scope[]
}

const routesOf = async (): Promise<Route[]> => {
  const { body } = await owner.api('GET', '/openapi.json')
  return Object.entries<Record<string, { security: { bearer: Scope[] }[] }>>(body.paths).flatMap(
    ([path, item]) =>
      Object.entries(item).map(([method, { security }]) => ({
        ...{ method: method.toUpperCase(), path },
        needed: security[0]!.bearer,
      })),
  )
}

/** Routes without an id, which would change something. */
const CHANGING = new Set([
  'DELETE /workspace',
  'POST /workspace/restore',
  'PATCH /workspace',
  'PATCH /members/me',
])

describe('REST', () => {
  test('every route says what it needs, and asks every caller for it', async () => {
    const routes = await routesOf()
    expect(routes.length).toBeGreaterThan(100)
    const wrong = await wrongFor(async (caller) => {
      const found: string[] = []
      for (const { method, path, needed } of routes) {
        const expected = missing(caller, needed)
        if (expected === undefined && CHANGING.has(`${method} ${path}`)) continue
        const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'index' ? '0' : randomUUID()))
        const { status, body } = await apiOf(service.http, caller.token)(
          method,
          url,
          ...(['POST', 'PUT', 'PATCH'].includes(method) ? [{}] : []),
        )
        const refused = /does not have the scope/.test(JSON.stringify(body ?? ''))
        const isRight =
          expected === undefined
            ? !refused
            : status === 403 && body.error.code === 'forbidden' && body.error.message === refusalOf(expected)
        if (!isRight)
          found.push(`${caller.holder} ${caller.scope} ${method} ${path}: ${status} ${JSON.stringify(body)}`)
      }
      return found
    })
    expect(wrong).toEqual([])
  })

  test('a token without scopes is asked for none, as before', async () => {
    for (const token of [owner.token, agent.token])
      for (const { method, path } of await routesOf()) {
        if (CHANGING.has(`${method} ${path}`)) continue
        const url = path.replaceAll(/\{(\w+)\}/g, () => randomUUID())
        const { body } = await apiOf(service.http, token)(
          method,
          url,
          ...(['POST', 'PUT', 'PATCH'].includes(method) ? [{}] : []),
        )
        expect(JSON.stringify(body ?? '')).not.toContain('does not have the scope')
      }
  })
})

/** A value of a type, with unknown ids. */
const sampleOf = (type: GraphQLInputType): unknown => {
  if (isNonNullType(type)) return sampleOf(type.ofType)
  if (isListType(type)) return [sampleOf(type.ofType)]
  if (isEnumType(type)) return type.getValues()[0]!.name
  if (isInputObjectType(type))
    return Object.fromEntries(
      Object.values(type.getFields())
        .filter((field) => isNonNullType(field.type))
        .map((field) => [field.name, sampleOf(field.type)]),
    )
  const samples: Record<string, unknown> = {
    ...{ UUID: randomUUID(), String: 'x', Int: 1, SafeInt: 1, Boolean: true, JSONObject: {} },
    ...{ DateTime: '2030-01-01T00:00:00Z', EmailAddress: 'nobody@example.com' },
  }
  return samples[type.name]
}

const ask = async (token: string, query: string, variables: object = {}) => {
  const response = await fetch(`${service.http}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  })
  return (await response.json()) as {
    data?: Record<string, unknown> | null
    errors?: { message: string; extensions: { code: string } }[]
  }
}

describe('GraphQL', () => {
  /** Mutations without an id that would change something. */
  const changing = new Set(['updateWorkspace', 'updateOwnMember', 'revokeSessions'])

  test('every mutation asks every caller for its scope', async () => {
    const type = createSchema().getMutationType()!
    const mutations = Object.values(type.getFields())
    const wrong = await wrongFor(async (caller) => {
      const found: string[] = []
      for (const field of mutations) {
        const needed = scopesIn(scopeOfField(type, field as never))
        const expected = missing(caller, needed)
        if (expected === undefined && changing.has(field.name)) continue
        const [input] = field.args
        const query = `mutation ($input: ${input!.type}) { ${field.name}(input: $input) { __typename } }`
        const { errors = [] } = await ask(caller.token, query, { input: sampleOf(input!.type) })
        const refused = errors.filter(({ message }) => /does not have the scope/.test(message))
        const isRight =
          expected === undefined
            ? refused.length === 0
            : refused[0]?.message === refusalOf(expected) && refused[0].extensions.code === 'forbidden'
        if (!isRight) found.push(`${caller.holder} ${caller.scope} ${field.name}: ${JSON.stringify(errors)}`)
      }
      return found
    })
    expect(mutations.length).toBeGreaterThan(50)
    expect(wrong).toEqual([])
  })

  test('a mutation and the route of the same operation need the same', async () => {
    const { body } = await owner.api('GET', '/openapi.json')
    const byName = new Map<string, Scope[]>()
    for (const item of Object.values<Record<string, never>>(body.paths))
      for (const { operationId, security } of Object.values<{
        operationId: string
        security: { bearer: Scope[] }[]
      }>(item))
        byName.set(operationId, security[0]!.bearer)
    const type = createSchema().getMutationType()!
    const compared = Object.values(type.getFields()).filter(({ name }) => byName.has(name))
    expect(compared.length).toBeGreaterThan(45)
    for (const field of compared)
      expect([field.name, scopesIn(scopeOfField(type, field as never))]).toEqual([
        field.name,
        byName.get(field.name),
      ])
  })

  test('every field of the schema checks its scope before anything else', async () => {
    const types = Object.values(createSchema().getTypeMap()).filter(isObjectType)
    let checked = 0
    for (const type of types.filter(({ name }) => !name.startsWith('__')))
      for (const field of Object.values(type.getFields())) {
        // Throws for a field that returns something of which nobody has said what it needs.
        const needed = scopesIn(scopeOfField(type, field as never))
        for (const one of needed) {
          const viewer = { scopes: scopesOf('member').filter((scope) => scope !== one) }
          const resolve = field.subscribe ?? field.resolve!
          expect(() => resolve({}, {}, { viewer }, {} as never), `${type.name}.${field.name}`).toThrow(
            refusalOf(one),
          )
          checked++
        }
      }
    expect(checked).toBeGreaterThan(100)
  })

  test('a resource is behind its scope on every way to it', async () => {
    const token = await issue('agent', ['events'])
    const paths = [
      `{ agent(id: "${agent.id}") { messages { edges { node { text } } } } }`,
      `{ viewer { agent { lastMessage { text } } } }`,
      `{ viewer { agent { threads { edges { node { lastMessage { text } } } } } } }`,
      `{ viewer { workspace { messages { edges { node { text } } } } } }`,
      `{ workspace { threads { edges { node { id } } } } }`,
      `{ thread(id: "${randomUUID()}") { id } }`,
    ]
    for (const query of paths)
      expect((await ask(token, query)).errors).toEqual([
        expect.objectContaining({ message: refusalOf('messages:read') }),
      ])
    const { data, errors } = await ask(token, '{ viewer { scopes agent { id } workspace { name } } }')
    expect({ data, errors }).toMatchObject({
      data: { viewer: { scopes: ['events'], agent: { id: agent.id } } },
      errors: undefined,
    })
  })

  test('a query that was compiled for others asks for scopes too', async () => {
    const query = `query Compiled { agent(id: "${agent.id}") { id messages { edges { node { id } } } } }`
    for (let runs = 0; runs < 30; runs++) expect((await ask(agent.token, query)).errors).toBeUndefined()
    const token = await issue('agent', ['settings'])
    expect((await ask(token, query)).errors).toEqual([
      expect.objectContaining({ message: refusalOf('messages:read') }),
    ])
  })

  test('types whose scope nobody has said are found', () => {
    const type = createSchema().getQueryType()!
    const field = { ...Object.values(type.getFields())[0]!, type: createSchema().getType('Int')! }
    expect(getNamedType(field.type).name).toBe('Int')
    expect(() => scopeOfField(type, field as never)).toThrow('has no scope')
  })
})

describe('MCP', () => {
  test('every tool asks every caller for its scope, and is listed only with it', async () => {
    // Tools are called without what they need; those that wait need nothing, and wait for the shortest time.
    const waits = new Set(
      describeTools({ kind: 'agent', scopes: null })
        .filter(({ inputSchema }) => JSON.stringify(inputSchema).includes('"seconds"'))
        .map(({ name }) => name),
    )
    const wrong = await wrongFor(async (caller) => {
      const found: string[] = []
      const listed = (await postRpc(service.http, caller.token, 'tools/list')).body.result.tools.map(
        ({ name }: { name: string }) => name,
      )
      for (const [name, scope] of SCOPES_OF_TOOLS) {
        const expected = missing(caller, scopesIn(scope))
        if (listed.includes(name) !== (expected === undefined)) found.push(`${caller.scope} lists ${name}`)
        const { body } = await postRpc(service.http, caller.token, 'tools/call', {
          name,
          arguments: waits.has(name) ? { seconds: 1 } : {},
        })
        const text = JSON.stringify(body)
        const isRight =
          expected === undefined ? !/does not have the scope/.test(text) : text.includes(refusalOf(expected))
        if (!isRight) found.push(`${caller.holder} ${caller.scope} ${name}: ${text}`)
      }
      return found
    })
    expect(wrong).toEqual([])
    expect(describeTools({ kind: 'agent', scopes: null }).map(({ name }) => name)).toEqual([
      ...SCOPES_OF_TOOLS.keys(),
    ])
  })

  test('events, resources and their subscriptions ask for a scope', async () => {
    const token = await issue('agent', ['settings'])
    const params = { name: 'message.received', arguments: {}, cursor: null }
    for (const [method, more] of [
      ['events/poll', params],
      ['events/stream', params],
      [
        'events/subscribe',
        { ...params, delivery: { mode: 'webhook', url: 'https://e.example', secret: 's' } },
      ],
      ['events/unsubscribe', { ...params, delivery: { url: 'https://e.example' } }],
      ['subscriptions/listen', { notifications: { resourceSubscriptions: [`inbox://${agent.id}`] } }],
    ] as const)
      expect((await postRpc(service.http, token, method, more)).text).toContain(refusalOf('events'))
    const { text } = await postRpc(service.http, token, 'tools/call', { name: 'whoami', arguments: {} })
    expect(text).toContain(String.raw`\"scopes\":[\"settings\"]`)
    const uri = `inbox://${agent.id}`
    expect((await postRpc(service.http, token, 'resources/read', { uri })).text).toContain(
      refusalOf('messages:read'),
    )
    expect((await postRpc(service.http, token, 'resources/list')).body.result.resources).toEqual([])
  })
})

test('what is forwarded, and files of messages that are sent, have to be readable', async () => {
  const token = await issue('agent', ['messages:write'])
  const api = apiOf(service.http, token)
  const message = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
  const path = `/agents/${agent.id}/messages`
  const sent = await api('POST', path, message)
  expect(sent.status).toBe(201)
  expect((await api('PATCH', `${path}/${sent.body.id}`, { labels: ['orders'] })).status).toBe(200)
  const forwarded = await api('POST', path, { forward: sent.body.id, to: ['eve@example.com'], text: 'see' })
  expect(forwarded).toMatchObject({ status: 403, body: { error: { message: refusalOf('messages:read') } } })
  const files = [{ messageId: sent.body.id, attachmentId: 0 }]
  const called = await postRpc(service.http, token, 'tools/call', {
    name: 'send_message',
    arguments: { channel: 'email', to: ['eve@example.com'], text: 'see', files },
  })
  expect(called.text).toContain(refusalOf('messages:read'))
})

test('the event stream asks for its scope', async () => {
  const [listening, reading] = [await issue('agent', ['events']), await issue('agent', ['messages:read'])]
  const connection = await apiOf(service.http, listening)('PUT', `/agents/${agent.id}/connection`, {
    ...{ client: 'c', machine: 'm' },
  })
  expect(connection.status).toBe(200)
  const path = `/agents/${agent.id}/connections/${connection.body.id}/events`
  expect(await apiOf(service.http, reading)('GET', path)).toMatchObject({
    status: 403,
    body: { error: { message: refusalOf('events') } },
  })
})

test('what others wrote is not read by changing it', async () => {
  const sender = await createTestAgent(service, owner, 'Sender')
  const [address] = (await agent.api('GET', `/agents/${agent.id}/addresses`)).body
  const text = 'The secret plan'
  const to = [address.value]
  await sender.api('POST', `/agents/${sender.id}/messages`, { channel: 'email', to, subject: 'Plan', text })
  const path = `/agents/${agent.id}/messages`
  const list = () => agent.api('GET', `${path}?direction=inbound`)
  const { id } = await until(async () => (await list()).body.items[0])
  const token = await issue('agent', ['messages:write'])
  const marked = await apiOf(service.http, token)('PATCH', `${path}/${id}`, { read: true })
  expect(marked).toMatchObject({
    status: 200,
    body: { id, text: '', subject: null, readAt: expect.any(String) },
  })
  const query = `mutation { markMessage(input: { agentId: "${agent.id}", messageId: "${id}", read: true }) {
    message { id text replyText subject preview codes { value } attachments { name } } } }`
  const { data, errors } = await ask(token, query)
  expect(errors).toBeUndefined()
  expect(data).toMatchObject({ markMessage: { message: { id, text: '' } } })
  expect(JSON.stringify([marked, data])).not.toMatch(/plan/i)
  const all = await agent.api('PATCH', `${path}/${id}`, { read: true })
  expect(all.body).toMatchObject({ subject: 'Plan', text: expect.stringContaining(text) })
})

test('a release lists the sender only with the scope for access', async () => {
  const token = await issue('member', ['messages:write'])
  const path = `/agents/${agent.id}/messages`
  for (const [url, body] of [
    [`${path}/${randomUUID()}/release`, { listSender: true }],
    [`${path}/release`, { ids: [randomUUID()], listSender: true }],
  ] as const)
    expect((await apiOf(service.http, token)('POST', url, body)).body.error.message).toBe(
      refusalOf('settings'),
    )
})
