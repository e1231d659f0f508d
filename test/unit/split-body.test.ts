import { expect, test } from 'vitest'
import { readUpTo } from '../../src/core/http/body.ts'
import { splitBody } from '../../src/core/http/split-body.ts'
import { until } from '../support/until.ts'

/** A body of parts of 10 KB, which counts how many have been taken. */
const bodyOf = (count: number, failing = false) => {
  const taken = { parts: 0 }
  const parts = async function* () {
    for (; taken.parts < count; taken.parts++) yield Buffer.alloc(10_000, taken.parts)
    if (failing) throw new Error('broken off')
  }
  return { taken, body: parts() }
}

test('a body that is split is read at the pace of the slowest', async () => {
  const { taken, body } = bodyOf(500)
  const [fast, slow] = splitBody(body, 2)
  const read = readUpTo(fast!, Number.POSITIVE_INFINITY)
  await until(() => slow!.readableLength > 0)
  expect(taken.parts).toBeLessThan(50)
  const [one, other] = await Promise.all([read, readUpTo(slow!, Number.POSITIVE_INFINITY)])
  expect(one!.length).toBe(5_000_000)
  expect(one!.equals(other!)).toBe(true)
})

test('readers that have closed theirs are not waited for; without any, the rest is not read', async () => {
  const { taken, body } = bodyOf(500)
  const [first, second] = splitBody(body, 2)
  first!.destroy()
  let bytes = 0
  for await (const part of second!) {
    bytes += part.length
    if (bytes > 1_000_000) break
  }
  await until(async () => (await body.next()).done === true)
  expect(taken.parts).toBeLessThan(500)
})

test('a body that breaks off does so for every reader', async () => {
  const readers = splitBody(bodyOf(20, true).body, 2)
  const read = await Promise.allSettled(readers.map((reader) => readUpTo(reader, Number.POSITIVE_INFINITY)))
  expect(read.map((each) => each.status === 'rejected' && each.reason.message)).toEqual([
    'broken off',
    'broken off',
  ])
})
