import { beforeAll, expect, test } from 'vitest'
import { newest, post, receive } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'

let service: TestService
let agent: TestAgent
beforeAll(async () => {
  service = await startService()
  agent = await createTestAgent(service, await service.workspace())
  await agent.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const FROM = 'eve@example.com'
const head = (...lines: string[]) =>
  [`From: Eve <${FROM}>`, `To: ${agent.address}`, ...lines, '', ''].join('\r\n')
const receiveRaw = (raw: string | Buffer) =>
  receive(service, agent, { raw, envelope: { from: FROM, to: agent.address } })
const latin1 = (text: string) => Buffer.from(text, 'latin1')

const nested = (levels: number): string => {
  let body = 'Content-Type: text/plain\r\n\r\nat the bottom\r\n'
  for (let level = levels; level > 0; level--) {
    body = `Content-Type: multipart/mixed; boundary="b${level}"\r\n\r\n--b${level}\r\n${body}\r\n--b${level}--\r\n`
  }
  return body
}

interface Hostile {
  says: string
  raw: () => string | Buffer
  subject?: string
  text?: RegExp
}

const hostile: Hostile[] = [
  { says: 'a NUL in the subject', raw: () => `${head('Subject: a\0b')}hello\r\n`, text: /hello/ },
  {
    says: 'a NUL in an encoded subject',
    raw: () => `${head('Subject: =?utf-8?q?a=00b?=')}hello\r\n`,
    text: /hello/,
  },
  { says: 'a NUL in the body', raw: () => `${head('Subject: x')}hel\0lo\r\n`, subject: 'x', text: /hel.?lo/ },
  {
    says: 'an unknown charset',
    raw: () =>
      latin1(`${head('Subject: x', 'Content-Type: text/plain; charset=klingon-1')}caf\xe9 hello\r\n`),
    text: /caf. hello/,
  },
  {
    says: 'bytes that are invalid in their charset',
    raw: () => latin1(`${head('Subject: x', 'Content-Type: text/plain; charset=utf-8')}caf\xe9 hello\r\n`),
    text: /hello/,
  },
  {
    says: '1,000 nested parts',
    raw: () => `${head('Subject: deep', 'MIME-Version: 1.0').slice(0, -2)}${nested(1_000)}`,
    subject: 'deep',
  },
  {
    says: 'a boundary that never occurs',
    raw: () =>
      `${head('Subject: x', 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=never')}the words\r\n`,
    text: /the words/,
  },
  {
    says: 'a truncated part',
    raw: () =>
      `${head('Subject: x', 'Content-Type: multipart/mixed; boundary=b')}--b\r\nContent-Type: text/plain\r\n\r\nthe words\r\n--b\r\nContent-Ty`,
    text: /the words/,
  },
  {
    says: 'broken base64',
    raw: () =>
      `${head('Subject: x', 'Content-Type: text/plain', 'Content-Transfer-Encoding: base64')}aGVsbG8=!!!!\r\n%%%\r\n`,
    text: /hello/,
  },
  { says: 'no header at all', raw: () => 'just words\r\n', text: /^just words$/ },
  { says: 'nothing at all', raw: () => '\r\n' },
  {
    says: 'an unpaired surrogate in an encoded word',
    raw: () => `${head('Subject: =?utf-8?b?7aCA?= x')}hello\r\n`,
    text: /hello/,
  },
  {
    says: '10,000 headers, 1 MB of them, before the one that matters',
    raw: () =>
      `${head(...Array.from({ length: 10_000 }, (_, n) => `X-${n}: ${'y'.repeat(100)}`), 'Subject: many')}hello\r\n`,
    subject: 'many',
    text: /^hello$/,
  },
  {
    says: 'a line of 1 MB',
    raw: () => `${head('Subject: long')}${'x'.repeat(1_000_000)}\r\n`,
    subject: 'long',
    text: /^x{1000000}\s*$/,
  },
  {
    says: 'HTML 10,000 levels deep',
    raw: () =>
      `${head('Subject: x', 'Content-Type: text/html')}${'<div>'.repeat(10_000)}hello${'</div>'.repeat(10_000)}\r\n`,
    text: /^hello$/,
  },
  {
    says: 'an attachment whose name is a path out of its folder',
    raw: () =>
      `${head('Subject: x', 'Content-Type: text/plain; name="../../etc/passwd"', 'Content-Disposition: attachment')}hello\r\n`,
  },
]

test.each(hostile)(
  'a mail with $says is stored, readable, and raises its event',
  async ({ raw, subject, text }) => {
    const bytes = Buffer.from(raw())
    const message = await receiveRaw(bytes)
    expect(message.status).toBe('received')
    if (subject !== undefined) expect(message.subject).toBe(subject)
    if (text !== undefined) expect(message.text).toMatch(text)
    expect(JSON.stringify(message)).not.toContain('\\u0000')
    const stored = await fetch(`${service.http}/agents/${agent.id}/messages/${message.id}/raw`, {
      headers: { Authorization: `Bearer ${agent.token}` },
    })
    // SMTP ends every message with a line break; the bytes before it are as they were sent.
    expect(
      Buffer.from(await stored.arrayBuffer())
        .subarray(0, bytes.length)
        .equals(bytes),
    ).toBe(true)
    const events = (await agent.api('GET', `/agents/${agent.id}/events?limit=100`)).body.items
    expect(events.at(-1).messageId).toBe(message.id)
  },
)

test('all hostile mails arrived in order and once, and the list of them can be read', async () => {
  const events = (await agent.api('GET', `/agents/${agent.id}/events?limit=100`)).body.items
  expect(events.map(({ id }: { id: number }) => id)).toEqual(hostile.map((_, index) => index + 1))
  expect(await newest(agent, 100)).toHaveLength(hostile.length)
})

test('a mail over 25 MiB gets 552, and one just under it is stored', async () => {
  const bytes = (size: number) =>
    Buffer.from(
      head('Subject: Big')
        .padEnd(size - 2, `${'line '.repeat(14)}\r\n`)
        .concat('\r\n'),
    )
  const send = (size: number) =>
    post(service, { raw: bytes(size), envelope: { from: FROM, to: agent.address } })
  await expect(send(25 * 1024 * 1024 + 1_000)).rejects.toMatchObject({ responseCode: 552 })
  expect((await send(24 * 1024 * 1024)).response).toMatch(/^250/)
  expect((await newest(agent))[0]).toMatchObject({ subject: 'Big', status: 'received' })
  const events = (await agent.api('GET', `/agents/${agent.id}/events?limit=100`)).body.items
  expect(events).toHaveLength(hostile.length + 1)
})
