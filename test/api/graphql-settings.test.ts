import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { startGraphql } from '../support/graphql.ts'

const VIEWER = '{ viewer { kind } }'
const hash = createHash('sha256').update(VIEWER).digest('hex')

test('with PERSISTED_ONLY, only persisted operations are executed: by id, by hash or by their exact text', async () => {
  const service = await startGraphql({
    persisted: new Map([
      ['who', VIEWER],
      [hash, VIEWER],
    ]),
  })
  const { token } = await service.tenant()
  const ask = async (body: object, path = '/graphql') => {
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: path === '/graphql' ? '*/*' : 'text/event-stream',
    }
    const response = await fetch(service.base + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, text: await response.text() }
  }
  const persistedQuery = { version: 1, sha256Hash: hash }
  for (const body of [
    { documentId: 'who' },
    { documentId: hash },
    { extensions: { persistedQuery } },
    { query: VIEWER },
  ])
    expect(await ask(body)).toEqual({ status: 200, text: '{"data":{"viewer":{"kind":"member"}}}' })
  expect(await ask({ query: '{ viewer { id } }' })).toMatchObject({
    status: 403,
    text: expect.stringContaining('"forbidden"'),
  })
  expect(await ask({ documentId: 'none' })).toMatchObject({
    status: 400,
    text: expect.stringContaining('"invalid_input"'),
  })
  expect((await ask({ query: '{ viewer { id } }' }, '/graphql/stream')).text).toContain('"forbidden"')
  for (const body of [{ query: VIEWER }, { documentId: 'who' }, { extensions: { persistedQuery } }])
    expect((await ask(body, '/graphql/stream')).text).toContain('"kind":"member"')
})

const page = (base: string) =>
  fetch(`${base}/graphql`, { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })

test('GraphiQL is served without external resources, and its content security policy forbids them', async () => {
  const service = await startGraphql()
  const response = await page(service.base)
  const html = await response.text()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(html).toContain('GraphiQL')
  expect(html).not.toMatch(/<(script|link|img)[^>]+(src|href)="https?:/)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(response.headers.get('content-security-policy')).toContain("connect-src 'self'")
})

test('GraphiQL is sent to one address ten times a minute; a browser that has it is only told that it is the same', async () => {
  const service = await startGraphql()
  const etag = (await page(service.base)).headers.get('etag')!
  for (let turn = 0; turn < 20; turn++) {
    const again = await fetch(`${service.base}/graphql`, {
      headers: { Accept: 'text/html', 'If-None-Match': etag },
    })
    expect(again.status).toBe(304)
  }
  const statuses: number[] = []
  for (let turn = 0; turn < 11; turn++) {
    const response = await page(service.base)
    statuses.push(response.status)
    await response.body?.cancel()
  }
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(10)
  expect(statuses.at(-1)).toBe(429)
})

test('with INTROSPECTION off, the schema is not exposed and GraphiQL is not served', async () => {
  const service = await startGraphql({ introspection: false })
  const { ask } = await service.tenant()
  const { errors } = await ask('{ __schema { queryType { name } } }')
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining('disabled'),
    extensions: { code: 'invalid_input' },
  })
  expect((await ask('{ viewe { id } }')).errors?.[0]?.message).not.toContain('viewer')
  expect((await ask('{ viewer { __typename } }')).data).toEqual({ viewer: { __typename: 'Viewer' } })
  expect((await page(service.base)).status).toBe(401)
})

test('the Accept header determines the content type of the response', async () => {
  const service = await startGraphql()
  const tenant = await service.tenant()
  const ask = (accept: string, query = VIEWER) =>
    fetch(`${service.base}/graphql`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tenant.token}`,
        'Content-Type': 'application/json',
        Accept: accept,
      },
      body: JSON.stringify({ query }),
    })
  const typeFor = async (accept: string) => (await ask(accept)).headers.get('content-type')
  expect(await typeFor('*/*')).toBe('application/json; charset=utf-8')
  expect(await typeFor('application/json')).toBe('application/json; charset=utf-8')
  expect(await typeFor('application/graphql-response+json, application/json;q=0.9')).toBe(
    'application/graphql-response+json; charset=utf-8',
  )
  expect(await typeFor('application/graphql-response+json;q=0.1, application/json')).toBe(
    'application/json; charset=utf-8',
  )
  expect(await typeFor('application/json;q=0, */*;q=0.1, application/graphql-response+json;q=0.5')).toBe(
    'application/graphql-response+json; charset=utf-8',
  )
  expect((await ask('application/json;q=0')).status).toBe(406)
  expect(await (await ask('text/event-stream')).text()).toBe(
    ':\n\nevent: next\ndata: {"data":{"viewer":{"kind":"member"}}}\n\nevent: complete\ndata:\n\n',
  )
  expect((await ask('image/png')).status).toBe(406)
  // Refused before execution, since the client could not read the result.
  expect(
    (
      await ask(
        'image/png',
        'mutation { createAgent(input: { name: "Unseen", icon: bot }) { agent { id } } }',
      )
    ).status,
  ).toBe(406)
  expect((await tenant.ask('{ agents { name } }')).data).toEqual({ agents: [] })
})
