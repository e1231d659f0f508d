import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseMail } from '../../../src/channel/email/parse/parse.ts'
import { Budget } from '../../../src/channel/email/parse/time-budget.ts'

// Mail as the programs and services out there write it, made up but for its form, with what an agent should
// read of each.
const folder = join(import.meta.dirname, '../../corpus')
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.eml') ? [file.slice(0, -'.eml'.length)] : [],
)
const expected: Record<string, unknown> = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))

/** The files have the line ends of a text file; the wire has its own. */
const onTheWire = (name: string) =>
  Buffer.from(readFileSync(join(folder, `${name}.eml`), 'latin1').replace(/\r?\n/g, '\r\n'), 'latin1')

/**
 * A busy machine may spend a mail's own 2 s elsewhere. That slow mail is given up is tested in slow.test.ts.
 */
const ENOUGH_MS = 60_000

const read = async (raw: Buffer) => {
  const { from, to, cc, subject, text, replyText, attachments, damage } = await parseMail(
    raw,
    new Budget(ENOUGH_MS),
  )
  const files = attachments.map(({ name, type, content }) => `${name} (${type}, ${content.length} bytes)`)
  return { from, to, cc, subject, text, ...(replyText === text ? {} : { replyText }), files, damage }
}

test('every mail of the corpus has its expectation', () => {
  expect(Object.keys(expected).sort()).toEqual([...names].sort())
  expect(names.length).toBeGreaterThan(40)
})

describe('what an agent reads of', () => {
  test.each(names)('%s', async (name) => {
    expect(await read(onTheWire(name))).toEqual(expected[name])
  })
})

test.each(names)('%s, cut off anywhere, is still read', async (name) => {
  const raw = onTheWire(name)
  for (let part = 1; part < 8; part++) {
    const { text, files } = await read(raw.subarray(0, Math.floor((raw.length * part) / 8)))
    expect(typeof text).toBe('string')
    expect(Array.isArray(files)).toBe(true)
  }
})
