import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageOf, readCursor, writeCursor } from '../../src/core/cursor.ts'

test('a cursor decodes to the values it was created from', () => {
  const parts = fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(parts, (given) => {
      expect(readCursor(writeCursor(...given), given.length)).toEqual(given)
    }),
  )
})

test('an invalid cursor fails with invalid_input and no other error', () => {
  const refused = expect.objectContaining({ code: 'invalid_input', field: 'cursor' })
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(() => readCursor(text, 2)).toThrow(refused)
    }),
  )
  for (const value of ['[1]', '[1,2,3]', '[1,null]', '[1,{}]', '{}', '1', '']) {
    expect(() => readCursor(Buffer.from(value).toString('base64url'), 2)).toThrow(refused)
  }
})

test('a page has a cursor only when more items follow', () => {
  const cursorOf = (item: number) => `after ${item}`
  expect(pageOf([], 2, cursorOf)).toEqual({ items: [], nextCursor: null })
  expect(pageOf([1, 2], 2, cursorOf)).toEqual({ items: [1, 2], nextCursor: null })
  expect(pageOf([1, 2, 3], 2, cursorOf)).toEqual({ items: [1, 2], nextCursor: 'after 2' })
})
