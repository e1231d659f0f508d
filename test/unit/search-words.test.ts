import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { searchWords, tsvectorOf } from '../../src/message/reading/words.ts'

/** What belongs to the character before it, or is a word of its own, or separates words. */
const PIECES = [
  ...'a|B|1| |\n|.|\xad|e\u0301|\u0301|\u0316|ß|ﬃ|\ufe0f|\u200d|·|½|İ|ı|i\u0307|Σ|ς|ǰ|Å|\u212b|Ａ|=|\u0338'.split(
    '|',
  ),
  ...'日|\u{20000}|か|\u3099|ｶ|ﾞ|가|\u1100|\u1161|\u11a8|ㄱ|ㅏ|\u0e01|\u0e38|\u0e33|क|ि|漢|😀|\ud800|\udc00|豈|’'.split(
    '|',
  ),
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

/** The words of a vector with their positions. */
const wordsIn = (vector: Buffer): [string, number[]][] => {
  let at = 4
  return Array.from({ length: vector.readInt32BE(0) }, () => {
    const end = vector.indexOf(0, at)
    const word = vector.toString('utf8', at, end)
    const count = vector.readUInt16BE(end + 1)
    at = end + 3 + 2 * count
    return [word, Array.from({ length: count }, (_, n) => vector.readUInt16BE(end + 3 + 2 * n))]
  })
}

/** Two strings of the same length (Thue and Morse's), which have one hash in 32 bits whatever its odd factor is if they are 128 long. */
const thueMorse = (length: number): [string, string] => {
  if (length === 1) return ['a', 'b']
  const [one, other] = thueMorse(length / 2)
  return [one + other, other + one]
}

/** Words of which each has the same hash as every other one. */
const COLLIDING = thueMorse(128).flatMap((one, _, all) =>
  all.flatMap((two) => all.map((three) => one + two + three)),
)

/** The words of a text with their positions. */
const positionsOf = (text: string): Map<string, number[]> => {
  const positions = new Map<string, number[]>()
  for (const [index, word] of searchWords(text).entries())
    positions.set(word, [...(positions.get(word) ?? []), index + 1])
  return positions
}

test('a vector has the words of a text at their positions, also those that have one hash', async () => {
  const words = [
    ...COLLIDING,
    'Aw',
    'AW',
    'c9',
    '0',
    'X'.repeat(499),
    'x'.repeat(501),
    'café',
    'cafe\u0301',
    'Straße',
  ]
  const texts = fc.array(fc.oneof(fc.constantFrom(...words, '\0', '_'), fc.constantFrom(...PIECES)), {
    maxLength: 200,
  })
  await fc.assert(
    fc.asyncProperty(texts, async (pieces) => {
      const text = pieces.join('')
      expect(new Map(wordsIn(await tsvectorOf(text)))).toEqual(positionsOf(text))
    }),
    { numRuns: 1_000, seed: 7 },
  )
})

test('each character, with others around it, is split for a vector as for a query', async () => {
  for (let from = 0; from < 0x1_0000; from += 50) {
    const characters = Array.from({ length: 50 }, (_, n) => String.fromCharCode(from + n))
    const text = characters.map((one) => `${one} a${one}b ${one}${one}か${one}\u0301x. `).join('')
    expect(new Map(wordsIn(await tsvectorOf(text)))).toEqual(positionsOf(text))
  }
})

/** The numbers that one process keeps the words of a text by: each has a copy of the module. */
const keysOf = async (text: string, process: number): Promise<number[]> => {
  const copy = `../../src/message/reading/words.ts?process=${process}`
  const { tsvectorOf: vectorOf } = await import(copy)
  const set = vi.spyOn(Map.prototype, 'set')
  const vector = vectorOf(text)
  const keys = set.mock.calls.map(([key]) => key as number)
  set.mockRestore()
  await vector
  return keys
}

test('words cannot be chosen so that a process keeps them all at one place', async () => {
  const text = 'Where is my order'
  const [keys, others] = [await keysOf(text, 1), await keysOf(text, 2)]
  expect(keys).toHaveLength(4)
  expect(keys.filter((key) => others.includes(key))).toEqual([])
})
