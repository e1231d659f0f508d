import { describe, expect, test } from 'vitest'
import { readReport } from '../../../src/mail/bounce/read-report.ts'
import { automaticMark } from '../../../src/mail/header/loop.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { verify } from '../../../src/mail/verify/verify.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { fakeResolver, type Zone } from '../../support/dns.ts'
import { plainRtf, tnef } from '../../support/tnef.ts'

const KB = 1024
const SENDER = 'From: a@x.example\r\nTo: b@x.example\r\n'
const zone: Zone = { 'x.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } }

const filled = (text: string, length: number) => text.repeat(Math.ceil(length / text.length))
const headed = (field: string) => `${field}\r\n${SENDER}\r\nhi`
const typed = (type: string, body: string) => `${SENDER}Content-Type: ${type}\r\n\r\n${body}`
const parts = (count: number, type: string, body: string) =>
  typed(
    'multipart/mixed; boundary=b',
    `${filled(`--b\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`, count)}--b--\r\n`,
  )
const packed = (content: Parameters<typeof tnef>[0]) =>
  typed(
    'application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64',
    `${tnef(content).toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`,
  )
const bounce = (body: string) => typed('text/plain', body).replace('a@x.example', 'mailer-daemon@x.example')

const zoned = [
  'BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:X\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200',
  'RRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nDTSTART;TZID=X:20261123T150000\r\nSUMMARY:x\r\nEND:VEVENT',
  'END:VCALENDAR',
].join('\r\n')
const calendars = typed(
  'multipart/mixed; boundary=b',
  `${Array.from({ length: 200 }, (_, i) => `--b\r\nContent-Type: text/calendar\r\n\r\n${zoned.replace('SUMMARY:x', `SUMMARY:${i}`)}\r\n`).join('')}--b--\r\n`,
)
const nested = Array.from(
  { length: 1_400 },
  (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
).join('')
const signature = (tags: string) =>
  headed(`DKIM-Signature: v=1; a=rsa-sha256; d=x.example; s=s; h=from; bh=AA; b=AA; ${tags}`)

// Each of these once took seconds to hours, or would have at twice the length; ordinary mail of this size
// takes 5 to 50 ms.
const BOUND_MS = 8_000

async function read(mail: string): Promise<void> {
  const raw = Buffer.from(mail, 'latin1')
  const parsed = await parseMail(raw)
  await verify(
    raw,
    parsed.from.address,
    { ip: '192.0.2.1', helo: 'x.example', reversePath: 'a@x.example' },
    { mta: 'here', resolver: fakeResolver(zone) },
  )
  readReport(parsed)
  automaticMark(parsed.headers, 'a@x.example', 'agents.localhost')
}

describe('mail crafted to be slow is read in bounded time', () => {
  test.each<[string, () => string]>([
    ['carriage returns before the end of a header line', () => headed(`X: a${filled('\r', 300 * KB)}b`)],
    ['a header of carriage returns', () => filled('\r', 300 * KB) + headed('X: y')],
    ['a body of carriage returns', () => typed('text/plain', `${filled('\r', 1_000 * KB)}x`)],
    ['8 MB of empty fields', () => filled('a:\r\n', 8_000 * KB) + headed('X: y')],
    ['4 MB without a header', () => filled('hello\r\n', 4_000 * KB)],
    ['a signature of semicolons', () => headed(`DKIM-Signature: ${filled(';', 120 * KB)}`)],
    ['a signature of colons', () => signature(`z=${filled(':', 120 * KB)}`)],
    [
      'ten signatures of white space',
      () => filled(`DKIM-Signature: v=1;${filled(' ', 8_000)}b=\r\n`, 80 * KB) + headed('X: y'),
    ],
    [
      'authentication results of dots',
      () => headed(`ARC-Authentication-Results: i=1; ${filled('a.', 120 * KB)}`),
    ],
    ['a seal of semicolons', () => headed(`ARC-Seal: i=1; ${filled(';', 120 * KB)}`)],
    ['a From of words and hyphens', () => `From: ${filled('a-', 120 * KB)}\r\n\r\nhi`],
    ['a From of at-signs', () => `From: ${filled('<a@', 120 * KB)}\r\n\r\nhi`],
    ['a Return-Path of words and hyphens', () => headed(`Return-Path: ${filled('a-', 120 * KB)}`)],
    ['nested address groups', () => headed(`Cc: ${filled('a:', 1_000 * KB)}`)],
    ['a million recipients', () => headed(`Cc: ${filled('a,', 2_000 * KB)}`)],
    ['a Received field of word pairs', () => headed(`Received: ${filled('a b ', 120 * KB)}`)],
    ['encoded words without an end', () => headed(`Subject: ${filled('=?utf-8?q?a', 500 * KB)}`)],
    ['an X-Loop field of partial matches', () => headed(`X-Loop: ${filled('@agents.localhos', 500 * KB)}`)],
    ['comments in Auto-Submitted', () => headed(`Auto-Submitted: ${filled('() ', 120 * KB)}x`)],
    ['200 calendars that recur every second', () => calendars],
    ['nested boundaries', () => SENDER + nested + filled('--x\r\n', 1_000 * KB)],
    ['300,000 parts', () => parts(300_000, 'text/plain', '')],
    [
      'lines that resemble an undeclared boundary',
      () => typed('multipart/mixed', filled(`--a${filled(' ', 500)}b\r\n`, 300 * KB)),
    ],
    ['NULs in the text of a winmail.dat', () => packed({ text: `${filled('\0', 300 * KB)}x` })],
    [
      'NULs in a name in a winmail.dat',
      () => packed({ text: 'x', files: [{ name: `${filled('\0', 300 * KB)}x`, content: Buffer.from('a') }] }),
    ],
    ['RTF of braces', () => packed({ rtf: plainRtf(`{\\rtf1\\ansi\\fromtext ${filled('{', 400 * KB)}}`) })],
    [
      'style comments without an end',
      () => typed('text/html', filled(`<p style="${filled('/*', 4_000)}">x`, 500 * KB)),
    ],
    [
      'transforms without an end',
      () => typed('text/html', filled(`<p style="transform:${filled('translate(-', 3_900)}">x`, 500 * KB)),
    ],
    ['HTML 400,000 levels deep', () => typed('text/html', filled('<div>', 2_000 * KB))],
    [
      'many CSS rules for one class',
      () =>
        typed(
          'text/html',
          `<style>${filled('.a{color:red}', 100 * KB)}</style>${filled('<p class=a>x', 500 * KB)}`,
        ),
    ],
    [
      'relational selectors in 16 KB of HTML',
      () =>
        typed(
          'text/html',
          `<style>${filled(':has(b){display:none}', 8 * KB)}</style>${filled('<u>x', 8 * KB)}`,
        ),
    ],
    ['reply attributions', () => typed('text/plain', filled('Op schreef\n', 220 * KB))],
    ['a reply attribution of at-signs', () => typed('text/plain', `<${filled('@', 200 * KB)}\n> x`)],
    [
      'a line of dashes above a quoted header',
      () => typed('text/plain', `${filled('-', 200 * KB)}\u0085\nFrom: a\nSent: b\nSubject: c`),
    ],
    ['ever deeper quotes', () => typed('text/plain; format=flowed', filled('>', 2_000 * KB))],
    [
      'enriched-text commands without an end',
      () => typed('text/enriched', filled('<a', 2_000 * KB) + filled('\n', 1_000 * KB)),
    ],
    ['a bounce that repeats “user”', () => bounce(filled('user ', 200 * KB))],
    ['a bounce of separator lines', () => bounce(filled('\n--', 1_000 * KB))],
    ['a report of empty groups', () => parts(1, 'message/delivery-status', filled('\r\n\r\n', 1_000 * KB))],
  ])('with %s', async (_, mail) => {
    const started = cpuTime()
    await read(mail())
    expect(cpuTime() - started).toBeLessThan(BOUND_MS)
  })
})

test('all calendars of a mail share one time limit, and the text beside them is read', async () => {
  const text = `--b\r\nContent-Type: text/plain\r\n\r\nCome, please.\r\n`
  const started = cpuTime()
  const mail = await parseMail(Buffer.from(calendars.replace('\r\n\r\n--b\r\n', `\r\n\r\n${text}--b\r\n`)))
  expect(cpuTime() - started).toBeLessThan(5_000)
  expect(mail).toMatchObject({ text: expect.stringMatching(/^Come, please\./), damage: null })
  expect(mail.attachments).toHaveLength(200)
})

test('an SPF record crafted to be slow proves nothing and is evaluated in bounded time', async () => {
  const long = `v=spf1 redirect=x.${filled('a', 60 * KB)}!`
  const macros = `v=spf1 redirect=x.${filled('%{l}', 3_500)}!`
  const raw = Buffer.from(`${SENDER}\r\nhi`)
  for (const record of [long, macros]) {
    const started = cpuTime()
    const envelope = { ip: '192.0.2.1', helo: 'x.example', reversePath: `${filled('a', 64)}@slow.example` }
    const resolver = fakeResolver({ ...zone, 'slow.example': { TXT: [record] } })
    const { proven, checks } = await verify(raw, 'a@x.example', envelope, { mta: 'here', resolver })
    expect(cpuTime() - started).toBeLessThan(2_000)
    expect({ proven, checks }).toMatchObject({
      proven: false,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'spf' })]),
    })
  }
  const known = await verify(
    raw,
    'a@x.example',
    { ip: '192.0.2.1', helo: '', reversePath: 'a@x.example' },
    { mta: 'here', resolver: fakeResolver(zone) },
  )
  expect(known.proven).toBe(true)
})
