import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LinkedSet } from '../../src/core/linked-set.ts'

test('members are listed from the oldest to the newest until they are removed, whichever goes first', () => {
  const set = new LinkedSet<string>()
  const remove = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, set.add(name)]))
  expect(set.all()).toEqual(['a', 'b', 'c', 'd'])
  remove.b!()
  remove.b!()
  expect(set.all()).toEqual(['a', 'c', 'd'])
  remove.a!()
  set.add('e')
  expect(set.all()).toEqual(['c', 'd', 'e'])
  remove.d!()
  remove.c!()
  expect([set.all(), set.size]).toEqual([['e'], 1])
})

/** Lets 20,000 members of 8 KB come and go, 16 at a time, and prints by how many megabytes old objects grew. */
const CHURN = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { LinkedSet } from './src/core/linked-set.ts'
  const set = new Set()
  const linked = new LinkedSet()
  const kinds = {
    set: (member) => (set.add(member), () => set.delete(member)),
    linked: (member) => linked.add(member),
  }
  const add = kinds[process.env.KIND]
  const removes = []
  const turn = () => {
    removes.push(add({ data: new Array(1_000).fill(0) }))
    if (removes.length > 16) removes.shift()()
  }
  const used = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size
  for (let n = 0; n < 100; n++) turn()
  for (let n = 0; n < 3; n++) gc({ type: 'minor' }) // what is there now becomes old
  const before = used()
  for (let n = 0; n < 20_000; n++) turn()
  gc({ type: 'minor' })
  console.log((used() - before) / 1e6)`

const grownBy = (KIND: 'set' | 'linked'): number => {
  // A large heap to begin with, so that V8 does not collect its old objects meanwhile.
  const options = [
    '--expose-gc',
    '--initial-heap-size=1000',
    '--import',
    'tsx',
    '--input-type',
    'module',
    '--eval',
    CHURN,
  ]
  const cwd = join(import.meta.dirname, '..', '..')
  return Number(
    execFileSync(process.execPath, options, { cwd, env: { ...process.env, KIND }, encoding: 'utf8' }),
  )
}

test('what was removed does not become old, as members of a Set do', () => {
  expect(grownBy('linked')).toBeLessThan(2)
  expect(grownBy('set')).toBeGreaterThan(50)
})
