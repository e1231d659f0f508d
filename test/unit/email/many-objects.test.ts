import { afterEach, expect, test } from 'vitest'
import { createMailReader, type MailReader } from '../../../src/channel/email/reading/reader.ts'
import { createTestLog } from '../../support/log.ts'

// Where each line or character became an object of its own, a long message was more than the heap of a
// thread. V8 then ends the thread at best; at worst, in the midst of growing an array, it aborts the whole
// process.

// As many bytes for a heap of 128 MiB as 24 MiB, the longest message, are for the 384 MiB of one.
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
  [
    'base64 in which every four digits end a unit',
    () => plain('Content-Transfer-Encoding: base64', filled('QQ==')),
  ],
  ['flowed lines of one letter', () => plain('Content-Type: text/plain; format=flowed', filled('a \r\n'))],
])(
  '8 MiB of %s are read within a third of the memory that a message may take',
  { timeout: 240_000 },
  async (_, made) => {
    const log = createTestLog()
    const nothing = async () =>
      Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    // Time is not what this is about: on a slow machine the budget would end the thread before its memory does.
    const limits = { budgetMs: 200_000, heapMiB: 128 }
    reader = createMailReader({
      mailDomain: 'agents.example',
      mta: 'mx.agents.example',
      resolver: nothing,
      log,
      limits,
    })
    const mail = await reader.read({ raw: made(), envelope: null, source: '192.0.2.1' })
    expect(log.text()).toBe('')
    expect(mail.damage).toBeNull()
  },
)
