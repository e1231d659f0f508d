import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_UNITS, split } from '../../../src/channel/telegram/split.ts'

describe('a text split into parts', () => {
  test('is one part up to the limit in UTF-16 units', () => {
    expect(split('x'.repeat(MAX_UNITS))).toEqual(['x'.repeat(MAX_UNITS)])
    expect(split('x'.repeat(MAX_UNITS + 1))).toEqual(['x'.repeat(MAX_UNITS), 'x'])
    expect(split('🙂'.repeat(MAX_UNITS / 2)).length).toBe(1)
    expect(split('🙂'.repeat(MAX_UNITS / 2 + 1)).map((part) => part.length)).toEqual([MAX_UNITS, 2])
  })

  test('is split after lines, or after words if there is no line break', () => {
    expect(split('one two three', 9)).toEqual(['one two ', 'three'])
    expect(split('one two\nthree four', 15)).toEqual(['one two\n', 'three four'])
    expect(split('a\nlong enough line', 12)).toEqual(['a\nlong ', 'enough line'])
  })

  test('is never split inside a character', () => {
    expect(split(`x${'🙂'.repeat(5)}`, 4)).toEqual(['x🙂', '🙂🙂', '🙂🙂'])
  })

  test('has no part of white space only, which Telegram refuses', () => {
    expect(split(`a${'\n'.repeat(20)}b`, 8)).toEqual(['a\n\n\n\n\n\n\n', '\n\n\n\n\nb'])
    expect(split(' '.repeat(20), 8)).toEqual([])
  })

  test('keeps all of its characters except white space', () => {
    const texts = fc
      .array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(' ', '\n', '🙂', 'word')))
      .map((words) => words.join(''))
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 40 }), (text, max) => {
        const parts = split(text, max)
        expect(parts.every((part) => part.length <= max && part.isWellFormed() && part.trim() !== '')).toBe(
          true,
        )
        expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
      }),
      { numRuns: 500 },
    )
  })
})
