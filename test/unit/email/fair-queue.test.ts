import { expect, test } from 'vitest'
import { FairQueue } from '../../../src/mail/reading/fair-queue.ts'

/** Its name begins with its source; a capital letter follows for a sender behind a gateway. */
const itemOf = (name: string) => ({ name, source: name[0]!, sender: /[A-Z]/.exec(name)?.[0] ?? '' })
type Item = ReturnType<typeof itemOf>

const all = (queue: FairQueue<Item>, mayTake: (item: Item) => boolean = () => true) => {
  const taken: string[] = []
  for (let item = queue.take(mayTake); item !== undefined; item = queue.take(mayTake)) taken.push(item.name)
  return taken
}

const filled = (...names: string[]) => {
  const queue = new FairQueue<Item>()
  for (const name of names) queue.push(itemOf(name))
  return queue
}

test('sources take turns, and the items of each stay in order', () => {
  expect(all(filled('a1', 'a2', 'a3', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('senders behind one source take its turns among themselves', () => {
  expect(all(filled('aX1', 'aX2', 'aY1', 'aZ1', 'b1', 'b2'))).toEqual([
    'aX1',
    'b1',
    'aY1',
    'b2',
    'aZ1',
    'aX2',
  ])
})

test('a full source is skipped with all its senders', () => {
  const queue = filled('aX1', 'aY1', 'b1')
  const isFull = (source: string) => source === 'a'
  expect(queue.take(() => true, isFull)?.name).toBe('b1')
  expect(queue.take(() => true, isFull)).toBeUndefined()
  expect(queue.size).toBe(2)
})

test('a source whose first item cannot be taken now is skipped and keeps its place', () => {
  const queue = filled('a1', 'b1', 'b2')
  expect(all(queue, ({ name }) => name !== 'a1')).toEqual(['b1', 'b2'])
  expect(queue.size).toBe(1)
  expect(all(queue)).toEqual(['a1'])
})

test('an item that is put back is the next one taken', () => {
  const queue = filled('aX1', 'aX2', 'aY1', 'b1')
  const item = queue.take(() => true)!
  expect(item.name).toBe('aX1')
  queue.putBack(item)
  expect(all(queue)).toEqual(['aX1', 'b1', 'aY1', 'aX2'])
})

test('a removed item is not taken', () => {
  const queue = new FairQueue<Item>()
  const [a1, a2] = [itemOf('a1'), itemOf('a2')]
  queue.push(a1)
  queue.push(a2)
  expect([queue.remove(a1), queue.remove(a1), queue.remove(itemOf('b2'))]).toEqual([true, false, false])
  expect(all(queue)).toEqual(['a2'])
  expect(queue.size).toBe(0)
})
