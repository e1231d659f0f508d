import { expect, test, vi } from 'vitest'
import { type Slot, Slots } from '../../../src/webhook/delivery/lane/slots.ts'

const waiter = (workspaceId: string, isRetrying = false) => ({ workspaceId, isRetrying })

/** Returns slots whose work runs until the test ends it. */
const watched = (size: number) => {
  const ran: { workspaceId: string; isRetrying: boolean }[] = []
  const taken: Slot[] = []
  const slots = new Slots<ReturnType<typeof waiter>>(size, (one, slot) => {
    ran.push(one)
    taken.push(slot)
  })
  return { slots, ran, taken }
}

test('workspaces take turns, however many lanes each has', () => {
  const { slots, ran, taken } = watched(1)
  for (const id of ['a', 'a', 'a', 'a', 'b', 'c']) slots.request(waiter(id))
  for (let i = 0; i < 5; i++) taken[i]!.free()
  expect(ran.map(({ workspaceId }) => workspaceId)).toEqual(['a', 'a', 'b', 'c', 'a', 'a'])
})

test('lanes that failed before get at most half of the slots', () => {
  const { slots, ran } = watched(8)
  for (let i = 0; i < 20; i++) slots.request(waiter('a', true))
  expect(ran).toHaveLength(4)
  for (let i = 0; i < 20; i++) slots.request(waiter('a'))
  expect(ran.filter(({ isRetrying }) => !isRetrying)).toHaveLength(4)
  expect(slots.underWay).toBe(8)
})

test('lanes that failed before are tried even if others keep arriving', () => {
  const { slots, ran, taken } = watched(8)
  for (let i = 0; i < 100; i++) slots.request(waiter('a'))
  slots.request(waiter('a', true))
  taken[0]!.free()
  expect(ran.at(-1)?.isRetrying).toBe(true)
})

test('a slow lane loses its slot to a waiting one, and does not free it a second time', () => {
  vi.useFakeTimers()
  const { slots, ran, taken } = watched(2)
  for (const id of ['dead', 'dead', 'dead', 'living']) slots.request(waiter(id))
  expect(ran).toHaveLength(2)
  vi.advanceTimersByTime(500)
  expect(ran).toHaveLength(4)
  expect(slots.underWay).toBe(4)
  slots.request(waiter('next'))
  taken[0]!.free() // it had already lost its slot
  expect(ran).toHaveLength(4)
  expect(slots.underWay).toBe(3)
  taken[3]!.free()
  expect(ran.at(-1)?.workspaceId).toBe('next')
  vi.useRealTimers()
})
