import { expect, test } from 'vitest'
import { startGraphql } from '../support/graphql.ts'
import { statementsOf } from '../support/statements.ts'

/** The single connection mode of the graphql-sse protocol, request by request. */

const service = await startGraphql()
const ours = await service.tenant()

const stream = (method: string, headers: Record<string, string> = {}, body?: string, query = '') =>
  fetch(`${service.base}/graphql/stream${query}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })

test('a reserved stream can be opened once, and only the API token that reserved it can use it', async () => {
  const authorized = { Authorization: `Bearer ${ours.token}` }
  expect((await stream('PUT')).status).toBe(401)
  const reserved = await stream('PUT', authorized)
  expect(reserved.status).toBe(201)
  const streamToken = await reserved.text()
  const post = (headers: Record<string, string>, operation: object) =>
    stream(
      'POST',
      { ...headers, 'Content-Type': 'application/json', 'X-GraphQL-Event-Stream-Token': streamToken },
      JSON.stringify(operation),
    )
  const operation = { query: '{ viewer { id } }', extensions: { operationId: 'a' } }

  const stranger = await service.tenant()
  const refused = await post({ Authorization: `Bearer ${stranger.token}` }, operation)
  expect([refused.status, await refused.json()]).toMatchObject([
    404,
    { errors: [{ extensions: { code: 'not_found' } }] },
  ])

  const events = await stream('GET', { Accept: 'text/event-stream' }, undefined, `?token=${streamToken}`)
  expect(events.status).toBe(200)
  const again = await stream('GET', { Accept: 'text/event-stream' }, undefined, `?token=${streamToken}`)
  expect([again.status, await again.json()]).toMatchObject([
    409,
    { errors: [{ extensions: { code: 'conflict' } }] },
  ])

  expect((await post(authorized, operation)).status).toBe(202)
  const invalid = await post(authorized, { query: '{ nothing }', extensions: { operationId: 'b' } })
  expect([invalid.status, await invalid.json()]).toMatchObject([
    400,
    { errors: [{ extensions: { code: 'invalid_input' } }] },
  ])
  const unnamed = await post(authorized, { query: '{ viewer { id } }' })
  expect([unnamed.status, await unnamed.json()]).toMatchObject([
    400,
    { errors: [{ extensions: { code: 'invalid_input' } }] },
  ])

  const unfit = await post(authorized, { ...operation, variables: [] })
  expect([unfit.status, await unfit.json()]).toMatchObject([
    400,
    { errors: [{ message: 'variables: must be an object' }] },
  ])

  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('event: complete')) text += (await reader.read()).value
  expect(text).toContain(JSON.stringify({ id: 'a', payload: { data: { viewer: { id: ours.member } } } }))
  await reader.cancel()
})

test('a token can reserve at most 20 event streams', async () => {
  const tenant = await service.tenant()
  const statuses = []
  for (let n = 0; n < 21; n++) {
    const response = await stream('PUT', { Authorization: `Bearer ${tenant.token}` })
    statuses.push(response.status)
    await response.text()
  }
  expect(statuses).toEqual([...Array(20).fill(201), 429])
})

test('queries for a stream that is not open yet are executed once it is opened', async () => {
  const tenant = await service.tenant()
  const agent = await service.agent(tenant)
  const authorized = { Authorization: `Bearer ${tenant.token}` }
  const streamToken = await (await stream('PUT', authorized)).text()
  const headers = {
    ...authorized,
    'Content-Type': 'application/json',
    'X-GraphQL-Event-Stream-Token': streamToken,
  }
  const ask = (operationId: number) =>
    stream(
      'POST',
      headers,
      JSON.stringify({ query: '{ agents { id name } }', extensions: { operationId: String(operationId) } }),
    )

  const { result, statements } = await statementsOf(service.deps.pool, () =>
    Promise.all(Array.from({ length: 30 }, (_, n) => ask(n))),
  )
  expect(result.map(({ status }) => status)).toEqual(Array(30).fill(202))
  expect(statements.filter((statement) => /\bfrom "?(public"\.")?agent\b/i.test(statement))).toEqual([])

  const events = await stream('GET', { Accept: 'text/event-stream' }, undefined, `?token=${streamToken}`)
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (text.split('event: complete').length <= 30) text += (await reader.read()).value
  expect(text.split(agent.id).length).toBe(31)
  await reader.cancel()
})

const MUTATION = 'mutation { createAgent(input: { name: "x", icon: bot }) { agent { id } } }'

test('the id of an operation that was refused is free again, and no stream keeps long ids or long requests', async () => {
  const tenant = await service.tenant()
  const authorized = { Authorization: `Bearer ${tenant.token}` }
  const streamToken = await (await stream('PUT', authorized)).text()
  const headers = { ...authorized, 'X-GraphQL-Event-Stream-Token': streamToken }
  const post = async (operationId: string, query: string, variables = {}) => {
    const body = JSON.stringify({ query, variables, extensions: { operationId, more: 'x' } })
    const response = await stream('POST', { ...headers, 'Content-Type': 'application/json' }, body)
    return [response.status, await response.text()]
  }
  expect(await post('a', '{ nothing }')).toMatchObject([400, expect.stringContaining('Cannot query field')])
  const mutation = new URLSearchParams({
    ...{ query: MUTATION, extensions: '{"operationId":"a"}' },
  })
  expect((await stream('GET', headers, undefined, `?${mutation}`)).status).toBe(405)
  expect((await post('a', '{ viewer { id } }'))[0]).toBe(202)
  expect((await post('a', '{ nothing }'))[0]).toBe(409)
  expect(await post('a'.repeat(101), '{ viewer { id } }')).toMatchObject([
    400,
    expect.stringContaining('extensions.operationId: must be a text of at most 100 characters'),
  ])
  const long = { unused: 'x'.repeat(50_000) }
  expect(await post('b', '{ viewer { id } }', long)).toMatchObject([
    400,
    expect.stringContaining('body: must be at most 40960 bytes for a request that waits'),
  ])
  // What runs at once is kept nowhere.
  expect((await post('b', MUTATION, long))[0]).toBe(202)
})
