import { afterEach, expect, test } from 'vitest'
import { createMailReader } from '../../../src/mail/reading/create-reader.ts'
import type { MailReader } from '../../../src/mail/reading/mail-reader.ts'
import { createTestLog } from '../../support/log.ts'

// When each line or character became a separate object, a long message exceeded the heap of a thread. V8 then
// ends the thread at best; at worst, it aborts the whole process while growing an array.

// Has the same ratio to a heap of 128 MiB as the maximum message, 24 MiB, has to the actual 384 MiB.
const BYTES = 8 * 1024 * 1024
const filled = (text: string) => text.repeat(Math.floor(BYTES / text.length))
const plain = (fields: string, body: string) =>
  Buffer.from(`From: eve@example.com\r\n${fields}\r\n\r\n${body}\r\n`, 'latin1')

let reader: MailReader
afterEach(() => reader.close())

test.each<[string, () => Buffer]>([
  ['line feeds', () => plain('Content-Type: text/plain', filled('\n'))],
  ['lines of one character', () => plain('Content-Type: application/octet-stream', filled('a\n'))],
  [
    'carriage returns within lines',
    () => plain('Content-Type: text/plain', filled(`${'\rx'.repeat(400)}\n`)),
  ],
  ['base64 with padding after every byte', () => plain('Content-Transfer-Encoding: base64', filled('QQ=='))],
  ['flowed lines of one letter', () => plain('Content-Type: text/plain; format=flowed', filled('a \r\n'))],
])('8 MiB of %s are read within a third of the memory that a message may use', async (_, createRaw) => {
  const log = createTestLog()
  const noSuchName = async () =>
    Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
  // On a slow machine, the time limit must not end the thread before the memory limit does.
  const limits = { budgetMs: 200_000, heapMiB: 128 }
  reader = createMailReader({
    mailDomain: 'agents.example',
    mta: 'mx.agents.example',
    resolver: noSuchName,
    log,
    limits,
  })
  const mail = await reader.read({ raw: createRaw(), envelope: null, source: '192.0.2.1' })
  expect(log.text()).toBe('')
  expect(mail.damage).toBeNull()
})
