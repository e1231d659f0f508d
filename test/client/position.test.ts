import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

test('a position that could not be stored is stored with the next one', async () => {
  const saved: number[] = []
  let broken = true
  const save = async (position: number) => {
    if (broken) throw new Error('disk full')
    saved.push(position)
  }
  const progress = new Progress({ load: async () => null, save }, 0)
  progress.deliver(1)
  progress.deliver(2)
  await expect(progress.done(1)).rejects.toThrow('disk full')
  broken = false
  await progress.done(2)
  expect(saved).toEqual([2])
})

test('a file keeps the position for this user only, and leaves nothing beside it', async () => {
  const path = join(dir, 'state', 'agent.position')
  const store = fileStore(path)
  expect(await store.load()).toBeNull()
  await store.save(41)
  await store.save(42)
  expect(await fileStore(path).load()).toBe(42)
  expect(readFileSync(path, 'utf8')).toBe('42\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(dir, 'state'))).toEqual(['agent.position'])
})

test.each(['', 'x', '-1', '1.5', '12 13'])(
  'a file with %j in it is refused, not taken for a start',
  async (text) => {
    const path = join(dir, 'broken.position')
    writeFileSync(path, text)
    await expect(fileStore(path).load()).rejects.toMatchObject({ code: 'invalid_input' })
  },
)
