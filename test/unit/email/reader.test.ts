import { afterEach, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createMailReader } from '../../../src/mail/reading/create-reader.ts'
import type { MailReader } from '../../../src/mail/reading/mail-reader.ts'
import type { ReaderLimits } from '../../../src/mail/reading/reader-limits.ts'
import type { DnsResolver } from '../../../src/mail/verify/resolver.ts'

let reader: MailReader
afterEach(() => reader.close())

const noSuchName: DnsResolver = async (name) => {
  throw Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' })
}

const open = (limits: Partial<ReaderLimits> = {}, resolver = noSuchName) => {
  reader = createMailReader({
    mailDomain: 'agents.example',
    mta: 'mx.agents.example',
    resolver,
    log: silentLogger,
    limits,
  })
  return (raw: string | Buffer, source = '192.0.2.1') =>
    reader.read({
      raw: typeof raw === 'string' ? Buffer.from(raw.replaceAll(/\r?\n/g, '\r\n')) : raw,
      envelope: { ip: '192.0.2.1', helo: 'mail.example.com', reversePath: 'ann@example.com' },
      source,
    })
}

const withFile = (megabytes: number) =>
  Buffer.from(
    `From: a@x.com\r\nSubject: big\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n--b\r\n` +
      `Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n` +
      `${`${'QUFB'.repeat(19)}\r\n`.repeat(Math.round((megabytes * 1_048_576) / 78))}--b--\r\n`,
  )

/**
 * Returns a message that takes seconds to parse: each of its forwarded messages is nested as deeply as MIME
 * is read.
 */
const slow = () => {
  let nested = 'Content-Type: text/plain\r\n\r\nx\r\n'
  for (let n = 1_400; n > 0; n--)
    nested = `Content-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}\r\n${nested}\r\n--b${n}--\r\n`
  const forwarded = `--f\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n${nested}\r\n`
  return Buffer.from(
    `From: eve@example.com\r\nSubject: slow\r\nContent-Type: multipart/mixed; boundary=f\r\n\r\n${forwarded.repeat(50)}--f--\r\n`,
  )
}

test('a long message is read without blocking the event loop', async () => {
  const read = open()
  await read(withFile(0.5)) // starts the thread
  let turns = 0
  const counter = setInterval(() => turns++, 1)
  const mail = await read(withFile(25))
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

test('messages read concurrently each get their own result', async () => {
  const read = open()
  const numbers = Array.from({ length: 50 }, (_, n) => n)
  const mails = await Promise.all(numbers.map((n) => read(`From: a${n}@x.com\n\nbody ${n}`, `192.0.2.${n}`)))
  expect(mails.map((mail) => mail.text)).toEqual(numbers.map((n) => `body ${n}`))
})

test('the caller’s buffer is still usable after reading', async () => {
  const read = open()
  const raw = Buffer.from('From: a@x.com\r\n\r\nkept')
  await read(raw)
  expect(raw.toString()).toContain('kept')
})

test('DNS queries use the resolver of the main thread', async () => {
  const queries: string[] = []
  const read = open({}, async (name, type) => {
    queries.push(`${type} ${name}`)
    if (type === 'TXT' && name === 'example.com') return [['v=spf1 ip4:192.0.2.1 -all']]
    return noSuchName(name, type)
  })
  const { verification } = await read('From: ann@example.com\n\nhello')
  expect(verification).toMatchObject({ proven: true })
  expect(queries).toContain('TXT example.com')
})

test('a message that exceeds its time limit is read in a simpler way, and others are read meanwhile', async () => {
  // A fast machine reads the slow one in 1.3 s.
  const read = open({ budgetMs: 500, budgetMsPerMiB: 0, overtakeMs: 100, longBytes: 1e8, threads: 2 })
  await read('From: a@x.com\n\nstarts the thread')
  const order: string[] = []
  const late = read(slow(), '198.51.100.1').then((mail) => {
    order.push('slow')
    return mail
  })
  const honest = Promise.all(
    Array.from({ length: 20 }, (_, n) => read(`From: a@x.com\n\nhello ${n}`, `192.0.2.${n}`)),
  ).then((mails) => {
    order.push('honest')
    return mails
  })
  expect((await honest).map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, n) => `hello ${n}`))
  expect(await late).toMatchObject({
    subject: 'slow',
    damage: expect.stringContaining('time or memory limit'),
  })
  expect(order).toEqual(['honest', 'slow'])
  expect(await read('From: a@x.com\n\nnext')).toMatchObject({ text: 'next', damage: null })
})

test('slow messages of one source are read one at a time, and another source does not wait for all of them', {
  timeout: 60_000,
}, async () => {
  const read = open({ budgetMs: 1_000, budgetMsPerMiB: 0, overtakeMs: 100, longBytes: 1e8, threads: 2 })
  await read('From: a@x.com\n\nstarts the thread')
  const done: string[] = []
  const slowOnes = [1, 2, 3].map((n) => read(slow(), '198.51.100.1').then(() => done.push(`slow ${n}`)))
  await read('From: a@x.com\n\nhonest', '192.0.2.1').then(() => done.push('honest'))
  await Promise.all(slowOnes)
  expect(done.slice(0, 2)).toContain('honest')
})

test.each([
  ['thread', 1e8],
  ['process', 1_048_576],
])(
  'a message that needs more memory than a %s has is read in a simpler way, and the next ones are read normally',
  async (_, longBytes) => {
    // The first message needs 300 MiB; ordinary mail, including the modules, needs far less than 64.
    const read = open({ heapMiB: 64, threads: 1, budgetMs: 30_000, longBytes })
    // Not HTML: on a busy machine, its time limit would be reached before the memory limit.
    const parts = '--b\r\n\r\nx\r\n'.repeat(1_500_000)
    const heavy = Buffer.from(
      `From: a@x.com\r\nSubject: heavy\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`,
    )
    expect(await read(heavy)).toMatchObject({
      subject: 'heavy',
      damage: expect.stringContaining('time or memory limit'),
    })
    expect(await read('From: a@x.com\n\nnext')).toMatchObject({ text: 'next', damage: null })
    expect(await read(withFile(2))).toMatchObject({ subject: 'big', damage: null })
  },
)

test('a message with a header line over 8 KiB is read with that line truncated, and its sender is not proven', async () => {
  const read = open({}, async (name, type) =>
    type === 'TXT' && name === 'example.com' ? [['v=spf1 ip4:192.0.2.1 -all']] : noSuchName(name, type),
  )
  const mail = await read(
    `From: ann@example.com\nX-Long: ${'\r'.repeat(300_000)}\nSubject: after it\n\nhello`,
  )
  expect(mail).toMatchObject({
    subject: 'after it',
    text: 'hello',
    damage: null,
    verification: { proven: false },
  })
  expect(mail.verification?.checks[0]?.detail).toContain('a line is longer than 8 KiB')
})

test('a message that is being read when the reader closes is refused as unavailable', async () => {
  const read = open()
  const waiting = read('From: a@x.com\n\nhello')
  const refused = expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  await reader.close()
  await refused
})

test('slow messages of many strangers do not delay a source whose messages were quick', {
  timeout: 120_000,
}, async () => {
  const read = open({ threads: 2 })
  await read('From: a@x.com\n\nfirst', '198.51.100.1')
  await read('From: a@x.com\n\nsecond', '198.51.100.1')
  let done = 0
  const strangers = Array.from({ length: 40 }, (_, n) =>
    read(slow(), `192.0.2.${n}`).then(
      () => done++,
      () => done++,
    ),
  )
  for (const text of ['third', 'fourth', 'fifth'])
    expect((await read(`From: a@x.com\n\n${text}`, '198.51.100.1')).text).toBe(text)
  // Each of theirs uses a thread for its whole time budget, so that the queue would take two minutes.
  expect(done).toBeLessThan(20)
  await reader.close()
  await Promise.all(strangers)
})
