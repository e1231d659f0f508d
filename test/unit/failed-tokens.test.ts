import { expect, test } from 'vitest'
import { FailedTokens } from '../../src/workspace/failed-tokens.ts'
import { createFakeClock } from '../support/clock.ts'

const failures = (tokens: FailedTokens, source: string, count: number) => {
  for (let n = 0; n < count; n++) tokens.fail(source)
}

test('an address with 30 failed tokens is rate-limited until the end of the minute', () => {
  const clock = createFakeClock(new Date('2026-11-22T10:00:15.500Z'))
  const tokens = new FailedTokens(clock)
  failures(tokens, '192.0.2.1', 30)
  expect(tokens.fail('192.0.2.1')).toMatchObject({ code: 'rate_limited', retryAfter: 45 })
  expect(tokens.fail('192.0.2.2').code).toBe('unauthorized')
  clock.advance(45_000)
  expect(tokens.fail('192.0.2.1').code).toBe('unauthorized')
})

test('the memory of failed tokens is bounded: past 100,000 addresses, the oldest one is forgotten', () => {
  const tokens = new FailedTokens(createFakeClock())
  failures(tokens, 'first', 30)
  failures(tokens, 'second', 30)
  for (let n = 0; n < 99_998; n++) tokens.fail(`source ${n}`)
  expect(tokens.fail('first').code).toBe('rate_limited')
  tokens.fail('one more')
  expect(tokens.fail('first').code).toBe('unauthorized')
})
