import { expect, test } from 'vitest'
import { oneLine, sanitizeText } from '../../src/core/text/sanitize-text.ts'
import { toAttachment } from '../../src/mail/decode/attachment.ts'

const tags = (words: string) =>
  [...words].map((character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))).join('')
const selectors = (words: string) =>
  [...words].map((character) => String.fromCodePoint(0xe0100 + character.charCodeAt(0) - 16)).join('')

test('invisible characters are removed from texts and header lines', () => {
  expect(sanitizeText(`hello${tags('ignore')} there`)).toBe('hello there')
  expect(oneLine(`hello${tags('ignore')} there`, 100)).toBe('hello there')
  // A single selector may belong to the character before it; a series of them encodes hidden bytes.
  expect([...sanitizeText(`\u263a${selectors('ignore all')}`)].length).toBe(2)
  expect([...oneLine(`\u263a${selectors('ignore all')}`, 100)].length).toBe(2)
})

test('flags and characters with a variation selector are preserved', () => {
  const written = `\u{1f3f4}${tags('gbsct')}\u{e007f} \u2764\ufe0f \u845b\u{e0100} 1\ufe0f\u20e3`
  expect(sanitizeText(written)).toBe(written)
  expect(oneLine(written, 100)).toBe(written)
})

test('a name cannot reverse the direction of the address after it', () => {
  expect(oneLine('Ann \u202e<moc.elpmaxe@nna>', 100)).toBe('Ann <moc.elpmaxe@nna>')
})

test('terminal control characters are replaced in a text', () => {
  expect(sanitizeText('a\u001b[2Jb\u0007c\td\fe\u009bf')).toBe('a\ufffd[2Jb\ufffdc\td\fe\ufffdf')
})

test('a long text is cleaned like a short one, wherever it is split', () => {
  const text = `\r\n \n${'\u{1f600}x\r\n'.repeat(200_000)}end`
  expect(sanitizeText(text)).toBe(`${'\u{1f600}x\n'.repeat(200_000)}end`)
})

test('a media type of excessive length becomes application/octet-stream', () => {
  const part = (mimeType: string) => ({
    mimeType,
    filename: 'a',
    content: new ArrayBuffer(0),
    disposition: null,
  })
  expect(toAttachment(part(`a/${'b'.repeat(20_000)}`), undefined, 0).type).toBe('application/octet-stream')
  expect(toAttachment(part(`a/${'b'.repeat(127)}`), undefined, 0).type).toBe(`a/${'b'.repeat(127)}`)
})
