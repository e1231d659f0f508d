import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { openPool } from '../../src/db/client.ts'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase(4)
const { connectionString } = db.pool.options

const pools: pg.Pool[] = []
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())))

/** One connection, which prepares each statement at its first execution, and a log of what it asked to be described. */
const connected = async () => {
  const pool = openPool(connectionString!, { max: 1 })
  pools.push(pool)
  const client = (await pool.connect()) as pg.PoolClient & {
    connection: { on(event: string, l: () => void): void }
  }
  let described = 0
  client.connection.on('rowDescription', () => described++)
  client.connection.on('noData', () => described++)
  client.release()
  return {
    query: (name: string, text: string, values: unknown[] = []) => pool.query({ name, text, values }),
    described: () => described,
  }
}

const ROWS = `
  select n, n::text as text, n::int8 as wide, n % 2 = 0 as even, now() as at, null::uuid as nothing, '{}'::text[] as none,
         array['a', 'b c'] as some, '[]'::jsonb as empty, jsonb_build_object('n', n) as json, n / 4.0 as part, '{1,2}'::int[] as ints,
         '\\x00ff'::bytea as bytes, 'last' as n, 1 as "a ""quoted"" name"
    from generate_series(1, $1::int) n`

test('the rows of a statement are those that pg makes, also once its columns are known', async () => {
  const one = await connected()
  const theirs = new pg.Client({ connectionString, types: db.pool.options.types })
  await theirs.connect()
  try {
    await theirs.query('begin')
    for (const count of [3, 2, 0, 1]) {
      const own = await one.query('rows', ROWS.replace('now()', `'2026-02-01 10:20:30.5+00'::timestamptz`), [
        count,
      ])
      const other = await theirs.query(ROWS.replace('now()', `'2026-02-01 10:20:30.5+00'::timestamptz`), [
        count,
      ])
      expect(own.rows).toEqual(other.rows)
      expect(JSON.stringify(own.rows)).toBe(JSON.stringify(other.rows)) // in the same order
      expect(own.fields).toEqual(other.fields)
      expect(own.rowCount).toBe(count)
    }
    expect(one.described()).toBe(1)
  } finally {
    await theirs.end()
  }
})

test('a statement without rows, and one with no columns in its rows, answer each time as at first', async () => {
  const one = await connected()
  for (const _ of [1, 2]) {
    expect((await one.query('nothing', 'set local work_mem = default')).rows).toEqual([])
    expect(await one.query('bare', 'select from generate_series(1, 2)')).toMatchObject({
      rows: [{}, {}],
      rowCount: 2,
    })
  }
  expect(one.described()).toBe(2)
})

test('an error while rows arrive fails the query alone, and the next one has all of its rows', async () => {
  const one = await connected()
  const text = 'select 6 / (n - $1) as value from generate_series(1, 3) n'
  await expect(one.query('quotient', text, [2])).rejects.toThrow('division by zero')
  expect((await one.query('quotient', text, [0])).rows).toEqual([{ value: 6 }, { value: 3 }, { value: 2 }])
  await expect(one.query('quotient', text, [3])).rejects.toThrow('division by zero')
  expect((await one.query('quotient', text, [0])).rows).toEqual([{ value: 6 }, { value: 3 }, { value: 2 }])
})

test('a value that cannot be read fails the query, and the connection goes on', async () => {
  const pool = openPool(connectionString!, {
    max: 1,
    types: {
      getTypeParser: ((oid: number) =>
        oid === pg.types.builtins.INT4
          ? () => {
              throw new Error('unreadable')
            }
          : String) as never,
    },
  })
  try {
    for (const _ of [1, 2])
      await expect(pool.query({ name: 'one', text: 'select 1 as one' })).rejects.toThrow('unreadable')
    expect((await pool.query({ name: 'two', text: `select 'two' as two` })).rows).toEqual([{ two: 'two' }])
  } finally {
    await pool.end()
  }
})

test('a column may have any name', async () => {
  const one = await connected()
  for (const _ of [1, 2]) {
    const { rows } = await one.query(
      'names',
      `select 'x' as "__proto__", 1 as "constructor", 2 as "it's \\n"`,
    )
    expect(Object.entries(rows[0])).toEqual([
      ['__proto__', 'x'],
      ['constructor', 1],
      ["it's \\n", 2],
    ])
  }
})

test('a table that changes is read with its new columns', async () => {
  const one = await connected()
  await db.pool.query('create table changing (a int)')
  await db.pool.query('insert into changing values (1)')
  expect((await one.query('before', 'select * from changing')).rows).toEqual([{ a: 1 }])
  await db.pool.query('alter table changing add b text')
  await expect(one.query('before', 'select * from changing')).rejects.toThrow('must not change result type')
  expect((await one.query('after', 'select * from changing')).rows).toEqual([{ a: 1, b: null }])
})

test('a statement that a pooler has prepared anew with other columns fails once, and is described again', async () => {
  const pool = openPool(connectionString!, { max: 1 })
  pools.push(pool)
  const client = await pool.connect()
  // Only with a callback, as a pool gives it, are columns kept.
  const run = (name: string, text: string) =>
    new Promise<unknown[]>((resolve, reject) =>
      client.query({ name, text }, (error, result) => (error ? reject(error) : resolve(result.rows))),
    )
  try {
    for (const _ of [1, 2]) expect(await run('pooled', 'select 1 as a')).toEqual([{ a: 1 }])
    await client.query('deallocate pooled')
    await client.query('prepare pooled as select 2 as b, 1 as a')
    await expect(run('pooled', 'select 1 as a')).rejects.toThrow('the columns of "pooled" have changed')
    expect(await run('pooled', 'select 1 as a')).toEqual([{ b: 2, a: 1 }])
  } finally {
    client.release()
  }
})
