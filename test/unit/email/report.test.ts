import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readReport } from '../../../src/mail/bounce/read-report.ts'
import { statusIn } from '../../../src/mail/bounce/status.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { arf, dsn, unknownUser } from '../../support/report.ts'

const read = async (raw: string | Buffer) => readReport(await parseMail(Buffer.from(raw)))
const letter = (headers: string, text: string) => `${headers}\r\n\r\n${text.replace(/\n/g, '\r\n')}`

describe('a delivery status notification (RFC 3464)', () => {
  test('names the failed recipients with the response of the remote server', async () => {
    expect(await read(dsn({ recipients: [unknownUser('Bo@Example.com')] }))).toEqual({
      kind: 'bounce',
      detail: '550 5.1.1 No such user here',
      recipients: [{ address: 'bo@example.com', detail: '550 5.1.1 No such user here', permanent: true }],
    })
  })

  test('names only failed recipients, not delayed or delivered ones', async () => {
    const group = (address: string, action: string) => ({ ...unknownUser(address), Action: action })
    const raw = dsn({
      recipients: [
        group('a@x.com', 'delayed'),
        group('b@x.com', 'failed'),
        group('c@x.com', 'delivered'),
        group('d@x.com', 'expanded'),
      ],
    })
    expect((await read(raw))!.recipients.map(({ address }) => address)).toEqual(['b@x.com'])
  })

  test.each(['delayed', 'delivered', 'relayed', 'expanded'])(
    'with the action “%s” is not a bounce',
    async (action) => {
      expect(await read(dsn({ recipients: [{ ...unknownUser('a@x.com'), Action: action }] }))).toBeNull()
    },
  )

  test('names both the original and the final address of an alias', async () => {
    const raw = dsn({
      recipients: [{ ...unknownUser('team@x.com'), 'Final-Recipient': 'rfc822;gone@y.com' }],
    })
    expect((await read(raw))!.recipients.map(({ address }) => address)).toEqual(['team@x.com', 'gone@y.com'])
  })

  test.each([
    ['5.1.1', true],
    ['5.1.10', true],
    ['5.2.1', true],
    ['5.0.0', false],
    ['5.2.2', false],
    ['5.2.3', false],
    ['5.3.4', false],
    ['5.6.0', false],
    ['5.7.1', false],
    ['4.4.7', false],
    ['nonsense', false],
  ])('with the status %s is permanent: %s', async (status, permanent) => {
    const fields = { 'Final-Recipient': 'rfc822; a@x.com', Action: 'failed', Status: status }
    expect((await read(dsn({ recipients: [fields] })))!.recipients).toMatchObject([{ permanent }])
  })

  test('without an action is judged by its status, with folded and unusual fields', async () => {
    const fields = { 'FINAL-RECIPIENT': 'RFC822;\n  <a@x.com>', Status: '5.1.1 (bad\n\taddress)' }
    expect(await read(dsn({ recipients: [fields] }))).toMatchObject({
      recipients: [{ address: 'a@x.com', permanent: true }],
    })
    expect(await read(dsn({ recipients: [{ ...fields, Status: '4.2.0' }] }))).toBeNull()
  })
})

describe('mail in no standard report format', () => {
  const cases: [string, string, string, object | null][] = [
    [
      'a bounce from qmail',
      'From: MAILER-DAEMON@q.example\r\nSubject: failure notice',
      `Hi. This is the qmail-send program at q.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<bo@example.com>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.1.1 <bo@example.com>: Recipient address rejected: User unknown
Giving up on 192.0.2.1.

--- Below this line is a copy of the message.

To: cy@example.com
`,
      {
        recipients: [
          {
            address: 'bo@example.com',
            detail: expect.stringContaining('550 5.1.1 <bo@example.com>: Recipient'),
            permanent: true,
          },
        ],
      },
    ],
    [
      'a bounce from Exim',
      'From: Mail Delivery System <Mailer-Daemon@e.example>\r\nSubject: Mail delivery failed: returning message to sender\r\nX-Failed-Recipients: bo@example.com,\r\n cy@example.com',
      'A message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  bo@example.com\n    Unrouteable address\n',
      { recipients: [{ address: 'bo@example.com', permanent: true }, { address: 'cy@example.com' }] },
    ],
    [
      'a bounce from an old Exchange server',
      'From: System Administrator <postmaster@corp.example>\r\nSubject: Undeliverable: Hello',
      'Your message\n\n  To:      bo@example.com\n  Subject: Hello\n\ndid not reach the following recipient(s):\n\nbo@example.com on Fri, 20 Nov 2026\n    The recipient name is not recognized\n    #5.1.1\n',
      { recipients: [{ address: 'bo@example.com', permanent: true }] },
    ],
    [
      'a bounce that names no recipient',
      'From: MAILER-DAEMON@m.example\r\nSubject: Returned mail',
      'Delivery failed: 552 mailbox over quota\n',
      { recipients: [] },
    ],
    [
      'a warning from sendmail',
      'From: MAILER-DAEMON@s.example\r\nSubject: Warning: could not send message for past 4 hours',
      'THIS IS A WARNING MESSAGE ONLY\nYOU DO NOT NEED TO RESEND YOUR MESSAGE\n451 4.4.1 reply: read error 550 \n',
      null,
    ],
    [
      'a warning from Exim',
      'From: Mailer-Daemon@e.example\r\nSubject: Warning: message delayed',
      'A message that you sent has not yet been delivered to one or more of its recipients.\nNo action is required on your part. Delivery attempts will continue. It could not be delivered so far (551).\n',
      null,
    ],
    [
      'an out-of-office reply',
      'From: Bo <bo@example.com>\r\nAuto-Submitted: auto-replied\r\nSubject: Out of office: Hello',
      'I am away until 5.1.2027. Call room 550 - thank you.\n',
      null,
    ],
    [
      'a mail from a person',
      'From: Bo <bo@example.com>\r\nSubject: Re: Hello',
      'The user account is not found, what do I do? 550 5.1.1\n',
      null,
    ],
  ]
  test.each(cases)('is classified correctly: %s', async (_, headers, text, expected) => {
    const report = await read(letter(headers, text))
    if (expected === null) expect(report).toBeNull()
    else expect(report).toMatchObject({ kind: 'bounce', ...expected })
  })

  test.each(['-', `${'-'.repeat(60)}\n`, 'a@', 'aaaa', 'user ', '<', 'a@b.', '550 '])(
    'is classified within half a second: 2 MB of %j',
    async (piece) => {
      const mail = {
        ...(await parseMail(Buffer.from('From: MAILER-DAEMON@x.example\r\n\r\nx'))),
        text: piece.repeat(2_000_000 / piece.length),
      }
      const started = cpuTime()
      readReport(mail)
      expect(cpuTime() - started).toBeLessThan(500)
    },
  )
})

describe('an abuse report (RFC 5965)', () => {
  test('names the recipient who complained, if known', async () => {
    const raw = arf({ 'Feedback-Type': 'abuse', 'Original-Rcpt-To': '<bo@example.com>' })
    expect(await read(raw)).toEqual({
      kind: 'complaint',
      detail: 'reported as abuse',
      recipients: [{ address: 'bo@example.com', detail: 'reported as abuse', permanent: true }],
    })
    expect(await read(arf())).toMatchObject({ kind: 'complaint', recipients: [] })
  })

  test.each(['not-spam', 'auth-failure'])('of the type “%s” is not a complaint', async (type) => {
    expect(await read(arf({ 'Feedback-Type': type }))).toBeNull()
  })
})

const corpora = join(import.meta.dirname, '../../../../shared/corpora/mail-gem')
describe.skipIf(!existsSync(corpora))(
  `real bounces from ${corpora} (skipped if the folder is missing)`,
  () => {
    test.each([
      ['multi_address_bounce1', 5, true],
      ['multi_address_bounce2', 5, true],
      ['multipart_report_multiple_status', 1, false],
      ['report_530', 1, true],
      ['report_422', null, false],
      ['raw_email_with_mimepart_without_content_type', null, false],
    ])('%s is classified correctly', async (name, recipients, permanent) => {
      const report = await read(readFileSync(join(corpora, `${name}.eml`)))
      if (recipients === null) return expect(report).toBeNull()
      expect(report).toMatchObject({ kind: 'bounce' })
      expect(report!.recipients).toHaveLength(recipients)
      expect(report!.recipients.every((one) => one.permanent === permanent)).toBe(true)
    })
  },
)

test.each([
  ['550 5.0.0 rejected (5.1.1 no such user)', '5.1.1'],
  ['5.2.2 mailbox full, 5.1.1', '5.2.2'],
  ['554 5.0.0 rejected', '5.0.0'],
  ['refused by 192.5.1.1 with version 5.1.1.2', ''],
])('the status in %j is %j', (text, status) => {
  expect(statusIn(text)).toBe(status)
})
