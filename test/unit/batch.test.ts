import { expect, test } from 'vitest'
import { createBatch, PartlyWritten } from '../../src/db/batch.ts'
import { until } from '../support/until.ts'

const options = {
  most: 10,
  parallel: 1,
  isUnavailable: (error: unknown) => (error as Error).message === 'away',
}

/** Returns a write that records its items and waits until `go` is called. */
const held = () => {
  const writes: number[][] = []
  const waiting: (() => void)[] = []
  const write = async (items: number[]) => {
    writes.push(items)
    await new Promise<void>((resolve) => waiting.push(resolve))
    return items.map((item) => item * 2)
  }
  return { writes, write, go: () => waiting.shift()!() }
}

test('items added in one turn are written together, and items added during a write go into the next one', async () => {
  const { writes, write, go } = held()
  const batch = createBatch(write, options)
  const first = [1, 2, 3].map((item) => batch.add(item))
  await until(() => writes.length === 1)
  const second = [4, 5].map((item) => batch.add(item))
  expect(writes).toEqual([[1, 2, 3]])
  go()
  expect(await Promise.all(first)).toEqual([2, 4, 6])
  await until(() => writes.length === 2)
  go()
  expect(await Promise.all(second)).toEqual([8, 10])
  expect(writes[1]).toEqual([4, 5])
})

test('a write has at most the maximum number of items and bytes, and a larger item is written alone', async () => {
  const writes: number[][] = []
  const write = async (items: number[]) => {
    writes.push(items)
    return items
  }
  const batch = createBatch(write, { ...options, most: 3, maxBytes: 100, sizeOf: (item) => item })
  await Promise.all([1, 1, 1, 1, 60, 60, 500, 1].map((item) => batch.add(item)))
  expect(writes).toEqual([[1, 1, 1], [1, 60], [60], [500], [1]])
})

test('no more writes run in parallel than allowed', async () => {
  const { writes, write, go } = held()
  const batch = createBatch(write, { ...options, most: 1, parallel: 2 })
  const all = Promise.all([1, 2, 3].map((item) => batch.add(item)))
  await until(() => writes.length === 2)
  go()
  await until(() => writes.length === 3)
  go()
  go()
  expect(await all).toEqual([2, 4, 6])
})

test('invalid data in one item fails only that item', async () => {
  const batch = createBatch(async (items: string[]) => {
    if (items.includes('bad')) throw new Error('violates a constraint')
    return items.map((item) => item.toUpperCase())
  }, options)
  const results = await Promise.allSettled(['a', 'bad', 'b'].map((item) => batch.add(item)))
  expect(results).toEqual([
    { status: 'fulfilled', value: 'A' },
    { status: 'rejected', reason: new Error('violates a constraint') },
    { status: 'fulfilled', value: 'B' },
  ])
})

test('an unavailable database fails the whole batch without retries, and later items are still written', async () => {
  let writes = 0
  const batch = createBatch(async (items: number[]) => {
    if (writes++ === 0) throw new Error('away')
    return items
  }, options)
  const results = await Promise.allSettled([1, 2, 3].map((item) => batch.add(item)))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(writes).toBe(1)
  expect(await batch.add(4)).toBe(4)
})

test('with patienceMs, a write waits for the previous one, but not longer than that', async () => {
  const { writes, write, go } = held()
  const batch = createBatch(write, { ...options, parallel: 2, patienceMs: 20 })
  const first = batch.add(1)
  await until(() => writes.length === 1)
  const second = batch.add(2)
  await until(() => writes.length === 2)
  go()
  go()
  expect(await Promise.all([first, second])).toEqual([2, 4])
  const third = batch.add(3)
  await until(() => writes.length === 3)
  go()
  expect(await third).toBe(6)
})

test('a batch has caught up once a write leaves nobody waiting', async () => {
  const { writes, write, go } = held()
  const batch = createBatch(write, options)
  const first = batch.add(1)
  await until(() => writes.length === 1)
  const second = batch.add(2)
  expect(batch.caughtUp()).toBeNull()
  go()
  await first
  await until(() => writes.length === 2)
  const behind = batch.caughtUp()
  let hasCaughtUp = false
  void behind!.then(() => {
    hasCaughtUp = true
  })
  const third = batch.add(3)
  go()
  await second
  await until(() => writes.length === 3)
  expect(hasCaughtUp).toBe(false)
  expect(batch.caughtUp()).toBe(behind)
  go()
  await third
  await behind
  expect(hasCaughtUp).toBe(true)
  expect(batch.caughtUp()).toBeNull()
})

test('of a write that has committed some of its items, only the others are retried', async () => {
  const writes: number[][] = []
  const write = async (items: number[]): Promise<number[]> => {
    writes.push(items)
    if (items.length === 1) throw new Error(`bad ${items[0]}`)
    const results = items.map((item) => (item % 2 === 0 ? item * 2 : undefined))
    throw new PartlyWritten(results, new Error('bad row'))
  }
  const batch = createBatch(write, options)
  const all = Promise.allSettled([1, 2, 3, 4].map((item) => batch.add(item)))
  expect(await all).toMatchObject([
    { reason: { message: 'bad 1' } },
    { value: 4 },
    { reason: { message: 'bad 3' } },
    { value: 8 },
  ])
  expect(writes).toEqual([[1, 2, 3, 4], [1], [3]])
  await expect(Promise.all([5, 6].map((item) => batch.add(item)))).rejects.toThrow('bad row')
  expect(writes.slice(3)).toEqual([[5, 6]])
})
