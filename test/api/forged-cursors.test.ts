import { beforeAll, expect, test } from 'vitest'
import { writeCursor } from '../../src/core/cursor.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const ID = '01a20aa1-8411-7059-b018-d2d25af3483f'
const encoded = (json: string) => Buffer.from(json).toString('base64url')

/** Every kind of value in the place of a time, an id or a number. */
const VALUES = [
  '-62135596800001',
  '-210866803200001',
  '-8640000000000000',
  '8640000000000001',
  '1e300',
  '-1e300',
  '1e999',
  '0.5',
  '-1',
  '9223372036854775808',
  '"2026-01-01"',
  '"-infinity"',
  '"\\u0000"',
  '"\\ud800"',
  'null',
  'true',
  '[]',
]
const CURSORS = [
  ...VALUES.flatMap((value) => [
    encoded(`[${value},"${ID}"]`),
    encoded(`[0,${value}]`),
    encoded(`[${value},${value}]`),
    encoded(`[${value},"x@example.com"]`),
  ]),
  writeCursor(0, 'x'.repeat(300)),
  encoded('[]'),
  'NaN',
  '-1',
  '99999999999999999999',
]

const LISTS = ['', '/messages', '/drafts', '/suppressions', '/threads', '/events']
const notBroken = (where: string, { status, text }: { status: number; text: string }) =>
  expect(status, `${where}: ${text}`).toBeLessThan(500)

test.each([
  ...LISTS.map((list) => (list === '' ? '/agents' : `/agents/{id}${list}`)),
  '/messages',
  '/audit',
  '/agents/{id}/webhooks/{webhook}/deliveries',
])('a forged cursor is refused by %s', async (path) => {
  const { body } = await owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'https://127.0.0.1/hook' })
  const url = path.replace('{id}', agent.id).replace('{webhook}', body.id)
  for (const cursor of CURSORS) notBroken(cursor, await owner.api('GET', `${url}?limit=1&cursor=${cursor}`))
  const past = await owner.api('GET', `${url}?limit=1&cursor=${writeCursor(-8_000_000_000_000_000, ID)}`)
  if (!path.endsWith('/deliveries') && past.status !== 404)
    expect(past.body.error?.code).toBe('invalid_input')
})

test('a forged cursor is refused by every list of GraphQL', async () => {
  const fields = [
    'messages(after: $after) { edges { cursor } }',
    'suppressions(after: $after) { edges { cursor } }',
    'drafts(after: $after) { edges { cursor } }',
    'threads(after: $after) { edges { cursor } }',
  ]
  for (const field of fields)
    for (const after of CURSORS) {
      const query = `query ($id: UUID!, $after: String) { agent(id: $id) { ${field} } }`
      const answer = await owner.api('POST', '/graphql', { query, variables: { id: agent.id, after } })
      const code = answer.body.errors?.[0]?.extensions.code
      expect(['invalid_input', undefined], `${field} ${after}: ${answer.text}`).toContain(code)
    }
})

test.each(['-1', '1e3', 'NaN', '9223372036854775808', '0x10', ' ', '%00'])(
  'a forged position %s of an event stream is refused',
  async (after) => {
    const { body } = await agent.api('POST', `/agents/${agent.id}/connect`, { client: 'x' })
    const path = new URL(
      body.eventsUrl ?? body.url ?? `/agents/${agent.id}/connections/${body.id}/events`,
      service.http,
    ).pathname
    const answer = await agent.api('GET', `${path}?after=${after}`)
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_input'])
  },
)
