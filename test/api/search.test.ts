import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createIndexer, indexMessages } from '../../src/message/reading/search-index.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

// Without a worker, so that the test controls when messages are indexed.
const service = await startService({ environment: { ROLES: 'api' } })
const indexing = { ...service.db, log: silentLogger }
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)
const other = await createTestAgent(service, owner, 'Other Bot')

const send = async (from: TestAgent, text: string, subject?: string) =>
  (
    await from.api('POST', `/agents/${from.id}/messages`, {
      channel: 'email',
      to: ['ann@example.com'],
      text,
      subject,
    })
  ).body.id as string

const parcel = await send(agent, 'The parcel left Lisbon on Monday.', 'Your order')
const invoice = await send(agent, 'The invoice for the parcel is attached: Straße 7, naïve café.')
const compound = await send(
  agent,
  'See https://shop.example.net/a/b?ref=AB-1234#top, snake_case in file.name.pdf (v1.2.3), R&D, on 2026-11-23. ™Brand™ ＡＢＣ９',
)
const notice = await send(agent, '荷物は月曜日に東京を出ました。iPhone用ケース', '配送のお知らせ')
const korean = await send(agent, '택배가 서울에서 출발했습니다. พัสดุออกจากกรุงเทพแล้ว 包裹已經離開台北')
const quoting = await send(agent, 'He said “sunrise” — twice, «Größe», …finally: ¿Mañana?😀')
await send(other, 'The parcel of somebody else.')

interface Page {
  items: { id: string }[]
}
const found = async (q: string, by = agent): Promise<string[]> => {
  const { status, body } = await by.api<Page>('GET', `/agents/${by.id}/messages?q=${encodeURIComponent(q)}`)
  expect(status).toBe(200)
  return body.items.map(({ id }) => id)
}
const foundByGraphql = async (q: string): Promise<string[]> => {
  const query =
    'query ($id: UUID!, $q: String!) { agent(id: $id) { messages(first: 10, q: $q) { edges { node { id } } } } }'
  const { body } = await agent.api('POST', '/graphql', { query, variables: { id: agent.id, q } })
  return body.data.agent.messages.edges.map(({ node }: { node: { id: string } }) => node.id)
}

const all = [quoting, korean, notice, compound, invoice, parcel]
const searches: [string, string[]][] = [
  ['parcel', [invoice, parcel]],
  ['PARCEL lisbon', [parcel]],
  ['"left lisbon"', [parcel]],
  ['"lisbon left"', []],
  ['parcel -invoice', [parcel]],
  ['-invoice', [quoting, korean, notice, compound, parcel]],
  ['lisbon or café', [invoice, parcel]],
  ['order', [parcel]],
  ['ann@example.com', all],
  ['sunrise', [quoting]],
  ['größe', [quoting]],
  ['finally mañana', [quoting]],
  ['😀', [quoting]],
  ['“left Lisbon”', [parcel]],
  ['“Lisbon left”', []],
  ['東京', [notice]],
  ['京東', []],
  ['"東京を"', [notice]],
  ['お知らせ 荷物', [notice]],
  ['東京 -荷物', []],
  ['台北 or 東京', [korean, notice]],
  ['iphone用', [notice]],
  ['iPhone ケース', [notice]],
  ['서울', [korean]],
  ['กรุงเทพ', [korean]],
  ['包裹', [korean]],
  ['shop.example.net', [compound]],
  ['"example.net/a/b"', [compound]],
  ['https://shop.example.net/a/b?ref=AB-1234#top', [compound]],
  ['AB-1234', [compound]],
  ['ab-4321', []],
  ['1234', [compound]],
  ['snake_case', [compound]],
  ['name.pdf', [compound]],
  ['file.name.pdf', [compound]],
  ['v1.2.3', [compound]],
  ['2026-11-23', [compound]],
  ['R&D', [compound]],
  ['brand', [compound]],
  ['abc9', [compound]],
  ['ann', all],
  ['<ann@example.com>', all],
  ['ann@example.net', []],
  ['STRASSE', [invoice]],
  ['strasse or finally', [quoting, invoice]],
  ['cafe\u0301', [invoice]],
  ['parcel -"left lisbon"', [invoice]],
  ['--parcel lisbon', [parcel]],
  ['parcel - invoice', [parcel]],
  ['parcel or', []],
  ['"lisbon on" or "on lisbon"', [parcel]],
  ['(parcel) & !lisbon', [parcel]],
  ['"unbalanced lisbon', []],
  ['"left lisbon', [parcel]],
  ['somebody', []],
  ['agent', []],
  [`"agent ${agent.id}"`, []],
  ['!!!', []],
  ["'quoted'' & | ! <-> :*", []],
]

test.each(searches)('searching for %s gives the right messages before they are indexed', async (q, ids) => {
  expect(await found(q)).toEqual(ids)
  expect(await foundByGraphql(q)).toEqual(ids)
})

test('concurrent indexers index each message once', async () => {
  const counts = await Promise.all(Array.from({ length: 4 }, () => indexMessages(indexing, 2)))
  const rest = await indexMessages(indexing)
  expect([...counts, rest].reduce((sum, count) => sum + count)).toBe(7)
  expect(await service.db.prisma.messageSearch.count()).toBe(7)
  expect(await service.db.prisma.unindexedMessage.count()).toBe(0)
})

test.each(searches)('searching for %s gives the right messages after they are indexed', async (q, ids) => {
  expect(await found(q)).toEqual(ids)
  expect(await foundByGraphql(q)).toEqual(ids)
})

test('deleting an agent removes its messages from the index, also those not indexed yet', async () => {
  await send(other, 'One that is not indexed.')
  expect((await owner.api('DELETE', `/agents/${other.id}`)).status).toBe(204)
  await expect.poll(() => service.db.prisma.messageSearch.count()).toBe(6)
  expect(await indexMessages(indexing)).toBe(0)
})

test('a worker indexes new messages', async () => {
  const indexer = createIndexer({ ...service.db, clock: systemClock, log: silentLogger })
  indexer.start()
  const late = await send(agent, 'A latecomer.')
  await until(async () => (await service.db.prisma.messageSearch.count({ where: { messageId: late } })) === 1)
  await indexer.stop()
  expect(await found('latecomer')).toEqual([late])
})

test.each([
  ...[
    '((((-',
    `((((${'-'.repeat(60)}`,
    '(-'.repeat(240),
    '-'.repeat(500),
    '"'.repeat(499),
    '!&|'.repeat(166),
    `${'-'.repeat(99)}a`,
  ],
  ...[
    'a_'.repeat(250),
    'a -'.repeat(166),
    'a or '.repeat(100),
    '~/'.repeat(250),
    '<!--'.repeat(125),
    '日'.repeat(500),
    'ﷺ'.repeat(500),
  ],
  ...['"a', "'", '\\', "a'b\\", ':*', 'a:*', '<->', 'a<2>b', '% _', '\u00ad', 'or', '-or', 'or or or'],
])('the query %.20s gets results or a clear error', async (q) => {
  const [rest, gql] = await Promise.all([
    owner.api('GET', `/messages?q=${encodeURIComponent(q)}`),
    owner.api('POST', '/graphql', {
      query: 'query ($q: String!) { workspace { messages(first: 1, q: $q) { edges { cursor } } } }',
      variables: { q },
    }),
  ])
  expect([200, 400]).toContain(rest.status)
  expect([undefined, 'invalid_input']).toContain(rest.body.error?.code)
  expect(gql.body.errors?.[0].extensions.code).toBe(rest.body.error?.code)
})
