import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { fileStore } from '../../src/client/node.ts'
import { memoryStore, Progress } from '../../src/client/position.ts'
import { temporaryDir } from '../support/postgres.ts'

const dir = temporaryDir()
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('the stored position stays below the lowest event that is not done', async () => {
  const store = memoryStore()
  const progress = new Progress(store, 4)
  for (const id of [5, 6, 7]) progress.deliver(id)
  await progress.done(6)
  expect(await store.load()).toBeNull()
  await progress.done(5)
  expect(await store.load()).toBe(6)
  await progress.done(7)
  expect(await store.load()).toBe(7)
})

test('the position never goes back, whatever order events are done in', async () => {
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([1, 2, 3, 4, 5, 6]), async (order) => {
      const saved: number[] = []
      const progress = new Progress({ load: async () => null, save: async (n) => void saved.push(n) }, 0)
      for (const id of [1, 2, 3, 4, 5, 6]) progress.deliver(id)
      await Promise.all(order.map((id) => progress.done(id)))
      expect(saved).toEqual([...saved].sort((a, b) => a - b))
      const firstOpen = [1, 2, 3, 4, 5, 6, 7].find((id) => !order.includes(id))!
      const reached = firstOpen === 7 ? 6 : firstOpen - 1
      expect(saved.at(-1) ?? 0).toBe(reached)
    }),
  )
})

/** Progress whose store fails as often as `failures` says, and what was saved. */
const brittle = () => {
  const state = { failures: 0, saved: [] as number[] }
  const save = async (position: number) => {
    if (state.failures-- > 0) throw new Error('disk full')
    state.saved.push(position)
  }
  return { state, progress: new Progress({ load: async () => null, save }, 0) }
}

test('a position that could not be stored is stored by the same event, done again, or by the next one', async () => {
  const { state, progress } = brittle()
  for (const id of [1, 2]) progress.deliver(id)
  state.failures = 2
  await expect(progress.done(1)).rejects.toThrow('disk full')
  await expect(progress.done(1)).rejects.toThrow('disk full')
  await progress.done(1)
  expect(state.saved).toEqual([1])
  state.failures = 1
  await expect(progress.done(2)).rejects.toThrow('disk full')
  progress.deliver(3)
  await progress.done(3)
  expect(state.saved).toEqual([1, 3])
})

test('a save that fails ends no other one, and is told to everyone who waits for it', async () => {
  const { state, progress } = brittle()
  for (const id of [1, 2, 3]) progress.deliver(id)
  state.failures = 1
  const done = await Promise.allSettled([1, 1, 2].map((id) => progress.done(id)))
  expect(done.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  await progress.done(3)
  expect(state.saved).toEqual([2, 3])
})

test('a file keeps the position for this user only, and leaves nothing beside it, even if it fails', async () => {
  const path = join(dir, 'state', 'agent.position')
  const store = fileStore(path)
  expect(await store.load()).toBeNull()
  await store.save(41)
  await store.save(42)
  expect(await fileStore(path).load()).toBe(42)
  expect(readFileSync(path, 'utf8')).toBe('42\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  mkdirSync(join(dir, 'state', 'folder'))
  await expect(fileStore(join(dir, 'state', 'folder')).save(1)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/)
  expect(readdirSync(join(dir, 'state')).sort()).toEqual(['agent.position', 'folder'])
})

test.each(['', 'x', '-1', '1.5', '12 13'])(
  'a file with %j in it is refused, not taken for a start',
  async (text) => {
    const path = join(dir, 'broken.position')
    writeFileSync(path, text)
    await expect(fileStore(path).load()).rejects.toMatchObject({ code: 'invalid_input' })
  },
)
