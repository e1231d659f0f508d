import { expect, test } from 'vitest'
import { clipHeader } from '../../../src/mail/reading/clip-header.ts'

const clip = (text: string) => {
  const { raw, reason } = clipHeader(Buffer.from(text))
  return { text: Buffer.from(raw).toString(), reason }
}

test('an ordinary message is returned as the same buffer', () => {
  const raw = Buffer.from(`From: a@x.com\r\nSubject: hello\r\n folded\r\n\r\n${'x'.repeat(20_000)}`)
  expect(clipHeader(raw)).toEqual({ raw, reason: null })
  expect(clipHeader(raw).raw).toBe(raw)
})

test('a line over 8 KiB is truncated, and the lines after it are kept', () => {
  const { text, reason } = clip(`X: ${'y'.repeat(100_000)}\r\nSubject: kept\r\n\r\nbody`)
  expect(reason).toContain('a line is longer than 8 KiB')
  expect(text).toMatch(/^X: y{8187}\r\nSubject: kept\r\n\r\nbody$/)
})

test('a field is truncated after 64 KiB of continuation lines, and the next field is kept', () => {
  const { text, reason } = clip(
    `To: a@x.com,\r\n${` ${'b'.repeat(998)},\r\n`.repeat(200)}Subject: kept\r\n\r\nbody`,
  )
  expect(reason).toContain('a field is longer than 64 KiB')
  expect(text.length).toBeLessThan(66_000)
  expect(text).toMatch(/\r\nSubject: kept\r\n\r\nbody$/)
})

test('a header over 2 MiB is truncated, and an empty line separates it from the rest', () => {
  const { text, reason } = clip('a: b\r\n'.repeat(1_000_000))
  expect(reason).toContain('longer than 2 MiB')
  expect(text.indexOf('\r\n\r\n')).toBeGreaterThan(2_000_000)
  expect(text.indexOf('\r\n\r\n')).toBeLessThan(2_200_000)
})

test.each([
  ['no content', ''],
  ['no header at all', '\r\nbody'],
  ['a header but no body', 'From: a@x.com\r\n'],
  ['bare line feeds', 'From: a@x.com\n\nbody'],
  ['a last line without an end', 'From: a@x.com\r\nSubject: x'],
])('a message with %s is left unchanged', (_, text) => {
  expect(clip(text)).toEqual({ text, reason: null })
})
