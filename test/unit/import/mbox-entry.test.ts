import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mboxEntry } from '../../../src/export/mbox.ts'

const AT = new Date('2026-01-02T03:04:05Z')
const SEPARATOR = 'From MAILER-DAEMON Fri Jan  2 03:04:05 2026\n'

/** A mail as it is restored from its entry, with LF line endings. */
const restored = (entry: Buffer): string =>
  entry
    .toString('latin1')
    .slice(SEPARATOR.length)
    .replace(/^>(>*From )/gm, '$1')

test('a long mail is restored from its entry as it was, wherever it is cut', async () => {
  const lines = fc.array(fc.constantFrom('From ', '>From x', '>>From', '', 'x'.repeat(30_000), '\xff'), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(lines, fc.constantFrom('\n', '\r\n'), fc.boolean(), async (texts, end, ends) => {
      const mail = ['x'.repeat(65_530), ...texts].join(end) + (ends ? end : '')
      const entry = await mboxEntry(Buffer.from(mail, 'latin1'), AT)
      const plain = mail.replaceAll('\r\n', '\n')
      expect(entry.toString('latin1').startsWith(SEPARATOR)).toBe(true)
      expect(entry.toString('latin1').match(/^From /gm)).toHaveLength(1)
      expect(restored(entry)).toBe(`${plain}${plain.endsWith('\n') ? '' : '\n'}\n`)
    }),
    { numRuns: 100, seed: 7 },
  )
})

test('other work runs while a long mail is written', async () => {
  let written = false
  const entry = mboxEntry(Buffer.from('\r\nFrom '.repeat(300_000)), AT).then(() => {
    written = true
  })
  let turns = 0
  for (; !written; turns++) await setImmediate()
  await entry
  expect(turns).toBeGreaterThan(15)
})
