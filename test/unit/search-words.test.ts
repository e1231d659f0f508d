import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { searchWords, tsvectorOf } from '../../src/message/reading/words.ts'

/** What belongs to the character before it, or is a word of its own, or separates words. */
const PIECES = [
  ...[
    'a',
    'B',
    '1',
    ' ',
    '\n',
    '.',
    '\xad',
    'e\u0301',
    '\u0301',
    '\u0316',
    'ß',
    'ﬃ',
    '\ufe0f',
    '\u200d',
    '·',
    '½',
  ],
  ...[
    '日',
    '\u{20000}',
    'か',
    '\u3099',
    'ｶ',
    'ﾞ',
    '가',
    '\u1100',
    '\u1161',
    '\u11a8',
    '\u0e01',
    '\u0e38',
    '😀',
    '\ud800',
  ],
]

test('a text has the same words wherever it is cut', () => {
  const texts = fc.array(fc.constantFrom(...PIECES), { minLength: 40, maxLength: 80 })
  fc.assert(
    fc.property(texts, fc.nat(40), (pieces, before) => {
      const text = pieces.join('')
      const pad = `${'x'.repeat(4_999 - before)} `
      expect(searchWords(pad + text)).toEqual([...searchWords(pad), ...searchWords(text)])
    }),
    { numRuns: 300, seed: 7 },
  )
})

test('other work runs while a long text is split into words', async () => {
  const text = Array.from({ length: 100_000 }, (_, n) => String.fromCodePoint(0x4e00 + (n % 20_000))).join('')
  let indexed = false
  const vector = Promise.resolve(tsvectorOf(text)).then(() => {
    indexed = true
  })
  let turns = 0
  for (; !indexed; turns++) await setImmediate()
  await vector
  expect(turns).toBeGreaterThan(15)
})
