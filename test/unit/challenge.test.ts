import { expect, test } from 'vitest'
import { challengeTime, newChallenge } from '../../src/auth/challenge.ts'

const KEY = new Uint8Array(32).fill(1)
const NOW = new Date('2026-11-22T12:00:00.123Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)
const challenge = () => Buffer.from(newChallenge(KEY, 'sign in', NOW)).toString('base64url')

test('a challenge says when it was created, for 10 minutes', () => {
  const one = challenge()
  expect(challengeTime(KEY, 'sign in', one, later(10 * 60_000))).toEqual(NOW)
  expect(challengeTime(KEY, 'sign in', one, later(10 * 60_000 + 1))).toBeNull()
})

test('no two challenges are the same', () => {
  expect(challenge()).not.toBe(challenge())
})

test('a challenge counts only for its purpose and with its key', () => {
  expect(challengeTime(KEY, 'register 1', challenge(), NOW)).toBeNull()
  expect(challengeTime(new Uint8Array(32), 'sign in', challenge(), NOW)).toBeNull()
})

test.each([0, 15, 21, 22, 53])('a challenge with another byte %i is not ours', (index) => {
  const bytes = Buffer.from(challenge(), 'base64url')
  bytes[index]! ^= 1
  expect(challengeTime(KEY, 'sign in', bytes.toString('base64url'), NOW)).toBeNull()
})

test.each(['', 'x', 'AAAA'.repeat(1_000)])('%j is no challenge', (text) => {
  expect(challengeTime(KEY, 'sign in', text, NOW)).toBeNull()
})
