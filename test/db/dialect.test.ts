import type pg from 'pg'
import { expect, test } from 'vitest'
import { SKIP_LOCKED, varying } from '../../src/db/dialect.ts'
import { DISTRIBUTION, Distribution } from '../../src/db/distribution.ts'
import { amongAgents, bind, define, either, rows, type Sql, sql } from '../../src/db/sql/sql.ts'
import { composedOf, statement } from '../../src/db/sql/statement.ts'
import { within } from '../../src/db/transaction.ts'
import { openTestDatabase } from '../support/database.ts'

const { pool, prisma } = await openTestDatabase(1)

/** A database of which the questions to the catalogue have these answers. */
const answering = (...answers: boolean[]) =>
  ({ query: async () => ({ rows: [{ answer: answers.shift() }] }) }) as unknown as pg.Client

const distributedOne = async (): Promise<Distribution> => {
  const distribution = new Distribution()
  await distribution.ask(answering(true, true))
  return distribution
}

const LOCKING = {
  name: 'take',
  ...composedOf(sql`select ${either(sql`1`, () => sql`2`)} as n from plan limit 1 ${SKIP_LOCKED}`),
}

test('plain PostgreSQL executes the plain alternatives, and locks what a worker takes', async () => {
  const distribution = new Distribution()
  await distribution.ask(pool)
  expect(distribution.isDistributed).toBe(false)
  expect(distribution.adapt(LOCKING)).toBe(LOCKING)
  expect((await pool.query(LOCKING)).rows).toEqual([{ n: 1 }])
  const { rows } = await pool.query(`explain ${LOCKING.text}`)
  expect(JSON.stringify(rows)).toContain('LockRows')
})

test('a distributed database executes the other alternatives, by another name', async () => {
  const distribution = new Distribution()
  await distribution.ask(answering(true, false)) // Citus is installed, and the tables are not distributed
  expect(distribution.adapt(LOCKING)).toBe(LOCKING)
  await distribution.ask(answering(true, true))
  const adapted = distribution.adapt(LOCKING)
  expect(adapted).toEqual({ name: 'take, distributed', text: 'select 2 as n from plan limit 1 ', values: [] })
  expect((await pool.query(adapted)).rows).toEqual([{ n: 2 }])
  const same = { name: 'same', ...composedOf(sql`select 1`) }
  expect(distribution.adapt(same)).toMatchObject({ name: 'same', text: 'select 1' })
  const uncomposed = { text: 'select 1' }
  expect(distribution.adapt(uncomposed)).toBe(uncomposed)
})

test('a transaction knows whether its database is distributed', async () => {
  const run = () => prisma.$transaction(async (tx) => (await within(tx).pool.query(LOCKING)).rows)
  expect(await run()).toEqual([{ n: 1 }])
  const distributed = Object.assign(prisma, { [DISTRIBUTION]: await distributedOne() })
  expect(await distributed.$transaction(async (tx) => (await within(tx).pool.query(LOCKING)).rows)).toEqual([
    { n: 2 },
  ])
})

test('a text that depends on values has no name on a distributed database', async () => {
  const query = varying(
    'look up',
    { threads: bind([]), query: (also: Sql) => sql`select 1 as n ${also}` },
    sql`select 1 as n`,
  )
  const distribution = await distributedOne()
  const adapted = distribution.adapt({ name: 'list', ...composedOf(query) })
  expect(adapted.name).toBeUndefined()
  expect(adapted.text).toBe('select 1 as n and cardinality($1::uuid[]) > 0')
})

test('a distributed database is told the agents of a statement where they are known', async () => {
  const [ann, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  const asked = {
    name: 'ask',
    ...composedOf(sql`select id from agent where true${amongAgents('id')}`),
    agents: [ann, bob, ann],
  }
  expect((await pool.query(asked)).rows).toEqual([])
  const distribution = await distributedOne()
  const told = distribution.adapt(asked)
  expect(told.name).toBeUndefined()
  expect(told.text).toBe(`select id from agent where true and id = any('{${ann},${bob}}'::uuid[])`)
  expect((await pool.query(told)).rows).toEqual([])
  const { agents: _, ...without } = asked
  expect(distribution.adapt(without)).toMatchObject({ name: 'ask', text: 'select id from agent where true' })
  expect(distribution.adapt({ ...asked, agents: ["'}"] }).text).toContain(`'{''}}'`)
})

test('a parameter has one number wherever it is used, and its value in each text', async () => {
  const numbers = statement<{ a: number; b: number }>('numbers', ({ a, b }) => {
    const sum = sql`${b}::int + ${a}::int`
    return either(sql`select ${a}::int as a, ${sum} as sum`, () => sql`select ${sum} as sum, ${a}::int as a`)
  })
  const given = numbers({ a: 1, b: 10 })
  expect(given).toMatchObject({ text: 'select $1::int as a, $2::int + $1::int as sum', values: [1, 10] })
  expect((await pool.query(given)).rows).toEqual([{ a: 1, sum: 11 }])
  const adapted = (await distributedOne()).adapt(given)
  expect(adapted).toMatchObject({ text: 'select $1::int + $2::int as sum, $2::int as a', values: [10, 1] })
  const bound = composedOf(sql`select ${bind(5)}::int as n, ${'a'.length} as one`)
  expect(bound).toMatchObject({ text: 'select $1::int as n, 1 as one', values: [5] })
})

test('a statement that reads rows before they are defined is refused', () => {
  const old = rows('old', 'id')
  const first = sql`${define(old)} as (select 1 as id)`
  const second = sql`gone as (select id from ${old})`
  expect(composedOf(sql`with ${first}, ${second} select from gone`).text).toContain(
    'gone as (select id from old)',
  )
  expect(() => composedOf(sql`with ${second}, ${first} select from gone`)).toThrow('reads "old"')
  expect(() => statement('forgotten', () => sql`with ${second} select from gone`)).toThrow('reads "old"')
})
