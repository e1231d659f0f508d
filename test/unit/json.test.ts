import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/core/http/json.ts'
import { cpuTime } from '../support/cpu-time.ts'

const nested = (levels: number, [open, close]: [string, string] = ['[', ']']) =>
  `${open.repeat(levels)}${close.repeat(levels)}`

describe('valid JSON is parsed', () => {
  test.each([
    ['the maximum depth', nested(32)],
    ['the maximum number of values', JSON.stringify(Array(5_001).fill(0))],
    [
      'the maximum number of names',
      JSON.stringify({
        a: ':'.repeat(9_000),
        ...Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`k:${n}`, n])),
      }),
    ],
    ['brackets and commas in a string', JSON.stringify(['[{,"'.repeat(200_000)])],
    ['escaped quotes, and a backslash before the last', JSON.stringify({ 'a\\"[': 'b\\\\', c: ['\\', '"'] })],
    ['a string of 12 MiB', JSON.stringify({ content: 'x'.repeat(12 * 1024 * 1024) })],
    ['a long run of backslashes', JSON.stringify('\\'.repeat(1_000_000))],
  ])('with %s', (_, text) => {
    expect(parseJson(text, 'body')).toEqual(JSON.parse(text))
  })
})

describe('JSON is refused', () => {
  test.each([
    ['one level too many', nested(33), 'body: must be at most 32 levels deep'],
    ['objects one level too deep', nested(33, ['{"a":', '}']), 'body: must be at most 32 levels deep'],
    ['16 MiB of brackets', nested(8_000_000), 'body: must be at most 32 levels deep'],
    ['16 MiB of brackets that never close', '['.repeat(16_000_000), 'body: must be at most 32 levels deep'],
    ['millions of values', `[${'{},'.repeat(5_000_000)}0]`, 'body: must contain at most 5000 values'],
    ['many names in many objects', `[${'{"a":1},'.repeat(1_001)}0]`, 'body: must contain at most 1000 names'],
    [
      'millions of values behind a string',
      `["\\"",${'0,'.repeat(5_000_000)}0]`,
      'body: must contain at most 5000 values',
    ],
    ['a string that never ends', '{"a":"', 'body: must be JSON'],
    ['no content', '', 'body: must be JSON'],
  ])('with %s, without parsing it if it is too large', (_, text, message) => {
    const started = cpuTime()
    expect(() => parseJson(text, 'body')).toThrow(message)
    // JSON.parse takes many times as long for the large ones.
    expect(cpuTime() - started).toBeLessThan(1_000)
  })
})
