import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { raw, sql } from '../../src/db/sql/sql.ts'
import { composedOf } from '../../src/db/sql/statement.ts'
import { OwnedParts } from '../../src/worker/owned-parts.ts'
import { isAmongParts, PARTS, partIn, partOf } from '../../src/worker/part.ts'
import { ownersOf } from '../../src/worker/rendezvous.ts'
import { openTestDatabase } from '../support/database.ts'

const { pool } = await openTestDatabase()

const PART = composedOf(sql`select ${partIn(raw('id'))} as part from unnest($1::uuid[]) as id`)
const AMONG = composedOf(
  sql`select id::text from unnest($1::uuid[]) as id where ${isAmongParts(raw('id'), raw('$2'))}`,
)

/** Version 7, as the ids of agents are: all begin with nearly the same time. */
const uuid7 = () => `01980000-0000-7${randomUUID().slice(15)}`
const EDGES = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-FFFF-7FFF-BFFF-FFFFFFFFFABC',
  '01980000-0000-7000-8000-000000000400',
]

test('an agent has the same part in TypeScript and in SQL', async () => {
  const ids = [...EDGES, ...Array.from({ length: 5_000 }, uuid7)]
  const { rows } = await pool.query<{ part: number }>({ ...PART, values: [ids] })
  expect(ids.map(partOf)).toEqual(rows.map(({ part }) => part))
  expect(EDGES.map(partOf)).toEqual([0, 1023, 0x2bc, 0])
  expect(new Set(ids.map(partOf)).size).toBeGreaterThan(PARTS * 0.95)
})

test('a statement finds the agents of the same parts as the bits in memory', async () => {
  const parts = new OwnedParts()
  const ids = Array.from({ length: 2_000 }, uuid7)
  const found = async () =>
    (await pool.query<{ id: string }>({ ...AMONG, values: [ids, parts.bits] })).rows.map(({ id }) => id)
  expect(await found()).toEqual(ids)
  parts.share('a', ['a', 'b', 'c'])
  const own = await found()
  expect(own).toEqual(ids.filter((id) => parts.has(id)))
  expect(own.length).toBeGreaterThan(ids.length / 5)
  expect(own.length).toBeLessThan(ids.length / 2)
})

test('workers agree about the owners in whatever order they know each other, and have nearly equal shares', () => {
  const workers = Array.from({ length: 8 }, () => randomUUID())
  const owners = ownersOf(workers)
  expect(ownersOf(workers.toReversed())).toEqual(owners)
  for (const worker of workers) {
    const share = owners.filter((owner) => owner === worker).length
    expect(share).toBeGreaterThan(PARTS / 8 / 2)
    expect(share).toBeLessThan((PARTS / 8) * 2)
  }
  expect(ownersOf(workers.slice(0, 1))).toEqual(Array(PARTS).fill(workers[0]))
  expect(ownersOf([])).toEqual(Array(PARTS).fill(null))
})

test('when a worker comes or goes, only the parts move that it gets or had', () => {
  const workers = Array.from({ length: 5 }, () => randomUUID())
  const [before, newcomer] = [ownersOf(workers), randomUUID()]
  const after = ownersOf([...workers, newcomer])
  for (const [part, owner] of after.entries()) if (owner !== newcomer) expect(before[part]).toBe(owner)
  expect(ownersOf([newcomer, ...workers].filter((one) => one !== newcomer))).toEqual(before)
})

test('who owns parts hears of a change, and only of a change', () => {
  const parts = new OwnedParts()
  let changes = 0
  const end = parts.onChange(() => changes++)
  parts.share('a', ['a'])
  expect(changes).toBe(0)
  parts.share('a', ['a', 'b'])
  const { bits } = parts
  parts.share('a', ['b', 'a'])
  expect([changes, parts.bits]).toEqual([1, bits])
  end()
  parts.share('a', ['a'])
  expect(changes).toBe(1)
  expect(parts.bits.every((byte) => byte === 255)).toBe(true)
  expect(bits.every((byte) => byte === 255)).toBe(false)
})
