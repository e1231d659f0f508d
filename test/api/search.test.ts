import fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { WORDS } from '../../src/message/reading/search.ts'
import { createIndexer, indexMessages } from '../../src/message/reading/search-index.ts'
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

/** What PostgreSQL's parser has rules for, beside words, punctuation and white space. */
const tokens = [
  ...[
    'word',
    'Fox',
    'I',
    "don't",
    "o''x",
    '12',
    '1.5',
    '-3',
    '+4',
    '1e5',
    '.5',
    '5.',
    '10:30',
    '1,000',
    'a1',
    '1a',
    '0x1f',
  ],
  ...[
    'x.y',
    'www.example.com',
    'http://a.b/c?d=e',
    'mailto:',
    'ftp:',
    'ann@example.com',
    '<ann@example.com>',
    'v1.2.3',
  ],
  ...[
    'foo-bar',
    'foo-bar-baz1',
    '/usr/local',
    './x',
    '../y',
    '~/f',
    '~',
    'c:\\d',
    'x_y',
    '_',
    '&amp;',
    '&#39;',
    '&',
  ],
  ...[
    '<b>',
    '</b>',
    '<br/>',
    '<a href="x y">',
    '<!--',
    '-->',
    '<?xml',
    '?>',
    '<a',
    '<-',
    '->',
    '<',
    '>',
    '--',
    '-',
    '+',
    '@',
  ],
  ...[
    '..',
    '...',
    '"',
    "'",
    '(',
    ')',
    '[',
    '{',
    ',',
    '.',
    ':',
    ';',
    '!',
    '?',
    '*',
    '=',
    '|',
    '#',
    '`',
    '\\',
    '/',
    '//',
    '$',
  ],
  ...['naïve', '日本', '“so”', '—', '\u00a0', '\u0001', 'a'.repeat(300), 'b'.repeat(2_100)],
]
const spaces = [' ', ' ', ' ', '\n', '\t', '\r\n', '\f', '\v', '']
const written = fc.oneof(
  fc.array(fc.tuple(fc.constantFrom(...tokens), fc.constantFrom(...spaces)), { maxLength: 40 }),
  fc.array(fc.tuple(fc.constantFrom('the', 'Quick', '(brown)', 'fox,', ...tokens), fc.constant(' ')), {
    maxLength: 80,
  }),
)

test('the index has the same words at the same positions as PostgreSQL finds', async () => {
  const texts = fc.sample(written, { numRuns: 1_500, seed: 13 }).map((each) => each.flat().join(''))
  // More positions than a tsvector has, of one word and of all.
  texts.push(
    `${'fox '.repeat(300)}a.b `.repeat(60),
    'fox a.b '.repeat(400),
    `${'x-y '.repeat(200)}${'the fox '.repeat(9_000)}`,
  )
  const { db } = service
  const reader = await createTestAgent(service, owner, 'Reader')
  const id = await send(reader, 'The first.')
  await db.pool.query(
    `with made as (
       insert into message select (json_populate_record(null::message, (to_jsonb(m) || jsonb_build_object('id', gen_random_uuid(), 'text', t))::json)).*
         from message m, unnest($2::text[]) t where m.id = $1 returning id, agent_id
     )
     insert into unindexed_message (message_id, agent_id) select id, agent_id from made`,
    [id, texts],
  )
  while ((await indexMessages(db)) > 0);
  const { rows } = await db.pool.query<{ text: string; found: string; expected: string }>(
    `select m.text, s.words::text as found, (${WORDS} || array_to_tsvector(array['agent ' || m.agent_id]))::text as expected
       from message m join message_search s on s.message_id = m.id and s.agent_id = m.agent_id where m.agent_id = $1`,
    [reader.id],
  )
  expect(rows.length).toBe(texts.length + 1)
  expect(rows.filter(({ found, expected }) => found !== expected)).toEqual([])
})
