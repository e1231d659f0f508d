import { describe, expect, test } from 'vitest'
import { policyOf } from '../../../src/webhook/delivery/lane/policy.ts'
import { givenUpAt, nextAttemptAt } from '../../../src/webhook/delivery/lane/schedule.ts'

const start = new Date('2026-11-20T00:00:00Z')
const at = (ms: number) => new Date(start.getTime() + ms)
const S = 1000
const M = 60 * S
const H = 60 * M
const delay = (failures: number, more: Partial<Parameters<typeof nextAttemptAt>[0]> = {}) =>
  nextAttemptAt({ failures, createdAt: start, now: start, retryAfterMs: 0, random: 0, ...more }).getTime() -
  start.getTime()

describe('the delay before the next attempt', () => {
  test.each([
    [1, 10 * S],
    [2, M],
    [3, 5 * M],
    [4, 30 * M],
    [5, 2 * H],
    [6, 6 * H],
    [7, 6 * H],
    [16, 6 * H],
  ])('after failure %i is %i ms and at most a tenth more', (failures, ms) => {
    expect(delay(failures)).toBe(ms)
    expect(delay(failures, { random: 0.5 })).toBe(ms * 1.05)
    expect(delay(failures, { random: 0.999_999 })).toBeLessThanOrEqual(ms * 1.1)
  })
})

describe('Retry-After', () => {
  test.each([
    ['is ignored when it is shorter than the planned delay', 1, 3 * S, 10 * S],
    ['is followed when it is longer than the planned delay', 1, 40 * S, 40 * S],
    ['is limited to the next step of the schedule', 1, H, M],
    ['is limited to six hours at the end of the schedule', 9, 48 * H, 6 * H],
  ])('%s', (_, failures, retryAfterMs, ms) => {
    expect(delay(failures, { retryAfterMs })).toBe(ms)
  })

  test('is limited to the end of the three days', () => {
    expect(delay(8, { now: at(71 * H), retryAfterMs: 6 * H })).toBe(72 * H)
  })
})

test('an event is abandoned three days after its creation, not after its first attempt', () => {
  expect(givenUpAt(start)).toEqual(at(72 * H))
  expect(delay(1, { now: at(72 * H - 5 * S) })).toBe(72 * H)
})

test.each([0, 0.5, 0.999])('at most 17 attempts fit into three days (random %d)', (random) => {
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

describe('the subscription of an MCP client', () => {
  const row = { kind: 'mcp', subscription: 'sub_1', types: ['message.received'], channels: [], token_id: 't' }
  const policy = policyOf({ ...row, expires_at: at(H) } as unknown as Parameters<typeof policyOf>[0])
  const mcpDelay = (failures: number, retryAfterMs = 0, random = 0) =>
    policy.nextAttemptAt({ failures, createdAt: start, now: start, retryAfterMs, random }).getTime() -
    start.getTime()

  test('gets an event in 5 attempts within 10 to 15 minutes, also if its receiver asks for more time', () => {
    expect([4, 5].map((failures) => policy.isOver(start, failures, start))).toEqual([false, true])
    expect([1, 2, 3, 4].map((failures) => mcpDelay(failures))).toEqual([10 * S, M, 4 * M, 9 * M])
    expect(mcpDelay(1, 30 * S)).toBe(30 * S)
    expect([1, 2, 3, 4].map((failures) => mcpDelay(failures, H))).toEqual([M, 4 * M, 9 * M, 9 * M])
    const latest = [1, 2, 3, 4].reduce((sum, failures) => sum + mcpDelay(failures, 0, 0.999), 0)
    expect(latest).toBeLessThan(15 * M)
  })

  test('ends at its expiry, and not before', () => {
    expect([-1, 0].map((ms) => policy.hasEnded(at(H + ms)))).toEqual([false, true])
  })
})
