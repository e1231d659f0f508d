import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Counted } from '../../../src/core/metrics.ts'
import { createRspamd, type SpamCheck } from '../../../src/mail/receive/rspamd.ts'
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

const metrics = {
  count: (what: Counted, outcome: string) => void counted.push(`${what} ${outcome}`),
  observe: () => undefined,
}
const impatient = () =>
  createRspamd({ url: rspamd.url, mailDomain: 'agents.localhost', log, metrics, timeoutMs: 500 })

const RAW = Buffer.from('From: ann@example.com\r\n\r\nhi \xe9\r\n', 'latin1')
const ENVELOPE = { ip: '192.0.2.1', helo: 'mail.example.com', reversePath: 'ann@example.com' }
const ask = () => check(RAW, ENVELOPE, ['bot@agents.localhost', 'other@agents.localhost'])

test('Rspamd receives the exact bytes of the message, and its envelope in headers', async () => {
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

test('special characters in the envelope cannot break or add headers', async () => {
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
])('the action “%s” with score %s counts as %s', async (action, score, outcome) => {
  rspamd.answer({ action, score })
  const detail = `Rspamd: ${action}, score ${score.toFixed(1)} of 15.0`
  expect(await ask()).toEqual({
    spam: outcome === 'spam' ? `Rspamd would ${action} it (score ${score.toFixed(1)} of 15.0)` : null,
    check: { name: 'spam', verdict: outcome === 'spam' ? 'fail' : 'pass', detail },
  })
  expect(counted).toEqual([`spamChecks ${outcome}`])
})

describe('the message passes, and the failure is logged,', () => {
  beforeEach(() => {
    check = impatient()
  })

  test.each<[string, Parameters<Rspamd['answer']>[0]]>([
    ['nothing', () => undefined],
    ['a closed connection', (response) => response.destroy()],
    ['an endless response', (response) => void response.writeHead(200).write('{')],
    ['503', (response) => response.writeHead(503).end('{}')],
    ['a redirect', (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end()],
    ['invalid JSON', (response) => response.end('<html>')],
    ['null', (response) => response.end('null')],
    ['a report without an action', (response) => response.end('{"score":1}')],
    ['an unknown action', { action: 'explode', score: 1 }],
    ['an action named like an object property', { action: 'constructor', score: 1 }],
    ['a score that is not a number', (response) => response.end('{"action":"reject","score":"99"}')],
    ['2 MB', (response) => response.end(`{"action":"reject","score":99,"x":"${'x'.repeat(2_000_000)}"}`)],
  ])('when Rspamd answers with %s', async (_, how) => {
    rspamd.answer(how)
    expect(await ask()).toEqual({
      spam: null,
      check: { name: 'spam', verdict: 'temperror', detail: 'Rspamd could not be queried' },
    })
    expect(counted).toEqual(['spamChecks failed'])
    expect(log.text()).toMatch(/could not query Rspamd/)
    expect(log.text()).not.toContain('ann@example.com')
  })

  test('when Rspamd is unreachable', async () => {
    check = createRspamd({ url: 'http://127.0.0.1:9', mailDomain: 'agents.localhost', log })
    expect((await ask()).check.verdict).toBe('temperror')
  })
})
