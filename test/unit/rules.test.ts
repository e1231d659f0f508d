import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldName, text, timestamp, uuid } from '../../src/core/rules.ts'

describe('the rule for texts', () => {
  const rule = text(1, 5)
  test.each(['x', 'xxxxx', '😀😀😀😀😀', '\r\n\t', '\u{10ffff}'])('accepts %j', (value) => {
    expect(rule.parse(value)).toBe(value)
  })
  test.each(['', 'xxxxxx', '😀😀😀😀😀😀', 'a\0', '\ud800', 'a\udc00', 5, null])('refuses %j', (value) => {
    expect(rule.safeParse(value).success).toBe(false)
  })

  test('counts the length in code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), (value) => {
        fc.pre(!value.includes('\0'))
        return rule.safeParse(value).success === [...value].length <= 5
      }),
    )
  })
})

describe('the rule for UUIDs', () => {
  test('accepts versions 1 to 8, nil and all-f, and returns lower case', () => {
    fc.assert(fc.property(fc.uuid(), (value) => uuid.parse(value.toUpperCase()) === value))
    for (const value of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])
      expect(uuid.parse(value)).toBe(value)
  })
  test.each([
    'x',
    '00000000-0000-0000-0000-000000000001',
    '0189dfd3-4d7e-9c1a-8000-000000000000',
    '0189dfd3-4d7e-7c1a-c000-000000000000',
    '0189dfd34d7e7c1a8000000000000000',
    '0189dfd3-4d7e-7c1a-8000-000000000000\n',
  ])('refuses %j', (value) => {
    expect(uuid.safeParse(value).success).toBe(false)
  })
})

test.each(['2026-01-01', '2026-01-01T00:00:00', '2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '0', 0])(
  '%j is not a valid timestamp',
  (value) => {
    expect(timestamp.safeParse(value).success).toBe(false)
  },
)

test('a field’s path is written as in JavaScript', () => {
  expect(fieldName(['a', 0, 'b'])).toBe('a[0].b')
  expect(fieldName([])).toBe('')
})
