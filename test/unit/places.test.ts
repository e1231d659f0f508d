import { expect, test } from 'vitest'
import { Places } from '../../src/core/places.ts'

test('a key that uses all its places gets another one only after a release, and other keys are not affected', () => {
  const places = new Places(2)
  const leave = places.take('a')!
  expect(places.take('a')).not.toBeNull()
  expect(places.take('a')).toBeNull()
  expect(places.take('b')).not.toBeNull()
  leave()
  leave()
  expect(places.held('a')).toBe(1)
  expect(places.take('a')).not.toBeNull()
  expect(places.take('a')).toBeNull()
})
