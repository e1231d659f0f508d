import { expect, test } from 'vitest'
import { Budget } from '../../../src/mail/decode/time-budget.ts'

const forever = (): never => {
  for (;;);
}
const busy = (ms: number): string => {
  const until = performance.now() + ms
  while (performance.now() < until);
  return 'busy'
}
const fail = (): never => {
  throw new Error('unreadable')
}

test('parts of a message that are read together lose only what takes too long or fails', () => {
  for (const ms of [150, 4_000]) {
    const budget = new Budget(ms)
    let begun = 0
    const read = () => {
      begun++
      return [budget.spend(0.5, () => 'one'), budget.spend(0.02, forever), budget.spend(0.5, fail)]
    }
    expect(budget.together(read)).toEqual(['one', null, null])
    // There is no time to begin again when little is left.
    expect(begun).toBe(ms === 150 ? 1 : 2)
    expect(budget.spend(0.5, () => 'next')).toBe('next')
  }
})

test('parts that cannot take long are read once, without a limit of their own', () => {
  const budget = new Budget(60_000)
  let begun = 0
  const read = () => [++begun, budget.spend(0.5, fail), budget.spend(0.000_001, () => busy(20))]
  expect(budget.together(read, true)).toEqual([1, null, 'busy'])
})

test('parts that are read together within the time are read once', () => {
  const budget = new Budget(60_000)
  let begun = 0
  const read = () => [++begun, budget.spend(0.5, fail), budget.spend(0.5, () => 'one')]
  expect(budget.together(read)).toEqual([1, null, 'one'])
})
