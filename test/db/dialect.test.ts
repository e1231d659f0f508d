import type pg from 'pg'
import { expect, test } from 'vitest'
import { amongAgents, bothTexts, Distribution, dialect, SKIP_LOCKED } from '../../src/db/dialect.ts'
import { openTestDatabase } from '../support/database.ts'

const { pool } = await openTestDatabase(1)

/** A database of which the questions to the catalogue have these answers. */
const answering = (...answers: boolean[]) =>
  ({ query: async () => ({ rows: [{ answer: answers.shift() }] }) }) as unknown as pg.Client

const statement = {
  name: 'take',
  text: `select ${dialect('1', '2')} as n from plan limit 1 ${SKIP_LOCKED}`,
}

test('plain PostgreSQL executes the plain alternatives, and locks what a worker takes', async () => {
  const distribution = new Distribution()
  await distribution.ask(pool)
  expect(distribution.isDistributed).toBe(false)
  expect(distribution.adapt(statement)).toBe(statement)
  expect((await pool.query(statement)).rows).toEqual([{ n: 1 }])
  const { rows } = await pool.query(`explain ${statement.text}`)
  expect(JSON.stringify(rows)).toContain('LockRows')
})

test('a distributed database executes the other alternatives, by another name', async () => {
  const distribution = new Distribution()
  await distribution.ask(answering(true, false)) // Citus is installed, and the tables are not distributed
  expect(distribution.adapt(statement)).toBe(statement)
  await distribution.ask(answering(true, true))
  const adapted = distribution.adapt(statement)
  expect(adapted).toEqual({ name: 'take, distributed', text: 'select 2 as n from plan limit 1 ' })
  expect((await pool.query(adapted)).rows).toEqual([{ n: 2 }])
  const unmarked = { text: 'select 1' }
  expect(distribution.adapt(unmarked)).toBe(unmarked)
})

test('a statement that is built for a distributed database has no name there, and one text in a transaction', async () => {
  const built = {
    name: 'list',
    text: `select 1 as n ${SKIP_LOCKED}`,
    distributed: () => `select ${dialect('2', '3')} as n`,
  }
  const distribution = new Distribution()
  expect(distribution.adapt(built)).toBe(built)
  await distribution.ask(answering(true, true))
  expect(distribution.adapt(built)).toMatchObject({ name: undefined, text: 'select 3 as n' })
  expect((await pool.query(bothTexts(built))).rows).toEqual([{ n: 1 }])
  expect(distribution.adapt({ text: bothTexts(built) })).toEqual({ text: 'select 3 as n' })
})

test('a distributed database is told the agents of a statement where they are known', async () => {
  const [ann, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  const asked = {
    name: 'ask',
    text: `select id from agent where true ${dialect('', amongAgents('id'))}`,
    agents: [ann, bob, ann],
  }
  const distribution = new Distribution()
  expect(distribution.adapt(asked)).toBe(asked)
  await distribution.ask(answering(true, true))
  const told = distribution.adapt(asked)
  expect(told).toMatchObject({
    name: undefined,
    text: `select id from agent where true  and id = any('{${ann},${bob}}'::uuid[])`,
  })
  expect((await pool.query(told)).rows).toEqual([])
  expect(distribution.adapt({ text: asked.text }).text).toBe('select id from agent where true ')
  expect(distribution.adapt({ text: asked.text, agents: ["'}"] }).text).toContain(`'{''}}'`)
})
