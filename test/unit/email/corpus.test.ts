import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Budget } from '../../../src/mail/decode/time-budget.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'

// Made-up mail in the formats that real programs and services write, with the expected result for each.
const folder = join(import.meta.dirname, '../../corpus')
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.eml') ? [file.slice(0, -'.eml'.length)] : [],
)
const expected: Record<string, unknown> = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))

/** Returns the file with CRLF line endings. */
const onTheWire = (name: string) =>
  Buffer.from(readFileSync(join(folder, `${name}.eml`), 'latin1').replace(/\r?\n/g, '\r\n'), 'latin1')

/**
 * Overrides the limit of 2 s per mail, which a busy machine may exceed. slow.test.ts tests the limit itself.
 */
const TIME_LIMIT_MS = 60_000

const read = async (raw: Buffer) => {
  const { from, to, cc, subject, text, replyText, attachments, damage } = await parseMail(
    raw,
    new Budget(TIME_LIMIT_MS),
  )
  const files = attachments.map(({ name, type, content }) => `${name} (${type}, ${content.length} bytes)`)
  return { from, to, cc, subject, text, ...(replyText === text ? {} : { replyText }), files, damage }
}

test('every mail of the corpus has an expected result', () => {
  expect(Object.keys(expected).sort()).toEqual([...names].sort())
  expect(names.length).toBeGreaterThan(40)
})

describe('parsing the corpus', () => {
  test.each(names)('gives the expected result for %s', async (name) => {
    expect(await read(onTheWire(name))).toEqual(expected[name])
  })
})

test.each(names)('%s is still read when it is truncated at any point', async (name) => {
  const raw = onTheWire(name)
  for (let part = 1; part < 8; part++) {
    const { text, files } = await read(raw.subarray(0, Math.floor((raw.length * part) / 8)))
    expect(typeof text).toBe('string')
    expect(Array.isArray(files)).toBe(true)
  }
})
