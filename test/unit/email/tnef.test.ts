import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Budget } from '../../../src/mail/decode/time-budget.ts'
import { unpackTnef } from '../../../src/mail/parse/tnef/unpack.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { plainRtf, tnef } from '../../support/tnef.ts'

const unpack = (bytes: Uint8Array) => unpackTnef(bytes, new Budget(1_000))
const HTML_RTF =
  "{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 {\\*\\htmltag64 <p>}\\htmlrtf \\par\\htmlrtf0 Gr\\'fc\\'dfe{\\*\\htmltag72 </p>}{\\*\\htmltag64 <p hidden>}no{\\*\\htmltag72 </p>}}"

describe('the body of a winmail.dat', () => {
  test.each([
    ['text', { text: 'Hello' }, 'Hello'],
    ['HTML', { html: '<p>Hello</p><p hidden>no</p>' }, 'Hello'],
    ['HTML wrapped in RTF', { rtf: plainRtf(HTML_RTF) }, 'Grüße'],
    ['text wrapped in RTF', { rtf: plainRtf('{\\rtf1\\ansi\\fromtext Hello}') }, 'Hello'],
    [
      'native RTF',
      { rtf: plainRtf('{\\rtf1\\ansi Hello}'), files: [{ name: 'a', content: Buffer.from('a') }] },
      'Hello',
    ],
  ])('has the right text for %s', (_, parts, expected) => expect(unpack(tnef(parts))?.text).toBe(expected))
})

test('broken escapes in RTF are removed without a console warning', () => {
  const warned = vi.spyOn(console, 'warn')
  expect(unpack(tnef({ rtf: plainRtf("{\\rtf1\\ansi\\fromtext He\\'zzllo}") }))?.text).toBe('Hezzllo')
  expect(warned).not.toHaveBeenCalled()
})

describe('the files of a winmail.dat', () => {
  test('keep their long names, types and bytes', () => {
    const content = Buffer.from([0, 1, 2, 255])
    expect(
      unpack(tnef({ files: [{ name: 'Größe 7.bin', type: 'image/PNG', content }] }))?.attachments,
    ).toEqual([{ name: 'Größe 7.bin', type: 'image/png', content: new Uint8Array(content) }])
  })

  test('have no path in their names, and always a valid type', () => {
    const [file] = unpack(
      tnef({ files: [{ name: '../../etc/passwd', type: 'text/html\r\nX: y', content: Buffer.from('x') }] }),
    )!.attachments
    expect([file?.name, file?.type]).toEqual(['passwd', 'application/octet-stream'])
  })

  test('are unpacked to a limited depth if they are messages', () => {
    let bytes = tnef({ text: 'the innermost' })
    for (let level = 0; level < 10; level++)
      bytes = tnef({ text: `level ${level}`, files: [{ name: `m${level}`, content: bytes, message: true }] })
    const names = unpack(bytes)?.attachments.map(({ name }) => name)
    expect(names).toEqual(['m9.txt', 'm8.txt', 'm7.txt', 'm6'])
  })
})

describe('a damaged winmail.dat', () => {
  test.each([
    ['an empty file', Buffer.alloc(0)],
    ['another format', Buffer.from('%PDF-1.7 and more')],
    ['only the beginning', tnef({}).subarray(0, 6)],
    [
      'an attribute of four gigabytes',
      Buffer.concat([tnef({}).subarray(0, 6), Buffer.from([1, 3, 0x90, 6, 0, 255, 255, 255, 255])]),
    ],
  ])('is not unpacked: %s', (_, bytes) => expect(unpack(bytes)).toBeNull())

  test('keeps the files before the damage', () => {
    const bytes = tnef({ files: ['a', 'b', 'c'].map((name) => ({ name, content: Buffer.from(name) })) })
    const names = unpack(bytes.subarray(0, bytes.length - 100))?.attachments.map(({ name }) => name)
    expect(names?.[0]).toBe('a')
  })

  test('neither crashes nor hangs when mutated', () => {
    const seed = tnef({
      text: 'Hello',
      rtf: plainRtf(HTML_RTF),
      files: [{ name: 'a.txt', type: 'text/plain', content: Buffer.from('hello') }],
    })
    const edits = fc.array(fc.tuple(fc.nat(seed.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(edits, (changes) => {
        const bytes = Buffer.from(seed)
        for (const [at, value] of changes) bytes[at] = value
        const started = cpuTime()
        unpack(bytes)
        expect(cpuTime() - started).toBeLessThan(2_000)
      }),
      { numRuns: 500 },
    )
  })
})
