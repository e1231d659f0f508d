import { gunzipSync } from 'node:zlib'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEmailChannel } from '../../src/channel/email/email-channel.ts'
import { SystemMailer } from '../../src/channel/system-mailer.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { TlsResult } from '../../src/mail/send/tls/result.ts'
import { TlsResults } from '../../src/tls-report/results.ts'
import { reportAddresses } from '../../src/tls-report/rua.ts'
import { sendTlsReports } from '../../src/tls-report/send.ts'
import { createFakeClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { temporaryDir } from '../support/postgres.ts'
import { type Relay, startRelay } from '../support/relay.ts'

const db = await openTestDatabase()
const clock = createFakeClock(new Date('2026-11-20T10:00:00Z'))
const zone: Zone = { '_smtp._tls.a.com': { TXT: ['v=TLSRPTv1; rua=mailto:tls@a.com'] } }
const resolver = fakeResolver(zone)
const mailDomain = 'agents.example.net'
const signal = new AbortController().signal
let relay: Relay
let deps: Parameters<typeof sendTlsReports>[0]
beforeAll(async () => {
  relay = await startRelay()
  const email = createEmailChannel({
    ...{ mailDomain, relayUrl: relay.url, outboxDir: temporaryDir(), dataDir: temporaryDir() },
    ...{ smtp: { host: '127.0.0.1', port: 0, tls: null }, resolver, clock, log: silentLogger },
  })
  const mailer = new SystemMailer({ email, mailDomain, clock, log: silentLogger })
  deps = { ...db, resolver, clock, mailDomain, mailer, log: silentLogger }
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  await db.prisma.tlsResult.deleteMany()
})

const STS = {
  type: 'sts',
  lines: ['version: STSv1', 'mode: enforce', 'mx: mx.a.com'],
  mx: ['mx.a.com'],
} as const
const NONE = { type: 'no-policy-found', lines: [], mx: [] } as const
const server = { host: 'mx.a.com', address: '192.0.2.1' }
const result = (more: Partial<TlsResult> = {}): TlsResult => ({
  ...{ domain: 'a.com', policy: STS, server, failure: null },
  ...more,
})
/** Counts results in two processes. */
const count = async (results: readonly TlsResult[]) => {
  const processes = [new TlsResults(deps), new TlsResults(deps)]
  for (const [index, one] of results.entries()) processes[index % 2]!.add(one)
  for (const each of processes) await each.flush()
}

test('a day’s results of all processes are mailed once, as RFC 8460 describes', async () => {
  const failure = { type: 'certificate-expired', reason: 'CERT_HAS_EXPIRED' } as const
  await count([result(), result(), result(), result({ failure }), result({ policy: NONE })])
  expect(await sendTlsReports(deps, signal)).toBe(0)
  // The results of a day are complete an hour after its end.
  clock.advance(14 * 3_600_000)
  expect(await sendTlsReports(deps, signal)).toBe(0)
  clock.advance(3_600_000)
  const sent = await Promise.all([sendTlsReports(deps, signal), sendTlsReports(deps, signal)])
  expect(sent[0]! + sent[1]!).toBe(1)
  expect(relay.mails).toHaveLength(1)
  const { raw, to, from } = relay.mails[0]!
  expect({ to, from }).toEqual({ to: ['tls@a.com'], from: `no-reply@${mailDomain}` })
  const header = raw
    .toString('latin1')
    .split('\r\n\r\n')[0]!
    .replace(/\r\n[ \t]+/g, ' ')
  expect(header).toMatch(/^Content-Type: multipart\/report; report-type=tlsrpt; boundary=/m)
  expect(header).toMatch(/^TLS-Report-Domain: a\.com$/im)
  expect(header).toMatch(/^TLS-Report-Submitter: agents\.example\.net$/im)
  const mail = await PostalMime.parse(raw)
  expect(mail.subject).toBe(
    'Report Domain: a.com Submitter: agents.example.net Report-ID: <2026-11-20.a.com@agents.example.net>',
  )
  const [file] = mail.attachments
  expect(file).toMatchObject({
    filename: 'agents.example.net!a.com!1795132800!1795219199.json.gz',
    mimeType: 'application/tlsrpt+gzip',
  })
  const report = JSON.parse(gunzipSync(Buffer.from(file!.content as ArrayBuffer)).toString())
  expect(report).toEqual({
    'organization-name': mailDomain,
    'date-range': { 'start-datetime': '2026-11-20T00:00:00Z', 'end-datetime': '2026-11-20T23:59:59Z' },
    'contact-info': `postmaster@${mailDomain}`,
    'report-id': `2026-11-20.a.com@${mailDomain}`,
    policies: expect.arrayContaining([
      {
        policy: {
          ...{ 'policy-type': 'sts', 'policy-domain': 'a.com' },
          ...{ 'policy-string': [...STS.lines], 'mx-host': ['mx.a.com'] },
        },
        summary: { 'total-successful-session-count': 3, 'total-failure-session-count': 1 },
        'failure-details': [
          {
            ...{ 'result-type': 'certificate-expired', 'failure-reason-code': 'CERT_HAS_EXPIRED' },
            ...{
              'receiving-mx-hostname': 'mx.a.com',
              'receiving-ip': '192.0.2.1',
              'failed-session-count': 1,
            },
          },
        ],
      },
      {
        policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'a.com' },
        summary: { 'total-successful-session-count': 1, 'total-failure-session-count': 0 },
      },
    ]),
  })
  expect(await db.prisma.tlsResult.count()).toBe(0)
})

test('a report that is refused for now is sent an hour later', async () => {
  await count([result()])
  clock.advance(26 * 3_600_000)
  relay.refuse('tls@a.com', '451 4.7.1 later')
  expect(await sendTlsReports(deps, signal)).toBe(0)
  relay.refuse('tls@a.com', null)
  expect(await sendTlsReports(deps, signal)).toBe(0)
  clock.advance(3_600_001)
  expect(await sendTlsReports(deps, signal)).toBe(1)
  expect(relay.mails).toHaveLength(1)
})

test('nothing is stored for domains that ask for no reports', async () => {
  zone['_smtp._tls.b.com'] = { TXT: ['v=TLSRPTv1; rua=https://b.com/report'] }
  await count([result({ domain: 'b.com' }), result({ domain: 'c.com' }), result()])
  expect((await db.prisma.tlsResult.findMany()).map(({ domain }) => domain)).toEqual(['a.com'])
})

test.each<[string, string[], string[]]>([
  ['one address', ['v=TLSRPTv1; rua=mailto:a@x.com'], ['a@x.com']],
  ['several', ['v=TLSRPTv1;rua=mailto:a@x.com,https://x.com/r,mailto:b@x.com'], ['a@x.com', 'b@x.com']],
  ['another version', ['v=TLSRPTv2; rua=mailto:a@x.com'], []],
  ['two records', ['v=TLSRPTv1; rua=mailto:a@x.com', 'v=TLSRPTv1; rua=mailto:b@x.com'], []],
  ['header fields of a mail', ['v=TLSRPTv1; rua=mailto:a@x.com?cc=b@y.com'], []],
])('a record with %s names the addresses', async (_, TXT, expected) => {
  expect(await reportAddresses(fakeResolver({ '_smtp._tls.x.com': { TXT } }), 'x.com')).toEqual(expected)
})
