import { expect, test } from 'vitest'
import { FairQueue } from '../../../src/channel/email/reading/fair-queue.ts'

const all = (queue: FairQueue<string>, mayTake: (item: string) => boolean = () => true) => {
  const taken: string[] = []
  for (let item = queue.take(mayTake); item !== undefined; item = queue.take(mayTake)) taken.push(item)
  return taken
}

const filled = (...items: string[]) => {
  const queue = new FairQueue<string>()
  for (const item of items) queue.push(item[0]!, item)
  return queue
}

test('sources take turns, and the items of each stay in order', () => {
  expect(all(filled('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('a source whose first item cannot be taken now is skipped and keeps its place', () => {
  const queue = filled('a1', 'b1', 'b2')
  expect(all(queue, (item) => item !== 'a1')).toEqual(['b1', 'b2'])
  expect(queue.size).toBe(1)
  expect(all(queue)).toEqual(['a1'])
})

test('an item that is put back is the next one taken', () => {
  const queue = filled('a1', 'a2', 'b1')
  expect(queue.take(() => true)).toBe('a1')
  queue.putBack('a', 'a1')
  expect(all(queue)).toEqual(['a1', 'b1', 'a2'])
})

test('a removed item is not taken', () => {
  const queue = filled('a1', 'a2')
  expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('b', 'a2')]).toEqual([
    true,
    false,
    false,
  ])
  expect(all(queue)).toEqual(['a2'])
  expect(queue.size).toBe(0)
})
