import { expect, test } from 'vitest'
import { Slots } from '../../../src/webhook/slots.ts'

const waiter = (workspaceId: string, suspect = false) => ({ workspaceId, suspect })

test('workspaces take turns, however many lanes each has', () => {
  const ran: string[] = []
  const slots = new Slots<ReturnType<typeof waiter>>(1, (one) => ran.push(one.workspaceId))
  for (const id of ['a', 'a', 'a', 'a', 'b', 'c']) slots.ask(waiter(id))
  for (let i = 0; i < 5; i++) slots.free(false)
  expect(ran).toEqual(['a', 'a', 'b', 'c', 'a', 'a'])
})

test('those that failed get at most half of the slots', () => {
  const ran: boolean[] = []
  const slots = new Slots<ReturnType<typeof waiter>>(8, (one) => ran.push(one.suspect))
  for (let i = 0; i < 20; i++) slots.ask(waiter('a', true))
  expect(ran).toHaveLength(4)
  for (let i = 0; i < 20; i++) slots.ask(waiter('a'))
  expect(ran.filter((suspect) => !suspect)).toHaveLength(4)
  expect(slots.taken).toBe(8)
})

test('those that failed are tried although others keep coming', () => {
  const ran: boolean[] = []
  const slots = new Slots<ReturnType<typeof waiter>>(8, (one) => ran.push(one.suspect))
  for (let i = 0; i < 100; i++) slots.ask(waiter('a'))
  slots.ask(waiter('a', true))
  slots.free(false)
  expect(ran.at(-1)).toBe(true)
})
