import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createIndexer, indexMessages } from '../../src/message/reading/search.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

// Without a worker, so that the test controls when messages are indexed.
const service = await startService({ environment: { ROLES: 'api' } })
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

const searches: [string, string[]][] = [
  ['parcel', [invoice, parcel]],
  ['PARCEL lisbon', [parcel]],
  ['"left lisbon"', [parcel]],
  ['"lisbon left"', []],
  ['parcel -invoice', [parcel]],
  ['-invoice', [quoting, korean, notice, parcel]],
  ['lisbon or café', [invoice, parcel]],
  ['order', [parcel]],
  ['ann@example.com', [quoting, korean, notice, invoice, parcel]],
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
  const counts = await Promise.all(Array.from({ length: 4 }, () => indexMessages(service.db, 2)))
  const rest = await indexMessages(service.db)
  expect([...counts, rest].reduce((sum, count) => sum + count)).toBe(6)
  expect(await service.db.prisma.messageSearch.count()).toBe(6)
  expect(await service.db.prisma.unindexedMessage.count()).toBe(0)
})

test.each(searches)('searching for %s gives the right messages after they are indexed', async (q, ids) => {
  expect(await found(q)).toEqual(ids)
  expect(await foundByGraphql(q)).toEqual(ids)
})

test('deleting an agent removes its messages from the index, also those not indexed yet', async () => {
  await send(other, 'One that is not indexed.')
  expect((await owner.api('DELETE', `/agents/${other.id}`)).status).toBe(204)
  await expect.poll(() => service.db.prisma.messageSearch.count()).toBe(5)
  expect(await indexMessages(service.db)).toBe(0)
})

test('a worker indexes new messages', async () => {
  const indexer = createIndexer({ ...service.db, clock: systemClock, log: silentLogger })
  indexer.start()
  const late = await send(agent, 'A latecomer.')
  await until(async () => (await service.db.prisma.messageSearch.count({ where: { messageId: late } })) === 1)
  await indexer.stop()
  expect(await found('latecomer')).toEqual([late])
})
