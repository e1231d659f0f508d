import { afterEach, expect, test } from 'vitest'
import { createMailParser, type MailParser } from '../../../src/channel/email/parser.ts'

let parser: MailParser
afterEach(() => parser.close())

const megabytes = (n: number) =>
  Buffer.from(
    `From: a@x.com\r\nSubject: big\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${`${'QUFB'.repeat(19)}\r\n`.repeat(Math.round((n * 1_048_576) / 78))}--b--\r\n`,
  )

test('a long mail is parsed beside the event loop, which goes on turning', async () => {
  parser = createMailParser()
  await parser.parse(megabytes(0.5)) // the thread is up
  let turns = 0
  const counter = setInterval(() => turns++, 1)
  const mail = await parser.parse(megabytes(25))
  clearInterval(counter)
  expect({ ...mail, text: mail.text.slice(0, 20) }).toMatchObject({
    subject: 'big',
    text: 'hello',
    damage: null,
    from: { address: 'a@x.com' },
  })
  expect(mail.attachments[0]?.content).toBeInstanceOf(Uint8Array)
  expect(mail.attachments[0]?.content.length).toBeGreaterThan(18_000_000)
  expect(turns).toBeGreaterThan(20)
})

test('long mails at once come back each as itself', async () => {
  parser = createMailParser({ inlineLimit: 10 })
  const mails = await Promise.all([1, 2, 3, 4].map((n) => parser.parse(Buffer.from(`From: a${n}@x.com\r\n\r\nbody ${n}`))))
  expect(mails.map((mail) => mail.text)).toEqual(['body 1', 'body 2', 'body 3', 'body 4'])
})

test('a mail that takes too long is salvaged, and the next one is parsed', async () => {
  parser = createMailParser({ inlineLimit: 10, timeoutMs: 1 })
  const late = await parser.parse(Buffer.from('From: a@x.com\r\nSubject: slow\r\n\r\nstill readable'))
  expect(late).toMatchObject({ subject: 'slow', text: 'still readable', damage: expect.stringContaining('longer than 1 ms') })
  await parser.close()
  parser = createMailParser({ inlineLimit: 10 })
  expect(await parser.parse(Buffer.from('From: a@x.com\r\n\r\nnext'))).toMatchObject({ text: 'next', damage: null })
})

test('the raw bytes stay the caller’s own', async () => {
  parser = createMailParser({ inlineLimit: 10 })
  const raw = Buffer.from('From: a@x.com\r\n\r\nkept')
  await parser.parse(raw)
  expect(raw.toString()).toContain('kept')
})
