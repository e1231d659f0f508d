import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { isUnavailable, openDb } from '../../src/db/client.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts'
import { openTestDatabase } from '../support/database.ts'
import { forgetful, temporaryDir } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const db = await openTestDatabase(4)
const dir = temporaryDir()
const own: EmbeddedPostgres = await startEmbedded({ dir, log: silentLogger, settings: forgetful })

afterAll(async () => {
  await own.stop()
  rmSync(dir, { recursive: true, force: true })
})

const failure = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('the promise was not rejected')
}

test('a server that does not answer a query counts as unavailable, and an idle connection stays', async () => {
  const client = await db.pool.connect()
  try {
    const { stream } = (client as typeof client & { connection: { stream: Socket } }).connection
    expect(stream.timeout).toBeGreaterThan(30_000) // longer than the server's own limit of a statement
    stream.emit('timeout')
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    const unanswered = failure(client.query('SELECT pg_sleep(10)'))
    stream.emit('timeout')
    expect(isUnavailable(await unanswered)).toBe(true)
  } finally {
    client.release(true)
  }
})

test('a connection is given one statement at a time, also of those that are begun at the same time', async () => {
  const client = await db.pool.connect()
  try {
    const { _queryQueue: queued } = client as typeof client & { _queryQueue: unknown[] }
    const answers = ['SELECT 1 AS n', 'SELECT nothing', 'SELECT 2 AS n', 'SELECT 3 AS n'].map((text) =>
      client.query(text).then(
        ({ rows }) => [rows[0].n, queued.length],
        ({ code }) => [code, queued.length],
      ),
    )
    expect(queued).toHaveLength(0)
    expect(await Promise.all(answers)).toEqual([
      [1, 0],
      ['42703', 0],
      [2, 0],
      [3, 0],
    ])
  } finally {
    client.release()
  }
})

test('int8 is returned as a number if that is exact', async () => {
  const { rows } = await db.pool.query(
    'SELECT 9007199254740991::int8 AS safe, 9007199254740993::int8 AS wide, count(*) AS n FROM (VALUES (1)) AS v',
  )
  expect(rows).toEqual([{ safe: 9007199254740991, wide: '9007199254740993', n: 1 }])
})

test.each([
  `'{}'::text[]`,
  `array['a', 'b c', 'naïve']`,
  `array['NULL', null, '', 'NULLABLE', 'a NULL']`,
  `array['a,b', '"q"', '{x}', 'back\\slash', E'line\nbreak']`,
  `array[['a', 'b'], ['c', 'd']]`,
  `'[2:3]={a,b}'::text[]`,
  `'2026-02-01 10:20:30.123456+00'::timestamptz`,
  `'2026-02-01 10:20:30+02'::timestamptz`,
  `'1969-12-31 23:59:59.9+00'::timestamptz`,
  `'0050-01-01 00:00:00+00'::timestamptz`,
  `'10000-01-01 00:00:00+00'::timestamptz`,
  `'0044-03-15 12:00:00+00 BC'::timestamptz`,
  `'infinity'::timestamptz`,
])('%s has the value that pg reads', async (sql) => {
  const text = `SELECT ${sql} AS value`
  const [own, theirs] = [await db.pool.query(text), await db.pool.query({ text, types: pg.types })]
  expect(own.rows).toEqual(theirs.rows)
  expect(own.rows[0].value).not.toBeNull()
})

test('a timestamp is the same moment in every time zone of the session', async () => {
  const results = await db.pool.query(
    `BEGIN; SET LOCAL timezone = 'Asia/Kolkata'; SELECT '2026-02-01 10:20:30.5+00'::timestamptz AS at; COMMIT`,
  )
  const [, , selected] = results as unknown as pg.QueryResult[]
  expect(selected?.rows).toEqual([{ at: new Date('2026-02-01T10:20:30.500Z') }])
})

test('Prisma and raw SQL share the connection pool', async () => {
  const [raw, prisma] = await Promise.all([
    db.pool.query('SELECT current_database() AS name'),
    db.prisma.$queryRaw<{ name: string; big: bigint }[]>`SELECT current_database() AS name, 1::int8 AS big`,
  ])
  expect(prisma).toEqual([{ name: raw.rows[0].name, big: 1n }])
  expect(db.pool.totalCount).toBeLessThanOrEqual(4)
})

test.each([
  ['SELECT nonsense', 'a wrong statement'],
  ['SELECT 1 / 0', 'a wrong value'],
  [`SELECT set_config('statement_timeout', '1', true), pg_sleep(1)`, 'a statement that takes too long'],
])('%s (%s) is not classified as an unavailable database', async (sql) => {
  const slow = sql.includes('pg_sleep') ? `BEGIN; SET LOCAL statement_timeout = 1; SELECT pg_sleep(1)` : sql
  expect(isUnavailable(await failure(db.pool.query(slow)))).toBe(false)
  if (slow === sql) expect(isUnavailable(await failure(db.prisma.$queryRawUnsafe(sql)))).toBe(false)
})

test.each([undefined, null, 'ECONNREFUSED', new Error('no'), { code: 'P2002' }, { code: '23505' }])(
  'the error %s is not classified as an unavailable database',
  (error) => {
    expect(isUnavailable(error)).toBe(false)
  },
)

test('a database that accepts no changes, or is full, is classified as unavailable', async () => {
  const sql = 'BEGIN READ ONLY; CREATE TABLE not_here (); COMMIT'
  expect(isUnavailable(await failure(db.pool.query(sql)))).toBe(true)
  await db.pool.query('ROLLBACK')
  const write = db.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SET TRANSACTION READ ONLY`
    await tx.$executeRaw`CREATE TABLE not_here ()`
  })
  expect(isUnavailable(await failure(write))).toBe(true)
  for (const code of ['53100', '53200', '58030']) expect(isUnavailable({ code })).toBe(true)
})

test('the causes of an error are searched, even if they form a cycle', () => {
  const error = new Error('round')
  error.cause = error
  expect(isUnavailable(error)).toBe(false)
  expect(
    isUnavailable(
      new Error('outer', {
        cause: new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]),
      }),
    ),
  ).toBe(true)
})

test('queries on a server that is killed are unavailable, with Prisma and with raw SQL', async () => {
  const killed = await openDb(own.url, { max: 4, log: silentLogger })
  await killed.pool.query('SELECT 1')
  const idle = [await killed.pool.connect(), await killed.pool.connect()]
  for (const client of idle) client.release()
  const inFlight = [
    failure(killed.pool.query('SELECT pg_sleep(20)')),
    failure(killed.prisma.$queryRaw`SELECT 1 FROM pg_sleep(20)`),
    failure(
      killed.prisma.$transaction((tx) => tx.$queryRaw`SELECT 1 FROM pg_sleep(20)`, { timeout: 20_000 }),
    ),
  ]
  await until(
    async () =>
      (await killed.pool.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`)).rowCount === 3,
  )
  process.kill(own.pid, 'SIGQUIT')
  const broken = await Promise.all(inFlight)
  expect(broken.map(isUnavailable)).toEqual([true, true, true])
  await until(
    async () => ((await failure(killed.pool.query('SELECT 1'))) as { code?: string }).code === 'ECONNREFUSED',
  )
  const refused = await Promise.all([
    failure(killed.pool.query('SELECT 1')),
    failure(killed.prisma.$queryRaw`SELECT 1`),
    failure(killed.prisma.workspace.findMany()),
    failure(killed.prisma.$transaction((tx) => tx.$queryRaw`SELECT 1`)),
    failure(killed.prisma.$transaction([killed.prisma.$queryRaw`SELECT 1`])),
  ])
  expect(refused.map(isUnavailable)).toEqual([true, true, true, true, true])
  await killed.close()
  expect(isUnavailable(await failure(killed.pool.query('SELECT 1')))).toBe(true)
})

test('exceeding the connection limit of the server is classified as unavailable', async () => {
  const server = await startEmbedded({
    dir,
    log: silentLogger,
    settings: { ...forgetful, max_connections: '5', superuser_reserved_connections: '0' },
  })
  const crowd = await openDb(server.url, { max: 9, log: silentLogger })
  const all = await Promise.allSettled(Array.from({ length: 9 }, () => crowd.pool.connect()))
  const refused = all.filter((one) => one.status === 'rejected').map((one) => one.reason)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.every(isUnavailable)).toBe(true)
  for (const one of all) if (one.status === 'fulfilled') one.value.release()
  await crowd.close()
  await server.stop()
})

test('a server that accepts connections but never responds is unavailable after 5 seconds', async () => {
  const mute: Server = createServer()
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const { port } = mute.address() as { port: number }
  const hung = await openDb(`postgresql://x:x@127.0.0.1:${port}/x`, { max: 2, log: silentLogger })
  const before = performance.now()
  expect(
    (await Promise.all([failure(hung.pool.query('SELECT 1')), failure(hung.prisma.$queryRaw`SELECT 1`)])).map(
      isUnavailable,
    ),
  ).toEqual([true, true])
  expect(performance.now() - before).toBeLessThan(12_000)
  await hung.close()
  mute.close()
})
