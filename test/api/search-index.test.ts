import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDepths } from '../../src/background/queue-depths.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { findMessages } from '../../src/message/reading/find.ts'
import { indexAgain, indexMessages } from '../../src/message/reading/search-index.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { readSources, withoutComments } from '../support/sources.ts'

// Without a worker, so that the test controls when messages are indexed.
const service = await startService({ environment: { ROLES: 'api' } })
const indexing = { ...service.db, log: silentLogger }
const owner = await service.workspace()

const send = async (from: TestAgent, text: string, subject?: string): Promise<string> => {
  const message = { channel: 'email', to: ['ann@example.com'], text, subject }
  return (await from.api('POST', `/agents/${from.id}/messages`, message)).body.id
}

/** Ways to write more than a word. */
const tokens = [
  ...[
    'word',
    'Fox',
    "don't",
    '12',
    '1.5',
    '-3',
    '+4',
    '1e5',
    '10:30',
    '1,000',
    'a1',
    '0x1f',
    'x.y',
    'AB-1234',
    'v1.2.3',
  ],
  ...[
    'www.example.com',
    'http://a.b/c?d=e',
    'mailto:',
    'ann@example.com',
    '<ann@example.com>',
    'foo-bar-baz1',
    'x_y',
    '_',
  ],
  ...[
    '/usr/local',
    '../y',
    '~/f',
    'c:\\d',
    '&amp;',
    '<b>',
    '<a href="x y">',
    '<!--',
    '-->',
    '<?xml',
    '--',
    '@',
    '..',
    "'",
  ],
  ...[
    'naïve',
    'nai\u0308ve',
    'Straße',
    'İstanbul',
    'ΟΔΟΣ',
    '日本',
    '한국',
    'ｶﾞ',
    '“so”',
    '—',
    '™x™',
    'm²',
    '1️⃣',
    '\u0001',
    '\ud800',
  ],
  ...['soft\u00adhyphen', 'a'.repeat(300), `e${'\u0301\u0316'.repeat(50)}`],
]
const written = fc.array(fc.tuple(fc.constantFrom(...tokens), fc.constantFrom(' ', ' ', '\n', '\t', '')), {
  minLength: 1,
  maxLength: 30,
})

/** Stores copies of a message of the agent with other texts, which are not indexed yet, and returns their ids in order. */
const storeTexts = async (id: string, texts: readonly string[]): Promise<string[]> => {
  const { rows } = await service.db.pool.query<{ id: string }>(
    `with made as (
       insert into message select (json_populate_record(null::message, (to_jsonb(m) || jsonb_build_object('id', gen_random_uuid(), 'text', t))::json)).*
         from message m, unnest($2::text[]) t where m.id = $1 returning id, agent_id, text
     ), queued as (insert into unindexed_message (message_id, agent_id) select id, agent_id from made)
     select id from made order by array_position($2::text[], text)`,
    [id, texts],
  )
  return rows.map((row) => row.id)
}

/** Whether the agent's search for `q` finds the message. */
const finds = async (agentId: string, q: string, id: string): Promise<boolean> => {
  const [page] = await findMessages(service.db, [{ agentId }], { filter: { q }, limit: 1_000 })
  return page!.places.some((place) => place.id === id)
}

test('a message is found by everything in it as it is written', async () => {
  const samples = fc.sample(written, { numRuns: 100, seed: 13 })
  const reader = await createTestAgent(service, owner, 'Reader')
  const texts = samples.map((sample, index) => `n${index} ${sample.flat().join('')}`)
  const ids = await storeTexts(await send(reader, 'The first.'), texts)
  while ((await indexMessages(indexing)) > 0);
  for (const [index, sample] of samples.entries()) {
    // What stands between white space.
    const whole = sample.filter(([, space], at) => space !== '' && sample[at - 1]?.[1] !== '')
    for (const [token] of whole.slice(0, 5)) {
      const q = `n${index} "${token.replaceAll('"', ' ').slice(0, 450)}"`
      expect([q, await finds(reader.id, q, ids[index]!)]).toEqual([q, true])
    }
  }
})

test('plain words have the positions that PostgreSQL gives them, up to the limits of a tsvector', async () => {
  const reader = await createTestAgent(service, owner, 'Plain')
  const texts = [
    'The QUICK brown fox JUMPS over "12" (Lazy, dogs); with vex\'d Nymphs: why not?',
    'fox '.repeat(300),
    `${'x y '.repeat(200)}${'the fox '.repeat(9_000)}`,
    '日本語 naïve “so” — 한국',
  ]
  await storeTexts(await send(reader, 'The first.'), texts)
  await indexMessages(indexing)
  const { rows } = await service.db.pool.query<{ found: string; expected: string }>(
    `select s.words::text as found, (to_tsvector('simple', regexp_replace(t.text, '([一-鿿가-힣])|[“”—]', ' \\1 ', 'g'))
              || array_to_tsvector(array['agent ' || m.agent_id]))::text as expected
       from message m join message_search s on s.message_id = m.id,
            concat_ws(' ', coalesce(m.subject, ''), 'ann example com', m.text) as t(text) where m.agent_id = $1`,
    [reader.id],
  )
  expect(rows.length).toBe(texts.length + 1)
  expect(rows.filter(({ found, expected }) => found !== expected)).toEqual([])
})

test.each([
  ['a text that PostgreSQL could not index', 'b'.repeat(100_000)],
  [
    'a text of 60,000 different words',
    Array.from({ length: 60_000 }, (_, n) => String.fromCodePoint(0x20000 + n)).join(''),
  ],
  ['a text of words that get 18 times as long', 'ﷺ '.repeat(50_000)],
])('%s is clipped, not left out', async (_, text) => {
  const reader = await createTestAgent(service, owner, 'Clipped')
  const [id] = await storeTexts(await send(reader, 'The first.'), [`needle ${text}`])
  while ((await indexMessages(indexing)) > 0);
  expect(await finds(reader.id, 'needle', id!)).toBe(true)
})

/** Indexes a message as versions did that left texts to PostgreSQL's parser. */
const INDEX_EARLIER = `
  with words as (update message_search s set version = 1, words =
      to_tsvector('simple', regexp_replace(m.subject || ' ' || m.counterpart || ' ' || m.text, '([一-鿿぀-ヿ])|[“”—]', ' \\1 ', 'g'))
      || array_to_tsvector(array['agent ' || m.agent_id])
    from message m where m.id = s.message_id and m.agent_id = $1 returning 1)
  select count(*)::int as count from words`

test('messages that an earlier version has indexed are found as before, and are indexed again', async () => {
  const reader = await createTestAgent(service, owner, 'Earlier')
  const text =
    'See www.example.net, file.name.pdf, v1.2.3, foo-bar-baz and 1.5 of AB-1234, 2026-11-23, +15551234567: Straße 東京 naïve snake_case'
  const id = await send(reader, text, 'About it')
  while ((await indexMessages(indexing)) > 0);
  const { rows } = await service.db.pool.query(INDEX_EARLIER, [reader.id])
  expect(rows).toEqual([{ count: 1 }])
  const queries = [
    ...[
      'ann@example.com',
      'www.example.net',
      'file.name.pdf',
      'v1.2.3',
      'foo-bar-baz',
      '1.5',
      'AB-1234',
      '2026-11-23',
    ],
    ...[
      '+15551234567',
      'straße',
      '東京',
      'naïve',
      'snake_case',
      '"file.name.pdf v1.2.3 foo-bar-baz"',
      'See or nothing',
    ],
  ]
  const missed = async (): Promise<string[]> => {
    const found = await Promise.all(queries.map((q) => finds(reader.id, q, id)))
    return queries.filter((_, index) => !found[index])
  }
  expect(await missed()).toEqual([])
  expect(await finds(reader.id, 'strasse name.pdf', id)).toBe(false)
  // Two processes at once.
  const counts = await Promise.all([indexAgain(indexing), indexAgain(indexing)])
  expect(counts.sort()).toEqual([0, 1])
  expect(await indexAgain(indexing)).toBe(0)
  expect(await missed()).toEqual([])
  expect(await finds(reader.id, 'strasse name.pdf', id)).toBe(true)
})

test('a message that cannot be indexed is marked and tried three times; others are indexed meanwhile', async () => {
  const { pool, prisma } = service.db
  const [reader, log] = [await createTestAgent(service, owner, 'Failing'), createTestLog()]
  const worker = { pool, log }
  const first = await send(reader, 'The first.')
  while ((await indexMessages(worker)) > 0);
  await pool.query(`
    create function fail_to_index() returns trigger language plpgsql as $$ begin
      if new.words @@ 'sleepy' then perform pg_sleep(30); end if;
      if new.words @@ 'broken' then raise exception 'cannot index this'; end if;
      return new; end $$;
    create trigger fail before insert or update on message_search for each row execute function fail_to_index()`)
  const [broken, sleepy, fine] = await storeTexts(first, ['it is broken', 'it is sleepy', 'it is fine'])
  while ((await indexMessages(worker)) > 0);
  const versions = async () => {
    const rows = await prisma.messageSearch.findMany({ where: { agentId: reader.id, version: { lt: 2 } } })
    return Object.fromEntries(rows.map(({ messageId, version }) => [messageId, version]))
  }
  expect(await finds(reader.id, 'fine', fine!)).toBe(true)
  expect(await versions()).toEqual({ [broken!]: -1, [sleepy!]: -1 })
  expect(await prisma.unindexedMessage.count()).toBe(0)
  expect((await readDepths(service.db, new Date())).unsearchable).toBe(2)
  expect(log.text().match(/could not index a message for search/g)).toHaveLength(2)
  expect(log.text()).toMatch(/(?=[\s\S]*cannot index this)[\s\S]*statement timeout/)
  for (const version of [-1, -2]) expect(await indexAgain(worker, version)).toBe(2)
  expect(await versions()).toEqual({ [broken!]: -3, [sleepy!]: -3 })
  await pool.query('drop function fail_to_index cascade')
})

test('many messages of one agent delay those of the others by one batch', async () => {
  const [flooded, quiet] = [
    await createTestAgent(service, owner, 'Flooded'),
    await createTestAgent(service, owner, 'Quiet'),
  ]
  await storeTexts(
    await send(flooded, 'The first.'),
    Array.from({ length: 200 }, (_, n) => `flood ${n}`),
  )
  const last = await send(quiet, 'a quiet word')
  const turn = { after: quiet.id }
  expect(await indexMessages(indexing, 20, turn)).toBeGreaterThan(0)
  expect(await service.db.prisma.messageSearch.count({ where: { messageId: last } })).toBe(1)
  expect(await service.db.prisma.unindexedMessage.count()).toBeGreaterThan(150)
  while ((await indexMessages(indexing, 20, turn)) > 0);
  expect(await service.db.prisma.unindexedMessage.count()).toBe(0)
})

test('no statement in the sources uses the parser of PostgreSQL', () => {
  const found = [...readSources()].filter(([, source]) =>
    /\b(?<!array_)to_tsvector|to_tsquery|ts_(parse|debug|headline|lexize)/i.test(withoutComments(source)),
  )
  expect(found.map(([file]) => file)).toEqual([])
})
