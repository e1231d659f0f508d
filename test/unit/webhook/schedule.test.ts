import { describe, expect, test } from 'vitest'
import { givenUpAt, nextAttemptAt } from '../../../src/webhook/delivery/schedule.ts'

const start = new Date('2026-11-20T00:00:00Z')
const at = (ms: number) => new Date(start.getTime() + ms)
const S = 1000
const M = 60 * S
const H = 60 * M
const delay = (failures: number, more: Partial<Parameters<typeof nextAttemptAt>[0]> = {}) =>
  nextAttemptAt({ failures, createdAt: start, now: start, retryAfterMs: 0, random: 0, ...more }).getTime() -
  start.getTime()

describe('the delay after failure n', () => {
  test.each([
    [1, 10 * S],
    [2, M],
    [3, 5 * M],
    [4, 30 * M],
    [5, 2 * H],
    [6, 6 * H],
    [7, 6 * H],
    [16, 6 * H],
  ])('%i: %i ms', (failures, ms) => {
    expect(delay(failures)).toBe(ms)
    expect(delay(failures, { random: 0.5 })).toBe(ms * 1.05)
    expect(delay(failures, { random: 0.999_999 })).toBeLessThanOrEqual(ms * 1.1)
  })
})

describe('Retry-After', () => {
  test.each([
    ['shorter than planned: as planned', 1, 3 * S, 10 * S],
    ['longer: as asked', 1, 40 * S, 40 * S],
    ['longer than the next step: the next step', 1, H, M],
    ['at the end: six hours are the most', 9, 48 * H, 6 * H],
  ])('%s', (_, failures, retryAfterMs, ms) => {
    expect(delay(failures, { retryAfterMs })).toBe(ms)
  })

  test('beyond the three days: the end of them', () => {
    expect(delay(8, { now: at(71 * H), retryAfterMs: 6 * H })).toBe(72 * H)
  })
})

test('an event is given up three days after it happened, not after its first attempt', () => {
  expect(givenUpAt(start)).toEqual(at(72 * H))
  expect(delay(1, { now: at(72 * H - 5 * S) })).toBe(72 * H)
})

test.each([0, 0.5, 0.999])('at most 17 attempts fit (random %d)', (random) => {
  let attempts = 0
  let now = start
  while (now < givenUpAt(start)) {
    attempts++
    now = nextAttemptAt({ failures: attempts, createdAt: start, now, retryAfterMs: 0, random })
  }
  expect(attempts).toBeLessThanOrEqual(17)
  expect(attempts).toBeGreaterThanOrEqual(15)
  expect(now).toEqual(givenUpAt(start))
})
