import { randomUUID } from 'node:crypto'
import { isNonNullType } from 'graphql'
import { expect, test } from 'vitest'
import { ICONS } from '../../src/agent/agent.ts'
import { AppError } from '../../src/core/errors.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { presentError } from '../../src/graphql/execution/errors.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { newToken } from '../../src/workspace/token/token.ts'
import { type GraphqlAnswer, startGraphql } from '../support/graphql.ts'

const logged: string[] = []
const log: Logger = {
  ...silentLogger,
  error: (fields) => logged.push(JSON.stringify(fields)),
  child: () => log,
}
const service = await startGraphql({ log })
const { token, ask } = await service.tenant()
const agent = await service.agent({ token, ask, workspace: '', member: '', email: '' })

const errorsOf = ({ errors }: GraphqlAnswer) =>
  errors?.map(({ message, extensions: { code, field } }) => ({ message, code, field }))
const url = `${service.base}/graphql`
const authorized = { Authorization: `Bearer ${token}` }
const json = { ...authorized, 'Content-Type': 'application/json' }
const post = (body: string, headers: Record<string, string> = json, path = url) =>
  fetch(path, { method: 'POST', headers, body })

test.each([
  ['without a token', {}],
  ['with an unknown token', { Authorization: 'Bearer amt_wrong' }],
  ['with another authentication scheme', { Authorization: 'Basic YTpi' }],
])('an introspection query %s is refused with 401', async (_name, headers) => {
  const response = await post(JSON.stringify({ query: '{ __schema { queryType { name } } }' }), {
    'Content-Type': 'application/json',
    ...headers,
  })
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
  expect(await response.json()).toEqual({
    errors: [{ message: expect.any(String), extensions: { code: 'unauthorized' } }],
  })
})

test.each([
  ['text/plain', 'POST', { 'Content-Type': 'text/plain' }, 415],
  ['a form body', 'POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
  ['a multipart body', 'POST', { 'Content-Type': 'multipart/form-data; boundary=x' }, 415],
  ['application/graphql', 'POST', { 'Content-Type': 'application/graphql' }, 415],
  ['no content type', 'POST', { 'Content-Type': '' }, 415],
  ['the method PATCH', 'PATCH', { 'Content-Type': 'application/json' }, 405],
])('a request with %s is refused', async (_name, method, headers, status) => {
  const response = await fetch(url, {
    method,
    headers: { ...authorized, ...headers },
    body: '{"query":"{viewer{id}}"}',
  })
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'invalid_input' } }] })
})

test('an unknown path below /graphql is not found', async () => {
  const response = await post('{}', json, `${url}/nothing`)
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { errors: [{ extensions: { code: 'not_found' } }] },
  ])
})

test.each([
  ['invalid JSON', '{', 400],
  ['an empty array', '[]', 400],
  ['no query', '{}', 400],
  ['a query that is not a string', '{"query":5}', 400],
  ['an unknown parameter', '{"query":"{viewer{id}}","x":1}', 400],
  ['a parameter named like a member of every object', '{"query":"{viewer{id}}","toString":1}', 400],
  ['a parameter named __proto__', '{"query":"{viewer{id}}","__proto__":{}}', 400],
  ['variables that are not an object', '{"query":"{viewer{id}}","variables":"x"}', 400],
])('a body with %s is refused', async (_name, body, status) => {
  const response = await post(body)
  const answer = (await response.json()) as GraphqlAnswer
  expect([response.status, answer.errors?.[0]?.extensions.code]).toEqual([status, 'invalid_input'])
})

test('a body over 16 MiB, or over 1 MiB without a Content-Length, is refused with 413', async () => {
  const MIB = 1024 * 1024
  const long = JSON.stringify({ query: '{ viewer { id } }', variables: { x: 'x'.repeat(MIB) } })
  const chunks = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(long))
      controller.close()
    },
  })
  for (const body of [long.padEnd(16 * MIB + 1), chunks]) {
    const response = await fetch(url, { method: 'POST', headers: json, body, duplex: 'half' } as RequestInit)
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { errors: [{ extensions: { code: 'invalid_input' } }] },
    ])
  }
  expect((await post(`{"query":"{viewer{id}}${' '.repeat(MIB)}"}`)).status).toBe(400)
  expect(
    (
      await fetch(url, {
        method: 'POST',
        headers: { ...json, Authorization: 'Bearer amt_garbage' },
        body: long,
      })
    ).status,
  ).toBe(401)
  expect((await ask('{ viewer { kind } }')).data.viewer.kind).toBe('member')
})

test('an Idempotency-Key is refused on /graphql/stream, where it has no effect', async () => {
  const response = await post(
    '{"query":"{viewer{id}}"}',
    { ...json, 'Idempotency-Key': 'a' },
    `${url}/stream`,
  )
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { errors: [{ extensions: { field: 'Idempotency-Key' } }] },
  ])
})

test('GET executes queries and refuses mutations', async () => {
  const get = (query: string) => fetch(`${url}?query=${encodeURIComponent(query)}`, { headers: authorized })
  expect(await (await get('{ viewer { kind } }')).json()).toEqual({ data: { viewer: { kind: 'member' } } })
  const before = (await ask('{ agents { id } }')).data.agents.length
  const refused = await get('mutation { createAgent(input: { name: "x", icon: bot }) { agent { id } } }')
  expect([refused.status, await refused.json()]).toMatchObject([
    405,
    { errors: [{ extensions: { code: 'invalid_input' } }] },
  ])
  expect((await ask('{ agents { id } }')).data.agents).toHaveLength(before)
})

const CREATE = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } } }'
const SEND = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id } } }'
const TOKEN = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { token } }'
const CONNECT = 'mutation ($input: ConnectInput!) { connect(input: $input) { connection { id } } }'
const ACCESS = 'mutation ($input: SetAccessInput!) { setAccess(input: $input) { access { admit } } }'
const HOOK = 'mutation ($input: AddWebhookInput!) { addWebhook(input: $input) { secret } }'
const TAKE = 'mutation ($input: TakeCodeInput!) { takeCode(input: $input) { code { value } } }'
const mail = { agentId: agent.id, text: 'x', channel: 'email', to: ['a@example.com'] }
const emoji = '😀'
const WRONG_ICON = `icon: must be one of ${[...ICONS].sort().join(', ').replaceAll('-', '_')}`

test.each<[string, string, object, string, string]>([
  ['a blank name', CREATE, { name: '  ', icon: 'bot' }, 'name', 'name: must not be blank'],
  ['an empty name', CREATE, { name: '', icon: 'bot' }, 'name', 'name: must be 1 to 100 characters long'],
  [
    'a long name',
    CREATE,
    { name: emoji.repeat(101), icon: 'bot' },
    'name',
    'name: must be 1 to 100 characters long',
  ],
  [
    'a name with a NUL',
    CREATE,
    { name: 'a\0b', icon: 'bot' },
    'name',
    'name: must not contain NUL characters',
  ],
  [
    'a name with an unpaired surrogate',
    CREATE,
    { name: 'a\ud800', icon: 'bot' },
    'name',
    'name: must not contain an unpaired surrogate',
  ],
  ['no name', CREATE, { icon: 'bot' }, 'name', 'name: is required'],
  ['a name that is null', CREATE, { name: null, icon: 'bot' }, 'name', 'name: must not be null'],
  ['a name that is not a string', CREATE, { name: ['x'], icon: 'bot' }, 'name', 'name: must be a string'],
  ['an unknown icon', CREATE, { name: 'x', icon: 'bolt' }, 'icon', WRONG_ICON],
  ['an icon that is not a string', CREATE, { name: 'x', icon: 5 }, 'icon', WRONG_ICON],
  [
    'an unknown field',
    CREATE,
    { name: 'x', icon: 'bot', colour: 'red' },
    'colour',
    'colour: is not a known field',
  ],
  ['an invalid id', SEND, { ...mail, agentId: 'x' }, 'agentId', 'agentId: must be a UUID'],
  [
    'an id with an unknown UUID version',
    SEND,
    { ...mail, replyTo: '00000000-0000-9000-8000-000000000001' },
    'replyTo',
    'replyTo: must be a UUID',
  ],
  [
    'a long text',
    SEND,
    { ...mail, text: 'x'.repeat(32_001) },
    'text',
    'text: must be 1 to 32000 characters long',
  ],
  ['an empty text', SEND, { ...mail, text: '' }, 'text', 'text: must be 1 to 32000 characters long'],
  ['a text that is not a string', SEND, { ...mail, text: 5 }, 'text', 'text: must be a string'],
  [
    'a recipient that is not a string',
    SEND,
    { ...mail, to: ['a@b.c', 5] },
    'to[1]',
    'to[1]: must be a string',
  ],
  [
    'a file that is not an object',
    SEND,
    { ...mail, attachments: [5] },
    'attachments[0]',
    'attachments[0]: must be an object',
  ],
  [
    'a file without content',
    SEND,
    { ...mail, attachments: [{ name: 'a', type: 'text/plain' }] },
    'attachments[0].content',
    'attachments[0].content: is required',
  ],
  [
    'a long subject',
    SEND,
    { ...mail, subject: 'x'.repeat(241) },
    'subject',
    'subject: must be at most 240 characters long',
  ],
  [
    'eleven recipients',
    SEND,
    { ...mail, to: Array(11).fill('a@b.c') },
    'to',
    'to: must contain 1 to 10 recipients',
  ],
  ['a long wait', TAKE, { agentId: agent.id, seconds: 61 }, 'seconds', 'seconds: must be at most 60'],
  ['a negative wait', TAKE, { agentId: agent.id, seconds: -1 }, 'seconds', 'seconds: must be at least 0'],
  ['no recipient', SEND, { ...mail, to: [] }, 'to', 'to: must contain 1 to 10 recipients'],
  [
    'a long recipient',
    SEND,
    { ...mail, to: ['a@b.c', 'x'.repeat(321)] },
    'to[1]',
    'to[1]: must be 1 to 320 characters long',
  ],
  [
    '51 copies',
    SEND,
    { ...mail, cc: Array(51).fill('a@b.c') },
    'cc',
    'cc: must contain at most 50 recipients',
  ],
  [
    'the Message URL as the channel',
    SEND,
    { ...mail, channel: 'url' },
    'channel',
    'channel: must be one of email, sms, telegram',
  ],
  [
    'a reply to an unknown message',
    SEND,
    { agentId: agent.id, text: 'x', replyTo: randomUUID() },
    'replyTo',
    'replyTo: is not a message of this agent',
  ],
  [
    'a long token name',
    TOKEN,
    { agentId: agent.id, name: 'x'.repeat(101) },
    'name',
    'name: must be 1 to 100 characters long',
  ],
  [
    'an expiry in the past',
    TOKEN,
    { agentId: agent.id, expiresAt: '2020-01-01T00:00:00Z' },
    'expiresAt',
    'expiresAt: must be in the future',
  ],
  [
    'an invalid time',
    TOKEN,
    { agentId: agent.id, expiresAt: 'soon' },
    'expiresAt',
    'expiresAt: must be an ISO 8601 timestamp with its time zone, such as 2026-01-31T09:30:00Z',
  ],
  [
    'a time without a UTC offset',
    TOKEN,
    { agentId: agent.id, expiresAt: '2099-01-01T00:00:00' },
    'expiresAt',
    'expiresAt: must be an ISO 8601 timestamp with its time zone, such as 2026-01-31T09:30:00Z',
  ],
  [
    'unsetting the primary address',
    'mutation ($input: ChangeAddressInput!) { changeAddress(input: $input) { address { id } } }',
    { agentId: agent.id, addressId: agent.id, primary: false },
    'primary',
    'primary: must be true',
  ],
  [
    'a long client',
    CONNECT,
    { agentId: agent.id, client: 'x'.repeat(201), machine: 'm' },
    'client',
    'client: must be 1 to 200 characters long',
  ],
  [
    'admitting anyone to the Message URL',
    ACCESS,
    { agentId: agent.id, channel: 'url', admit: 'anyone', senders: [] },
    'admit',
    'admit: must not be anyone for the Message URL',
  ],
  [
    'an invalid sender',
    ACCESS,
    { agentId: agent.id, channel: 'email', senders: ['x'] },
    'senders[0]',
    'senders[0]: must be an email address, or *@domain for a whole domain',
  ],
  [
    'a long URL',
    HOOK,
    { agentId: agent.id, url: `https://example.com/${'x'.repeat(2048)}` },
    'url',
    'url: must be 1 to 2048 characters long',
  ],
])(
  '%s is refused with invalid_input and the name of the field',
  async (_name, query, input, field, message) => {
    const by = query === CONNECT ? agent.ask : ask
    const [error, ...others] = errorsOf(await by(query, { input })) ?? []
    expect(others).toEqual([])
    expect(error).toEqual({
      code: 'invalid_input',
      field,
      message: message || expect.stringMatching(new RegExp(`^${field}: `)),
    })
  },
)

test.each([
  ['createAgent(input: {name: 5, icon: bot})', 'name: must be a string'],
  ['createAgent(input: {name: null, icon: bot})', 'name: must not be null'],
  ['createAgent(input: {icon: bot})', 'name: is required'],
  ['createAgent(input: {name: "x", icon: bolt})', WRONG_ICON],
  ['createAgent(input: {name: "x", icon: "bot"})', WRONG_ICON],
  ['createAgent(input: {name: "x", icon: bot, colour: 1})', 'colour: is not a known field'],
  ['createAgent(input: 5)', 'input: must be an object'],
  ['createAgent(input: null)', 'input: must not be null'],
  ['createAgent', 'input: is required'],
  ['sendMessage(input: {agentId: "x", text: "a"})', 'agentId: must be a UUID'],
  [`sendMessage(input: {agentId: "${agent.id}", text: "a", to: ["a", 5]})`, 'to[1]: must be a string'],
  [
    `sendMessage(input: {agentId: "${agent.id}", text: "a", attachments: [{name: "a", type: "b"}]})`,
    'attachments[0].content: is required',
  ],
  [
    `sendMessage(input: {agentId: "${agent.id}", text: "a", attachments: [{kind: 1}]})`,
    'attachments[0].kind: is not a known field',
  ],
  [
    `replayWebhook(input: {agentId: "${agent.id}", webhookId: "${agent.id}", after: -1})`,
    'after: must be a whole number from 0 to 9007199254740991',
  ],
])('%s in the document is refused with the same error as in a variable', async (mutation, message) => {
  const { errors } = await ask(`mutation { ${mutation} { __typename } }`)
  expect(errors?.map((error) => [error.message, error.extensions])).toContainEqual([
    message,
    { code: 'invalid_input', field: message.split(': ')[0] },
  ])
})

test('a text of 32,000 emoji and a name of 100 emoji are accepted', async () => {
  expect((await ask(SEND, { input: { ...mail, text: emoji.repeat(32_000) } })).errors).toBeUndefined()
  expect((await ask(CREATE, { input: { name: emoji.repeat(100), icon: 'bot' } })).errors).toBeUndefined()
})

test.each([
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
])('the UUID %s is accepted as an id', async (id) => {
  expect(errorsOf(await ask('query ($id: UUID!) { agent(id: $id) { id } }', { id }))).toMatchObject([
    { code: 'not_found' },
  ])
})

const deep = (levels: number): string =>
  levels === 0 ? 'id' : `messages { edges { node { agent { ${deep(levels - 1)} } } } }`

test.each([
  ['a syntax error', '{ agents {', 'Syntax Error'],
  ['an unknown field', '{ agents { colour } }', 'Cannot query field "colour"'],
  ['a missing variable', 'query ($id: UUID!) { agent(id: $id) { id } }', 'id: is required'],
  ['an invalid literal', '{ agent(id: "x") { id } }', 'id: must be a UUID'],
  [
    'a page size that is not a number',
    '{ agents { messages(first: "x") { edges { cursor } } } }',
    'first: must be a whole number',
  ],
  ['a document with too many tokens', `{ agents { ${'id '.repeat(2001)} } }`, 'token'],
  [
    'a document that is too long',
    `{ agents { id } } #${'x'.repeat(100_000)}`,
    'query: must be at most 100000 characters long',
  ],
  [
    'a query with 10,000 aliases',
    `{ ${Array.from({ length: 10_000 }, (_, n) => `a${n}:viewer{id}`).join(' ')} }`,
    '',
  ],
  [
    'a query with 51 aliases',
    `{ ${Array.from({ length: 51 }, (_, n) => `a${n}:viewer{id}`).join(' ')} }`,
    'query: must have at most 50 aliases',
  ],
  [
    'a query with 51 directives',
    `{ viewer { id ${'@include(if: true) '.repeat(51)} } }`,
    'query: must have at most 50 directives',
  ],
  ['a query that is too deep', `{ agents { ${deep(3)} } }`, 'query: must be at most 12 levels deep'],
  [
    'a query with too many fields',
    `{ viewer { ${'id name '.repeat(151)} } }`,
    'query: must select at most 300 fields',
  ],
  [
    'a query for too much data',
    '{ agents { messages(first: 100) { edges { node { id text checks { name } attachments { name } } } } } }',
    'query: requests too much',
  ],
  [
    'fragments that grow exponentially',
    `{ agents { ...a } } ${'abcdefghi'
      .split('')
      .map(
        (name, n) =>
          `fragment ${name} on Agent { ${n === 8 ? 'id' : `x: messages { edges { node { agent { ...${'bcdefghij'[n]} } } } } y: messages { edges { node { agent { ...${'bcdefghij'[n]} } } } }`} }`,
      )
      .join(' ')}`,
    'query: must select at most 300 fields',
  ],
  // All of these are invalid too, which would be said if they had been validated.
  [
    'the same field 490 times',
    `{ colour ${'viewer { id } '.repeat(490)} }`,
    'query: must select at most 300 fields',
  ],
  [
    'a fragment that nothing spreads, with too many fields',
    `{ colour } fragment a on Query { ${'viewer { id } '.repeat(151)} }`,
    'query: must select at most 300 fields',
  ],
  [
    'many operations',
    `{ colour } ${Array.from({ length: 5 }, (_, n) => `query a${n} { viewer { ${'id '.repeat(250)} } }`).join(' ')}`,
    'query: must select at most 1000 fields in all operations',
  ],
  [
    'introspection with 45 aliases',
    `{ colour ${Array.from({ length: 45 }, (_, n) => `a${n}: __schema { types { fields { type { name } } } }`).join(' ')} }`,
    'query: requests too much of the schema at once',
  ],
  [
    'introspection of the types of all fields',
    `{ colour __schema { types { fields { type { ofType { fields { type { name kind } } } } } } } }`,
    'query: requests too much of the schema at once',
  ],
  [
    'introspection with fragments',
    `{ colour ${'abcdefgh'.replace(/./g, '$&: __schema { ...a } ')} } fragment a on __Schema { types { ...b } }
     fragment b on __Type { fields { args { name } type { ...c } } inputFields { type { ...c } } } fragment c on __Type { kind name description ofType { name kind ofType { name } } }`,
    'query: requests too much of the schema at once',
  ],
  [
    'a document with two operations and no operation name',
    'query A { viewer { id } } query B { viewer { id } }',
    'Could not determine what operation to execute',
  ],
  [
    'a page size of 101',
    '{ agents { messages(first: 101) { edges { cursor } } } }',
    'first: must be a whole number from 1 to 100',
  ],
  [
    'a page size of 0',
    '{ agents { messages(first: 0) { edges { cursor } } } }',
    'first: must be a whole number from 1 to 100',
  ],
  [
    'an invalid cursor',
    '{ agents { messages(after: "x") { edges { cursor } } } }',
    'after: is not a valid cursor for this list',
  ],
  [
    'a subscription without an event stream',
    `subscription { messageReceived(agentId: "${agent.id}") { id } }`,
    'The response to a subscription is an event stream',
  ],
])('%s is refused with invalid_input', async (_name, query, message) => {
  const answer = await ask(query, {}, { Accept: 'application/json' })
  expect(answer.errors?.[0]?.extensions.code).toBe('invalid_input')
  expect(answer.errors?.[0]?.message).toContain(message)
  expect(JSON.stringify(answer.errors)).not.toContain('"http"')
})

test('a document with many errors is described up to the fifth', async () => {
  const fields = Array.from({ length: 90 }, (_, n) => `colour${n}`).join(' ')
  expect((await ask(`{ ${fields} }`)).errors).toHaveLength(6)
})

test('a request that is refused before execution has status 400 in application/graphql-response+json', async () => {
  const headers = { Accept: 'application/graphql-response+json' }
  expect((await ask('{ nothing }', {}, headers)).status).toBe(400)
  expect((await ask('{ viewer { kind } }', {}, headers)).status).toBe(200)
  expect(
    (await ask('query ($id: UUID!) { agent(id: $id) { id } }', { id: randomUUID() }, headers)).status,
  ).toBe(200)
})

test('the details of an internal error are logged and not returned', async () => {
  await service.deps.pool.query("update agent set icon = 'broken' where id = $1", [agent.id])
  const answer = await ask('query ($id: UUID!) { agent(id: $id) { name icon } }', { id: agent.id })
  expect(errorsOf(answer)).toEqual([{ code: 'internal', message: 'Something went wrong on our side.' }])
  expect(JSON.stringify(answer.errors)).not.toContain('broken')
  expect(logged).toHaveLength(1)
  await service.deps.pool.query("update agent set icon = 'bot' where id = $1", [agent.id])
})

test('an unreachable database is reported as unavailable, and the causes of errors are not exposed', () => {
  const unreachable = presentError(
    Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' }),
    silentLogger,
  )
  expect(unreachable.toJSON()).toMatchObject({
    extensions: { code: 'unavailable', http: { status: 503, headers: { 'Retry-After': '2' } } },
  })
  expect(unreachable.message).not.toContain('10.0.0.1')
  const limited = presentError(
    new AppError('plan_limit', 'No more.', { cause: new Error('inside') }),
    silentLogger,
  )
  expect(JSON.stringify(limited)).not.toContain('inside')
  expect(presentError(limited, silentLogger)).toBe(limited)
})

test('requests fail with 503 while the database is unreachable and succeed again afterwards', async () => {
  const { pool } = service.deps
  const real = pool.query
  pool.query = (async () => {
    throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' })
  }) as unknown as typeof real
  const anonymous = await service.askWith(newToken('member'))('{ viewer { kind } }')
  const known = await ask('{ agents { id } }')
  pool.query = real
  expect([anonymous.status, anonymous.headers.get('retry-after')]).toEqual([503, '2'])
  for (const answer of [anonymous, known])
    expect(errorsOf(answer)).toEqual([
      { code: 'unavailable', message: 'The service cannot reach its database. Try again shortly.' },
    ])
  expect((await ask('{ viewer { kind } }')).data.viewer.kind).toBe('member')
})

test('the rate limit applies to each token', async () => {
  const strict = await startGraphql({ rateLimit: 3 })
  const tenant = await strict.tenant()
  const statuses = []
  for (let n = 0; n < 4; n++) statuses.push((await tenant.ask('{ viewer { id } }')).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  const refused = await tenant.ask('{ viewer { id } }')
  expect(refused.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.errors?.[0]?.extensions.code).toBe('rate_limited')
})

test('an unreachable database or provider is logged by name, but the end of a stream of a stopping service is not', () => {
  const warned: string[] = []
  const listening: Logger = { ...silentLogger, warn: (_fields, text) => warned.push(text) }
  expect(presentError(new AppError('unavailable', 'The service is stopping.'), listening).message).toBe(
    'The service is stopping.',
  )
  expect(warned).toEqual([])
  presentError(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), listening)
  const failed = new AppError('unavailable', 'The provider does not respond.', {
    cause: new Error('timeout'),
  })
  presentError(failed, listening)
  expect(warned).toEqual(['database unavailable', 'unavailable: The provider does not respond.'])
})

test('a failing mutation does not affect the others in the same document', async () => {
  const { data, errors } = await ask(
    `mutation {
      one: createAgent(input: { name: "One", icon: bot }) { agent { name } }
      two: updateAgent(input: { agentId: "${randomUUID()}", name: "Two" }) { agent { name } }
      three: createAgent(input: { name: "Three", icon: bot }) { agent { name } }
    }`,
  )
  expect(data).toEqual({ one: { agent: { name: 'One' } }, two: null, three: { agent: { name: 'Three' } } })
  expect(errors).toMatchObject([{ path: ['two'], extensions: { code: 'not_found' } }])
})

test('all mutation fields are nullable, so that one failure does not discard the results of the others', () => {
  const fields = Object.values(createSchema().getMutationType()!.getFields())
  expect(fields.length).toBeGreaterThan(20)
  expect(fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual([])
})
