import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { startGraphql } from '../support/graphql.ts'

/** Several operations in one request, and answers that are compressed. */

const service = await startGraphql({ rateLimit: 1_000 })
const { token, ask } = await service.tenant()
const json = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }

const post = async (body: unknown, headers: Record<string, string> = {}, path = '/graphql') => {
  const response = await fetch(service.base + path, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
}
const VIEWER = { query: '{ viewer { kind } }' }
const agent = await service.agent({ token, ask, workspace: '', member: '', email: '' })
const RENAME = 'mutation($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { name } } }'
const rename = (name: string) => ({ query: RENAME, variables: { input: { agentId: agent.id, name } } })
const leftOf = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])

test('several operations are answered in their order, each with its own errors', async () => {
  const { status, headers, body } = await post([
    VIEWER,
    { query: '{ nothing }' },
    {
      query: 'query($id: UUID!) { agent(id: $id) { id } }',
      variables: { id: '00000000-0000-4000-8000-000000000000' },
    },
    { query: '{ viewer { id } }', operationName: null, variables: null },
  ])
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect(body).toMatchObject([
    { data: { viewer: { kind: 'member' } } },
    { errors: [{ extensions: { code: 'invalid_input' } }] },
    { errors: [{ extensions: { code: 'not_found' } }] },
    { data: { viewer: { id: expect.any(String) } } },
  ])
  expect(body[1].errors[0].extensions.http).toBeUndefined()
})

test('mutations run one after the other', async () => {
  const { body } = await post([
    rename('First'),
    rename('Second'),
    { query: `{ agent(id: "${agent.id}") { name } }` },
  ])
  expect(body[2]).toEqual({ data: { agent: { name: 'Second' } } })
})

test.each([
  ['an empty array', []],
  ['more than ten operations', Array(11).fill(VIEWER)],
  ['an array in an array', [[VIEWER]]],
  ['null', [VIEWER, null]],
  ['a text', [VIEWER, '{ viewer { kind } }']],
  ['an unknown parameter', [{ ...VIEWER, x: 1 }]],
  ['a query that is not a text', [VIEWER, { query: 5 }]],
])('an array with %s is refused as a whole', async (_name, given) => {
  const { status, body } = await post(given)
  expect([status, body.errors[0].extensions.code]).toEqual([400, 'invalid_input'])
})

test('an array is refused with an Idempotency-Key, on /graphql/stream, and when only a stream is accepted', async () => {
  const key = await post([VIEWER], { 'Idempotency-Key': 'a' })
  expect([key.status, key.body.errors[0]]).toMatchObject([400, { extensions: { field: 'Idempotency-Key' } }])
  const stream = await post([VIEWER], {}, '/graphql/stream')
  expect([stream.status, stream.body.errors[0]]).toMatchObject([400, { extensions: { field: 'body' } }])
  const accept = await post([VIEWER], { Accept: 'text/event-stream' })
  expect([accept.status, accept.body.errors[0].extensions.code]).toEqual([406, 'invalid_input'])
})

test('a subscription has an error of its own, without an effect on the others', async () => {
  const query = 'subscription { workspaceChanged { position } }'
  const { status, body } = await post([VIEWER, { query }], { Accept: 'application/json, text/event-stream' })
  expect(status).toBe(200)
  expect(body).toMatchObject([
    { data: { viewer: { kind: 'member' } } },
    {
      errors: [{ message: expect.stringContaining('send it alone'), extensions: { code: 'invalid_input' } }],
    },
  ])
})

test('an array without a valid token is refused with 401', async () => {
  const { status, body } = await post([VIEWER], { Authorization: 'Bearer amt_wrong' })
  expect([status, body]).toMatchObject([401, { errors: [{ extensions: { code: 'unauthorized' } }] }])
})

test('an array counts like one document: ten queries as one more, each mutation as one', async () => {
  const before = leftOf((await post(VIEWER)).headers)
  const nine = leftOf((await post(Array(9).fill(VIEWER))).headers)
  const ten = leftOf((await post(Array(10).fill(VIEWER))).headers)
  const three = leftOf((await post([rename('A'), rename('B'), rename('C'), VIEWER])).headers)
  expect([before - nine, nine - ten, ten - three]).toEqual([1, 2, 3])
})

test('the limits of one operation hold for all of an array together', async () => {
  const fields = Array.from({ length: 50 }, (_, n) => `a${n}: viewer { id kind name role email }`).join(' ')
  const many = await post(Array(4).fill({ query: `{ ${fields} }` }))
  expect(many.body.map(({ errors }: { errors?: { message: string }[] }) => errors?.[0]?.message)).toContain(
    'query: must select at most 1000 fields in all operations',
  )
  const list = {
    query: `{ agent(id: "${agent.id}") { threads(first: 100) { edges { node { messages(first: 50) { edges { node { id } } } } } } } }`,
  }
  const alone = await post([list])
  expect(alone.body[0].errors).toBeUndefined()
  const all = await post(Array(10).fill(list))
  expect(all.body.at(-1).errors[0]).toMatchObject({
    message: expect.stringContaining('requests too much at once'),
    extensions: { code: 'invalid_input' },
  })
})

test('only persisted operations are run where only those are accepted', async () => {
  const query = '{ viewer { kind } }'
  const id = createHash('sha256').update(query).digest('hex')
  const closed = await startGraphql({ persisted: new Map([[id, query]]) })
  const tenant = await closed.tenant().catch(() => null)
  const response = await fetch(`${closed.base}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tenant?.token}` },
    body: JSON.stringify([{ documentId: id }, { query }, { query: '{ viewer { name } }' }, {}]),
  })
  expect(await response.json()).toMatchObject([
    { data: { viewer: { kind: 'member' } } },
    { data: { viewer: { kind: 'member' } } },
    { errors: [{ extensions: { code: 'forbidden' } }] },
    { errors: [{ extensions: { code: 'invalid_input', field: 'query' } }] },
  ])
})

test('mutations run one after the other also if they are named by their hash', async () => {
  const rename = (name: string) =>
    `mutation { updateWorkspace(input: { name: "${name}" }) { workspace { name } } }`
  const queries = [rename('First'), rename('Second'), '{ viewer { workspace { name } } }']
  const hashes = queries.map((query) => createHash('sha256').update(query).digest('hex'))
  const closed = await startGraphql({ persisted: new Map(hashes.map((hash, n) => [hash, queries[n]!])) })
  const tenant = await closed.tenant()
  const response = await fetch(`${closed.base}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tenant.token}` },
    body: JSON.stringify(hashes.map((sha256Hash) => ({ extensions: { persistedQuery: { sha256Hash } } }))),
  })
  expect((await response.json())[2]).toEqual({ data: { viewer: { workspace: { name: 'Second' } } } })
})

/** Without a client that decompresses by itself. */
const raw = (
  body: unknown,
  accepted?: string,
): Promise<{ headers: Record<string, unknown>; bytes: Buffer }> =>
  new Promise((resolve, reject) => {
    const headers = { ...json, ...(accepted === undefined ? {} : { 'Accept-Encoding': accepted }) }
    httpRequest(`${service.base}/graphql`, { method: 'POST', headers }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({ headers: response.headers, bytes: Buffer.concat(chunks) })
    })
      .on('error', reject)
      .end(JSON.stringify(body))
  })

test('answers of a kilobyte or more are compressed as the client accepts', async () => {
  const long = { query: '{ __type(name: "Message") { fields { name description } } }' }
  const plain = await raw(long)
  expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding'])
  const brotli = await raw(long, 'gzip, deflate, br')
  expect(brotli.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
  expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes)
  expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 2)
  const gzip = await raw(long, 'gzip, br;q=0')
  expect(gzip.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
  for (const [body, accepted] of [
    [VIEWER, 'br'],
    [long, 'identity'],
    [long, 'zstd'],
  ] as const)
    expect((await raw(body, accepted)).headers['content-encoding']).toBeUndefined()
  const [several] = JSON.parse(brotliDecompressSync((await raw([long, VIEWER], 'br')).bytes).toString())
  expect(several).toEqual(JSON.parse(plain.bytes.toString()))
})
