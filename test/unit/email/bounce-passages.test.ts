import { describe, expect, test } from 'vitest'
import { provesNonexistent } from '../../../src/mail/bounce/nonexistent.ts'
import { readReport } from '../../../src/mail/bounce/read-report.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'

/** Bounces for several recipients, with the returned header in the text, and those that do not look like one. */

const read = async (
  text: string,
  { from = 'MAILER-DAEMON@q.example', subject = 'Returned mail', header = '' } = {},
) =>
  readReport(
    await parseMail(
      Buffer.from(
        `From: ${from}\r\nTo: bot@agents.example\r\nSubject: ${subject}\r\n${header}Content-Type: text/plain; charset=utf-8\r\n\r\n${text.replace(/\r?\n/g, '\r\n')}\r\n`,
      ),
    ),
  )
const gone = async (...given: Parameters<typeof read>) =>
  Object.fromEntries(
    (await read(...given))?.recipients.map(({ address, permanent }) => [address, permanent]) ?? [],
  )

describe('what a bounce says of one recipient is not said of another', () => {
  test('in a transcript, where the reason stands above the result', async () => {
    const transcript = `   ----- Transcript of session follows -----
While talking to mail.x.com:
>>> MAIL From:<bot@agents.example>
<<< 501 <bot@agents.example>... no access from mail server [192.0.2.5] which is an open relay.
554 <a@x.com>... Remote protocol error
550 y.com (smtp)... 550 Host unknown
554 <b@y.com>... 550 Host unknown (Authoritative answer from name server)
While talking to mail.z.com:
<<< 421 z.com is busy, try again later
421 z.com (smtp)... Deferred: Connection reset by peer
While talking to mail.v.com:
<<< 550 No such user here.
550 <c@v.com>... User unknown`
    expect(await gone(transcript)).toEqual({ 'a@x.com': false, 'b@y.com': true, 'c@v.com': true })
  })

  test('when one of them is not reported as failed', async () => {
    const header = 'X-Failed-Recipients: a@x.com\r\n'
    const text = 'a@x.com:\n  552 mailbox is over quota\n\nb@y.com:\n  550 5.1.1 User unknown'
    expect(await gone(text, { header })).toEqual({ 'a@x.com': false })
  })
})

test.each([
  ['as it is', 'Received: from x by y; Thu, 1 Jan 2026 00:00:00 +0000'],
  ['quoted', '> Received: from x by y; Thu, 1 Jan 2026 00:00:00 +0000'],
])('the header of the returned message says nothing of the recipient: %s', async (_, received) => {
  const fields = `Message-ID: <abc@agents.example>\nFrom: bot@agents.example\nSubject: Your storage is full\nContent-Type: text/plain`
  const returned = received.startsWith('>') ? fields.replace(/^/gm, '> ') : fields
  const text = `The following address failed:\n\n"a@x.com":\n5.1.1 <a@x.com>... User Unknown\n\nIncluded is what you sent:\n${received}\n\tby z\n${returned}\n\nHello`
  expect(await gone(text)).toEqual({ 'a@x.com': true })
})

describe('these are no faults of the recipient', () => {
  test.each([
    [
      "5.1.0 - Unknown address error 550-'5.7.1 <x@y.example>... Access denied' (delivery attempts: 0)",
      '5.1.1',
    ],
    ['550 5.2.0 <bot@agents.example> From: Domain is invalid. Please provide a valid From', ''],
    ['554 INVALID IP FOR SENDING MAIL OF DOMAIN agents.example', ''],
    ['553 http://www.spamhaus.org/query/bl?ip=192.0.2.222', '5.1.3'],
    ['550 This domain does not accept mail from dynamic addresses', ''],
    ['Couldn\'t create "/var/spool/mail/a" id: No such user', '5.1.1'],
  ])('%s', (words, status) => {
    expect(provesNonexistent(words, status)).toBe(false)
  })
})

describe('a bounce is seen', () => {
  test.each([
    [
      'post_master@x.com',
      'Re: Hello',
      'Error: Invalid user address a@x.com\n550 - Requested action not taken: no such user here',
      true,
    ],
    ['postmaster@x.com', 'Re: Hello', 'The mailbox of <a@x.com> is over quota.', false],
    [
      'no-reply@x.com',
      'メールエラー通知',
      '送信先のメールボックスが一杯のため、送信できませんでした。\n<a@x.com>',
      false,
    ],
    ['no-reply@x.com', 'Mail', 'Could not be delivered to: <a@x.com>\nAs their mailbox is full.', false],
    [
      'postmaster@x.com',
      'Undeliverable message',
      '------- Failure Reasons --------\nディレクトリのリストにありません\na@x.com',
      true,
    ],
    [
      'poostmaster@x.com',
      'Delivery status notification: error',
      'An error has occurred while attempting to deliver a message:\na@x.com: Envelope expired',
      false,
    ],
  ])('of %s: %s', async (from, subject, text, permanent) => {
    expect(await gone(text, { from, subject })).toEqual({ 'a@x.com': permanent })
  })

  const bounce = (bounceSubType: string, diagnosticCode: string, bounceType = 'Permanent') =>
    JSON.stringify({
      notificationType: 'Bounce',
      bounce: { bounceType, bounceSubType, bouncedRecipients: [{ emailAddress: 'a@x.com', diagnosticCode }] },
    })
  const sns = { from: 'AWS Notifications <no-reply@sns.amazonaws.com>', subject: 'AWS Notification Message' }
  test.each([
    [bounce('General', 'smtp; 550 5.1.1 user unknown'), true],
    [bounce('NoEmail', ''), true],
    [bounce('General', 'smtp; 550 5.7.1 rejected as spam'), false],
    [bounce('MailboxFull', 'smtp; 552 full', 'Transient'), false],
    [JSON.stringify({ Type: 'Notification', Message: bounce('General', 'smtp; 550 user unknown') }), true],
    [bounce('General', 'smtp; 550 5.1.1 user unknown').replace('Type', 'Ty!\r\n pe'), true],
  ])('of SES: %s', async (json, permanent) => {
    expect(
      await gone(
        `${json}\n\n--\nIf you wish to stop receiving notifications, visit {this page}`.replace(
          '{this page}',
          'this page',
        ),
        sns,
      ),
    ).toEqual({ 'a@x.com': permanent })
  })

  test('a complaint of SES is one', async () => {
    const json = JSON.stringify({
      notificationType: 'Complaint',
      complaint: { complainedRecipients: [{ emailAddress: 'a@x.com' }] },
    })
    expect(await read(json, sns)).toMatchObject({ kind: 'complaint', recipients: [{ address: 'a@x.com' }] })
  })

  test.each([
    ['Mailer <news@shop.example>', 'Our spring news', ''],
    ['Shop <mailer@shop.example>', 'Our spring news', 'List-Unsubscribe: <https://shop.example/u>\r\n'],
  ])('but no newsletter of %s', async (from, subject, header) => {
    const text =
      'Your account is no longer inactive! Rooms at 550 euros. The address ann@x.com was not found in our list.'
    expect(await read(text, { from, subject, header })).toBeNull()
  })
})
