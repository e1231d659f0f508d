import { Hash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { fingerprintOf } from '../../../src/message/import/fingerprint.ts'
import { isSkipped, MAX_MAIL_BYTES } from '../../../src/message/import/mail.ts'
import { NotAnMbox, splitMbox } from '../../../src/message/import/mbox.ts'

/** Splits an mbox that arrives in chunks of this size. */
const split = async (content: string | Buffer, size = 64 * 1024) => {
  const bytes = Buffer.from(content)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const found: { name: string; text?: string; date?: string | null; reason?: string }[] = []
  for await (const entry of splitMbox(chunks()))
    found.push(
      isSkipped(entry)
        ? entry
        : {
            name: entry.name,
            text: entry.raw.toString('latin1'),
            date: entry.storedAt?.toISOString() ?? null,
          },
    )
  return found
}
const textsOf = async (content: string, size?: number) => (await split(content, size)).map(({ text }) => text)

const SEPARATOR = 'From ann@example.com Tue Jan  2 15:04:05 2024\n'

test.each([1, 2, 7, 100_000])('splits at separators, whatever the chunks (%i bytes)', async (size) => {
  const mbox = `${SEPARATOR}Subject: one\n\nfirst\n\n${SEPARATOR}Subject: two\n\nsecond\n\n`
  expect(await textsOf(mbox, size)).toEqual(['Subject: one\n\nfirst\n', 'Subject: two\n\nsecond\n'])
})

test('reads lines that end with CRLF', async () => {
  const crlf = `${SEPARATOR}Subject: one\n\nfirst\n\n${SEPARATOR}Subject: two\n\nsecond\n`.replaceAll(
    '\n',
    '\r\n',
  )
  expect(await textsOf(crlf, 3)).toEqual(['Subject: one\r\n\r\nfirst\r\n', 'Subject: two\r\n\r\nsecond\r\n'])
})

test('removes the quotation of lines that began with From, once', async () => {
  const mbox = `${SEPARATOR}Subject: x\n\n>From here\n>>From there\n> From nobody\n>Fromage\n`
  expect(await textsOf(mbox)).toEqual(['Subject: x\n\nFrom here\n>From there\n> From nobody\n>Fromage\n'])
})

test('a line of text that begins with From is not a separator', async () => {
  const text = `Subject: x\n\nHello,\nFrom 10:30 in 2024 on\n\nFrom now on we meet at noon.\n`
  expect(await textsOf(SEPARATOR + text)).toEqual([text])
})

test('separators without a date are recognised if the first one has none', async () => {
  const mbox = 'From ann@example.com\nSubject: one\n\nfirst\n\nFrom bo@example.com\nSubject: two\n\nsecond\n'
  expect(await textsOf(mbox)).toEqual(['Subject: one\n\nfirst\n', 'Subject: two\n\nsecond\n'])
})

test.each([
  ['From ann@example.com Tue Jan  2 15:04:05 2024', '2024-01-02T15:04:05.000Z'],
  ['From - Tue Jan 02 15:04:05 2024', '2024-01-02T15:04:05.000Z'],
  ['From 1783@xxx Tue Jan 02 15:04:05 +0100 2024', '2024-01-02T14:04:05.000Z'],
  ['From ann Fri Jul  8 12:08:34 2011 -0200', '2011-07-08T14:08:34.000Z'],
  ['From ann@example.com', null],
])('reads the date of %s', async (separator, date) => {
  expect(await split(`${separator}\nSubject: x\n\ny\n`)).toMatchObject([{ date }])
})

test('a line can be of any length, also one that begins like a separator', async () => {
  const long = 'x'.repeat(3_000_000)
  const mbox = `${SEPARATOR}Subject: x\n\n${long}\n\nFrom ${long} Tue Jan  2 15:04:05 2024\n`
  const [{ text } = {}, ...others] = await split(mbox)
  expect(others).toEqual([])
  expect(text === mbox.slice(SEPARATOR.length)).toBe(true)
})

test('skips a mail that is too large by its name, and goes on', async () => {
  const large = 'a line\n'.repeat(MAX_MAIL_BYTES / 7 + 1)
  const mbox = `${SEPARATOR}Subject: 1\n\n1\n\n${SEPARATOR}Subject: 2\n\n${large}\n${SEPARATOR}Subject: 3\n\n3\n`
  expect(await split(mbox)).toMatchObject([
    { name: 'message 1', text: 'Subject: 1\n\n1\n' },
    { name: 'message 2', reason: 'is larger than 25 MiB' },
    { name: 'message 3', text: 'Subject: 3\n\n3\n' },
  ])
})

test('an mbox can be empty, but not anything else', async () => {
  expect(await split('')).toEqual([])
  expect(await split('\n\r\n')).toEqual([])
  await expect(split('Subject: a mail\n\nhello\n')).rejects.toThrow(NotAnMbox)
  await expect(split(Buffer.alloc(100_000))).rejects.toThrow(NotAnMbox)
})

const MAIL = 'From: a@example.com\nMessage-ID: <1@example.com>\nSubject: a\n b\n\nHello\n\nthere\n'
const sameAs = (mail: string) =>
  Buffer.compare(fingerprintOf(Buffer.from(MAIL)), fingerprintOf(Buffer.from(mail))) === 0

test.each([
  ['with CRLF', MAIL.replaceAll('\n', '\r\n')],
  ['with empty lines at its end', `${MAIL}\r\n\n`],
  ['with the fields of another mailbox', `Received: by mx\n with x\nStatus: RO\n${MAIL}`],
])('a mail is the same %s', (_how, mail) => {
  expect(sameAs(mail)).toBe(true)
})

test.each([
  ['another text', MAIL.replace('there', 'here')],
  ['another continued subject', MAIL.replace(' b\n', ' c\n')],
  ['another Message-ID', MAIL.replace('<1@', '<2@')],
  ['no Message-ID', MAIL.replace(/Message-ID.*\n/, '')],
  ['a text where it had a field', MAIL.replace('Subject: a\n b\n\n', '\nSubject: a\n b\n')],
])('a mail with %s is another one', (_what, mail) => {
  expect(sameAs(mail)).toBe(false)
})

test('a header of millions of fields takes no longer than a body', () => {
  const update = vi.spyOn(Hash.prototype, 'update')
  fingerprintOf(Buffer.from(`From: a@example.com\n${'to:\n'.repeat(1_000_000)}\nHello\n`))
  expect(update.mock.calls.length).toBeLessThan(150_000)
  update.mockRestore()
})
