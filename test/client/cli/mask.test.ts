import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Mask } from '../../../src/client/cli/terminal/mask.ts'

const masked = (values: string[], ...pieces: (string | Buffer)[]): string => {
  const mask = new Mask(values)
  const shown = pieces.map((piece) => mask.push(Buffer.from(piece)))
  return Buffer.concat([...shown, mask.end()]).toString()
}

test('a value is replaced, also where it is spread over pieces', () => {
  expect(masked(['hunter22'], 'a hun', 'ter', '22 b')).toBe('a *** b')
})

test('an end that could be the start of a value waits for what follows', () => {
  const mask = new Mask(['hunter22'])
  expect(mask.push(Buffer.from('say hunt')).toString()).toBe('say ')
  expect(mask.push(Buffer.from('ing')).toString()).toBe('hunting')
})

test('the longest value wins, and the shorter one counts where the longer one breaks off', () => {
  expect(masked(['abcd', 'abcdefgh'], 'abcd', 'efgh abcdef')).toBe('*** ***ef')
})

test('the lines of a value of several lines are masked by themselves too', () => {
  const key = '-----BEGIN-----\nMIIEpAIBAAKCAQEA\n-----END-----\n'
  expect(masked([key], 'MIIEpAIBAAKCAQEA')).toBe('***')
  expect(masked([key], key.trimEnd())).toBe('***')
})

test('a value that is too short to be told from ordinary text is left alone', () => {
  expect(masked(['a'], 'banana')).toBe('banana')
})

test('whatever the pieces, no value is shown, and nothing else is lost', () => {
  const value = fc.string({ minLength: 4, maxLength: 9, unit: fc.constantFrom('a', 'b', 'ä') })
  const text = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'ä', '.'), value), { maxLength: 20 })
  fc.assert(
    fc.property(
      fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
      text,
      fc.array(fc.nat(99)),
      (values, parts, cuts) => {
        const bytes = Buffer.from([...parts, ...values].join(''))
        const borders = [
          0,
          ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b),
          bytes.length,
        ]
        const pieces = borders.slice(1).map((border, n) => bytes.subarray(borders[n], border))
        const shown = masked(values, ...pieces)
        for (const one of values) expect(shown).not.toContain(one)
        expect(shown).toBe(masked(values, bytes))
      },
    ),
    { numRuns: 300 },
  )
})
