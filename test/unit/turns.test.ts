import { expect, test } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import { type TurnLimits, Turns } from '../../src/core/turns.ts'
import { until } from '../support/until.ts'

const limited = (limits: Omit<TurnLimits, 'tooMany'>) =>
  new Turns({ ...limits, tooMany: () => new AppError('unavailable', 'Too many.') })

/** Work that runs until it is told to end, and a log of what has begun. */
const worksOf = (turns: Turns) => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const refused: string[] = []
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<void>((end) => ends.set(name, end))
  }
  const begin = (key: string, name = key): void =>
    void turns.run(key, work(name)).catch(() => refused.push(name))
  const settled = () => new Promise((resolve) => setTimeout(resolve, 5))
  const end = async (name: string) => {
    ends.get(name)!()
    await settled()
  }
  return { begun, refused, begin, end, settled }
}

test('the work of a key waits when as much as allowed runs, and that of others does not', async () => {
  const { begun, begin, end, settled } = worksOf(limited({ perKey: 1 }))
  begin('a', 'a1')
  begin('a', 'a2')
  begin('b', 'b1')
  await settled()
  expect(begun).toEqual(['a1', 'b1'])
  await end('b1')
  expect(begun).toEqual(['a1', 'b1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'b1', 'a2'])
})

test('what has waited longest starts first, unless its key has all its turns', async () => {
  const { begun, begin, end, settled } = worksOf(limited({ total: 2, perKey: 1 }))
  for (const name of ['a1', 'b1', 'a2', 'c1', 'b2']) begin(name[0]!, name)
  await settled()
  expect(begun).toEqual(['a1', 'b1'])
  await end('b1')
  expect(begun).toEqual(['a1', 'b1', 'c1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2'])
  await end('c1')
  expect(begun.at(-1)).toBe('b2')
})

test('more than may wait is refused, and work that fails gives its turn to the next', async () => {
  const turns = limited({ perKey: 1, waiting: 1 })
  const failing = turns.run('a', async () => Promise.reject(new Error('failed')))
  const next = turns.run('a', async () => 'next')
  await expect(turns.run('a', async () => 'third')).rejects.toThrow('Too many.')
  await expect(failing).rejects.toThrow('failed')
  expect(await next).toBe('next')
  expect(await turns.run('a', async () => 'later')).toBe('later')
})

test('what has waited for too long is refused and does not run later', async () => {
  const { begun, refused, begin, end, settled } = worksOf(limited({ total: 1, waitMs: 20 }))
  begin('a', 'a1')
  begin('b', 'b1')
  await until(() => refused.length > 0)
  await end('a1')
  begin('c', 'c1')
  await settled()
  expect(begun).toEqual(['a1', 'c1'])
})

test('work that steps aside lets others run, and takes a turn again afterwards', async () => {
  const turns = limited({ perKey: 1, waiting: 0 })
  const order: string[] = []
  let arrive = () => {}
  const waiting = turns.run('a', async () => {
    await turns.aside('a', () => new Promise<void>((resolve) => (arrive = resolve)))
    order.push('first again')
  })
  await new Promise((resolve) => setImmediate(resolve))
  const { begin, end, settled } = worksOf(turns)
  begin('a', 'second')
  await settled()
  arrive()
  await settled()
  expect(order).toEqual([])
  await end('second')
  await waiting
  expect(order).toEqual(['first again'])
})
