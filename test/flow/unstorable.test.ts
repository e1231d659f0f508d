import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { newest } from '../support/letter.ts'
import { sendRaw } from '../support/raw-smtp.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

/** Mail with values that PostgreSQL cannot store or index. It never delays or damages other mail. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  // Any value that PostgreSQL rejects: storing a message with this subject divides by zero.
  await service.db.pool.query(
    `create index unstorable_idx on message ((1 / case when subject like 'Unstorable%' then 0 else 1 end))`,
  )
})

const mailOf = (subject: string, more = '') =>
  Buffer.from(
    `From: ann@example.com\r\nTo: ${agent.address}\r\nDate: Tue, 2 Jan 2024 15:04:05 +0100\r\nSubject: ${subject}\r\n${more}\r\nhello\r\n`,
  )
const deliver = (raw: Buffer) =>
  sendRaw(`${service.smtp.host}:${service.smtp.port}`, 'ann@example.com', agent.address, raw)
const imported = (type: string, body: string) =>
  owner.api('POST', `/agents/${agent.id}/imports`, body, { 'Content-Type': type })

/** Does not become shorter when PostgreSQL compresses it. */
const chinese = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + (randomBytes(2).readUInt16BE() % 20_000))).join(
    '',
  )

test.each(['Message-ID', 'In-Reply-To', 'References'])(
  'a mail whose %s has 990 Chinese characters is accepted, and imported',
  async (name) => {
    const raw = mailOf(`Long ${name}`, `${name}: <${chinese(990)}>\r\n`)
    expect(await deliver(raw)).toMatch(/^250 /)
    expect(await newest(agent)).toMatchObject([{ subject: `Long ${name}`, text: 'hello' }])
    const other = mailOf(`Long ${name}`, `${name}: <${chinese(990)}>\r\n`)
    expect((await imported('message/rfc822', other.toString())).body).toMatchObject({
      imported: 1,
      skippedCount: 0,
    })
  },
)

test('of mails that are stored together, only the one that cannot be stored is refused, for ever', async () => {
  const subjects = Array.from({ length: 12 }, (_, n) => (n === 5 ? 'Unstorable mail' : `Mail ${n}`))
  const replies = await Promise.all(subjects.map((subject) => deliver(mailOf(subject))))
  expect(replies.map((reply) => reply.slice(0, 3))).toEqual(subjects.map((_, n) => (n === 5 ? '554' : '250')))
  const mbox = ['Before', 'Unstorable one', 'After'].map(
    (subject) => `From x Tue Jan  2 15:04:05 2024\r\n${mailOf(subject)}`,
  )
  expect((await imported('application/mbox', mbox.join('\r\n'))).body).toEqual({
    imported: 2,
    duplicates: 0,
    skippedCount: 1,
    skipped: [{ name: expect.stringContaining('2'), reason: 'contains something that cannot be stored' }],
  })
})
