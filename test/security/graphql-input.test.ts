import { expect, test } from 'vitest'
import { startGraphql } from '../support/graphql.ts'
import { statementsOf } from '../support/statements.ts'

/** Invalid input is refused with a code before it causes any SQL statement. */

const service = await startGraphql()
const tenant = await service.tenant()
const agent = await service.agent(tenant)
await service.know(tenant.token)
const url = `${service.base}/graphql`
const authorized = { Authorization: `Bearer ${tenant.token}` }
const json = { ...authorized, 'Content-Type': 'application/json' }

const bodyOf = (query: string, variables: object = {}) => JSON.stringify({ query, variables })
const post = async (body: string, headers: Record<string, string> = json, path = '') => {
  const response = await fetch(url + path, { method: 'POST', headers, body })
  const answer = (await response.json()) as { errors?: { message: string; extensions: { code: string } }[] }
  return { status: response.status, code: answer.errors?.[0]?.extensions.code, text: JSON.stringify(answer) }
}

const CREATE = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } } }'
const SEND = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { id } } }'
const AGENT = 'query ($id: UUID!) { agent(id: $id) { id } }'
const deep = (levels: number): string =>
  levels === 0 ? 'id' : `messages { edges { node { agent { ${deep(levels - 1)} } } } }`
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const aliases = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: agents { id }`).join(' ')

const WRONG: [string, string][] = [
  ['an invalid UUID', bodyOf(AGENT, { id: 'x' })],
  ['a number as a UUID', bodyOf(AGENT, { id: 5 })],
  ['an invalid UUID in the document', bodyOf('{ agent(id: "x") { id } }')],
  ['an invalid timestamp', bodyOf('{ agents { messages(since: "soon") { edges { cursor } } } }')],
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'].map(
    (since): [string, string] => [
      'a time in no year that can be stored',
      bodyOf('query ($since: DateTime) { workspace { audit(since: $since) { edges { cursor } } } }', {
        since,
      }),
    ],
  ),
  [
    'NUL in an identity',
    bodyOf(
      'mutation ($value: String!) { removeIdentity(input: { channel: sms, value: $value }) { value } }',
      {
        value: '+\0',
      },
    ),
  ],
  ['an invalid position', bodyOf('subscription { messageReceived(agentId: "x", after: -1) { id } }')],
  ['a wrong type', bodyOf(CREATE, { input: { name: 5, icon: 'bot' } })],
  ['a missing field', bodyOf(CREATE, { input: { icon: 'bot' } })],
  ['an unknown input field', bodyOf(CREATE, { input: { name: 'x', icon: 'bot', colour: 'red' } })],
  ['an unknown value', bodyOf(CREATE, { input: { name: 'x', icon: 'bolt' } })],
  ['no input', bodyOf(CREATE)],
  [
    '100,000 wrong values',
    bodyOf(SEND, { input: { agentId: agent.id, text: 'x', to: Array(100_000).fill(5) } }),
  ],
  [
    '100,000 unknown fields',
    bodyOf(CREATE, { input: Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`f${n}`, n])) }),
  ],
  [
    'deeply nested lists',
    `{"query":"${SEND}","variables":{"input":{"agentId":"${agent.id}","text":"x","to":${nested(50_000)}}}}`,
  ],
  [
    'deeply nested lists in an unused variable',
    `{"query":"{ agents { id } }","variables":{"x":${nested(200_000)}}}`,
  ],
  ['an unknown field', bodyOf('{ agents { colour } }')],
  ['an unknown argument', bodyOf('{ agents(colour: 1) { id } }')],
  ['an unknown fragment', bodyOf('{ agents { ...none } }')],
  [
    'a cycle of fragments',
    bodyOf('{ agents { ...a } } fragment a on Agent { ...b } fragment b on Agent { ...a }'),
  ],
  ['a syntax error', bodyOf('{ agents {')],
  ['a query that is too deep', bodyOf(`{ agents { ${deep(3)} } }`)],
  ['a very deep query', bodyOf(`{ agents { ${deep(300)} } }`)],
  ['10,000 braces', bodyOf('{'.repeat(10_000))],
  ['a query with too many fields', bodyOf(`{ agents { ${'id name '.repeat(151)} } }`)],
  [
    'a query for too much data',
    bodyOf(
      '{ agents { messages(first: 100) { edges { node { id text checks { name } attachments { name } } } } } }',
    ),
  ],
  ['51 aliases', bodyOf(`{ ${aliases(51)} }`)],
  ['10,000 aliases', bodyOf(`{ ${aliases(10_000)} }`)],
  ['a document of 1 MB', bodyOf(`{ agents { id } } #${'x'.repeat(1_000_000)}`)],
  ['a body of more than 1 MiB', bodyOf(AGENT, { id: 'x'.repeat(1_100_000) })],
  ['1,000 directives', bodyOf(`{ agents { id ${'@include(if: true) '.repeat(1_000)} } }`)],
  [
    'a subscription that is not streamed',
    bodyOf(`subscription { messageChanged(agentId: "${agent.id}") { id } }`),
  ],
  ['a batch in a batch', `[[${bodyOf(CREATE, { input: { name: 'x', icon: 'bot' } })}]]`],
  ['an empty batch', '[]'],
  ['an unknown parameter', JSON.stringify({ query: '{ agents { id } }', colour: 'red' })],
  ['a query that is not a string', JSON.stringify({ query: { agents: true } })],
  ['variables that are not an object', JSON.stringify({ query: '{ agents { id } }', variables: [] })],
  ['invalid JSON', '{'],
  ['an unknown operation name', JSON.stringify({ query: 'query A { agents { id } }', operationName: 'B' })],
]

test.each(WRONG)('%s is refused with invalid_input without any SQL statement', async (_name, body) => {
  const headers = { ...json, Accept: 'application/json' }
  const { result, statements } = await statementsOf(service.deps.pool, () => post(body, headers))
  expect({ code: result.code, statements }).toEqual({ code: 'invalid_input', statements: [] })
  expect(result.text.length).toBeLessThan(2_000)
})

test.each([
  ['text/plain', 'text/plain'],
  ['form data', 'application/x-www-form-urlencoded'],
  ['multipart data', 'multipart/form-data; boundary=x'],
  ['text/plain that names JSON', 'text/plain; application/json'],
  ['application/graphql', 'application/graphql'],
])(
  'a body of %s, which another site can make a browser send, is refused with 415 before any lookup',
  async (_name, type) => {
    const body = bodyOf(CREATE, { input: { name: 'x', icon: 'bot' } })
    for (const path of ['', '/stream']) {
      const send = () => post(body, { Authorization: 'Bearer unknown', 'Content-Type': type }, path)
      const { result, statements } = await statementsOf(service.deps.pool, send)
      expect([result.status, result.code, statements]).toEqual([415, 'invalid_input', []])
    }
  },
)

test('a mutation by GET is refused', async () => {
  const query = encodeURIComponent(
    'mutation { createAgent(input: { name: "x", icon: bot }) { agent { id } } }',
  )
  const { result, statements } = await statementsOf(service.deps.pool, () =>
    fetch(`${url}?query=${query}`, { headers: authorized }),
  )
  expect([result.status, statements]).toEqual([405, []])
})

test('a document with 51 mutations is refused without any SQL statement', async () => {
  const query = `mutation { ${Array.from({ length: 51 }, (_, n) => `a${n}: createAgent(input: { name: "x", icon: bot }) { agent { id } }`).join(' ')} }`
  const { result, statements } = await statementsOf(service.deps.pool, () => post(bodyOf(query)))
  expect([result.code, statements]).toEqual(['invalid_input', []])
})

test('invalid input is refused in less than 100 ms on average', async () => {
  const started = performance.now()
  for (const [, body] of WRONG) await post(body, { ...json, Accept: 'application/json' })
  expect((performance.now() - started) / WRONG.length).toBeLessThan(100)
})
