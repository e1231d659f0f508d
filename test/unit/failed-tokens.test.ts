import { expect, test } from 'vitest'
import { FailedTokens } from '../../src/workspace/token/failed-tokens.ts'
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

test('requests from nobody knows where are not counted together', () => {
  const tokens = new FailedTokens(createFakeClock())
  failures(tokens, '', 40)
  expect(tokens.fail('').code).toBe('unauthorized')
})

test('the tokens of an address with too many failures are looked up one by one, also after one that could not be', async () => {
  const tokens = new FailedTokens(createFakeClock())
  failures(tokens, '192.0.2.1', 30)
  const order: string[] = []
  const look = (name: string, fails = false) =>
    tokens.lookUp('192.0.2.1', async () => {
      order.push(`${name} begins`)
      await Promise.resolve()
      order.push(`${name} ends`)
      if (fails) throw new Error('the database is away')
      return name
    })
  const [first, second] = [look('first', true), look('second')]
  await expect(first).rejects.toThrow('the database is away')
  expect(await second).toBe('second')
  expect(await look('third')).toBe('third')
  const names = ['first', 'second', 'third']
  expect(order).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]))
})

test('a valid token of an address that guesses is found after all that wait before it', async () => {
  const tokens = new FailedTokens(createFakeClock())
  failures(tokens, '192.0.2.1', 30)
  const guesses = Array.from({ length: 500 }, () => tokens.lookUp('192.0.2.1', async () => null))
  const valid = tokens.lookUp('192.0.2.1', async () => 'found')
  expect((await Promise.all(guesses)).every((found) => found === null)).toBe(true)
  expect(await valid).toBe('found')
})
