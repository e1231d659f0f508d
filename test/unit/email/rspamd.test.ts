import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRspamd, type SpamCheck } from '../../../src/channel/email/receive/rspamd.ts'
import type { Counted } from '../../../src/core/metrics.ts'
import { createTestLog, type TestLog } from '../../support/log.ts'
import { type Rspamd, startRspamd } from '../../support/rspamd.ts'

let rspamd: Rspamd
beforeAll(async () => {
  rspamd = await startRspamd()
})
afterAll(() => rspamd.stop())

let log: TestLog
let counted: string[]
let check: SpamCheck
beforeEach(() => {
  log = createTestLog()
  counted = []
  check = createRspamd({ url: rspamd.url, mailDomain: 'agents.localhost', log, metrics })
  rspamd.asked.length = 0
})

const metrics = { count: (what: Counted, outcome: string) => void counted.push(`${what} ${outcome}`) }
const impatient = () =>
  createRspamd({ url: rspamd.url, mailDomain: 'agents.localhost', log, metrics, timeoutMs: 500 })

const RAW = Buffer.from('From: ann@example.com\r\n\r\nhi \xe9\r\n', 'latin1')
const ENVELOPE = { ip: '192.0.2.1', helo: 'mail.example.com', reversePath: 'ann@example.com' }
const ask = () => check(RAW, ENVELOPE, ['bot@agents.localhost', 'other@agents.localhost'])

test('is asked with the message to the byte, and its envelope in headers', async () => {
  await ask()
  expect(rspamd.asked).toMatchObject([
    {
      method: 'POST',
      path: '/checkv2',
      headers: {
        ip: '192.0.2.1',
        helo: 'mail.example.com',
        from: 'ann@example.com',
        'mta-name': 'agents.localhost',
      },
    },
  ])
  expect(rspamd.asked[0]!.recipients).toEqual(['bot@agents.localhost', 'other@agents.localhost'])
  expect(rspamd.asked[0]!.body).toEqual(RAW)
})

test('an envelope of any characters becomes one header each', async () => {
  await check(RAW, { ip: '', helo: 'a\r\nIP: 127.0.0.1', reversePath: 'jürgen@example.com' }, [
    'π@agents.localhost',
  ])
  const { headers, recipients } = rspamd.asked[0]!
  expect(headers.ip).toBeUndefined()
  expect(headers.helo).toBe('a IP: 127.0.0.1')
  expect([headers.from!, ...recipients].map((value) => Buffer.from(value, 'latin1').toString())).toEqual([
    'jürgen@example.com',
    'π@agents.localhost',
  ])
})

test.each([
  ['reject', 21.5, 'spam'],
  ['add header', 8, 'spam'],
  ['rewrite subject', 9, 'spam'],
  ['soft reject', 3, 'ham'],
  ['greylist', 5, 'ham'],
  ['no action', -2.1, 'ham'],
])('%s: %s is %s', async (action, score, outcome) => {
  rspamd.answer({ action, score })
  const detail = `Rspamd: ${action}, score ${score.toFixed(1)} of 15.0`
  expect(await ask()).toEqual({
    spam: outcome === 'spam' ? `Rspamd would ${action} it (score ${score.toFixed(1)} of 15.0)` : null,
    check: { name: 'spam', verdict: outcome === 'spam' ? 'fail' : 'pass', detail },
  })
  expect(counted).toEqual([`spamChecks ${outcome}`])
})

describe('without a word of its the message goes through, and that is told', () => {
  beforeEach(() => {
    check = impatient()
  })

  test.each<[string, Parameters<Rspamd['answer']>[0]]>([
    ['silence', () => undefined],
    ['a hang-up', (response) => response.destroy()],
    ['an answer that never ends', (response) => void response.writeHead(200).write('{')],
    ['503', (response) => response.writeHead(503).end('{}')],
    ['a redirect', (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
    ['no JSON', (response) => response.end('<html>')],
    ['null', (response) => response.end('null')],
    ['no action', (response) => response.end('{"score":1}')],
    ['an action that nobody knows', { action: 'explode', score: 1 }],
    ['an action of every object', { action: 'constructor', score: 1 }],
    ['a score in words', (response) => response.end('{"action":"reject","score":"99"}')],
    ['2 MB', (response) => response.end(`{"action":"reject","score":99,"x":"${'x'.repeat(2_000_000)}"}`)],
  ])('%s', async (_, how) => {
    rspamd.answer(how)
    expect(await ask()).toEqual({
      spam: null,
      check: { name: 'spam', verdict: 'temperror', detail: 'Rspamd could not be queried' },
    })
    expect(counted).toEqual(['spamChecks failed'])
    expect(log.text()).toMatch(/could not query Rspamd/)
    expect(log.text()).not.toContain('ann@example.com')
  })

  test('nobody there', async () => {
    check = createRspamd({ url: 'http://127.0.0.1:9', mailDomain: 'agents.localhost', log })
    expect((await ask()).check.verdict).toBe('temperror')
  })
})
