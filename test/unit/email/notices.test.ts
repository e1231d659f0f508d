import { describe, expect, test } from 'vitest'
import { readReport } from '../../../src/mail/bounce/read-report.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'

const crlf = (text: string) => Buffer.from(text.replace(/\r?\n/g, '\r\n'))
const read = async (raw: string) => readReport(await parseMail(crlf(raw)))
const from = (sender: string, subject: string, text: string) =>
  read(
    `From: ${sender}\nTo: <bot@agents.example>\nSubject: ${subject}\nContent-Type: text/plain; charset=utf-8\n\n${text}\n`,
  )

/** Sender, subject, text, and whether each recipient's mailbox is missing. */
type Notice = [string, string, string, string, Record<string, boolean>]

describe('a bounce without a machine-readable part is recognised', () => {
  test.each<Notice>([
    [
      'qmail that gives up',
      'MAILER-DAEMON@q.example',
      'failure notice',
      "Hi. This is the qmail-send program at q.example.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n<a@x.com>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n<b@y.com>:\nuser is over quota\n\n--- Below this line is a copy of the message.\n\nTo: c@z.com",
      { 'a@x.com': true, 'b@y.com': false },
    ],
    [
      'qmail whose queue expired',
      'MAILER-DAEMON@q.example',
      'failure notice',
      "<a@x.com>:\nConnected to 192.0.2.1 but greeting failed.\nI'm not going to try again; this message has been in the queue too long.",
      { 'a@x.com': false },
    ],
    [
      'Exim with several recipients',
      'Mail Delivery System <Mailer-Daemon@e.example>',
      'Mail delivery failed: returning message to sender',
      'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  a@x.com\n    SMTP error from remote mail server after RCPT TO:<a@x.com>:\n    host mx.x.com [192.0.2.1]: 550 5.1.1 <a@x.com>:\n    Recipient address rejected: User unknown\n  b@y.com\n    host mx.y.com [192.0.2.2]: 552 5.2.2\n    mailbox over quota\n\n------ This is a copy of the message, including all the headers. ------\n\nFrom: c@z.com',
      { 'a@x.com': true, 'b@y.com': false },
    ],
    [
      'Exim: unrouteable',
      'Mailer-Daemon@e.example',
      'Mail delivery failed',
      'The following address(es) failed:\n\n  a@x.com\n    Unrouteable\n    address',
      { 'a@x.com': true },
    ],
    [
      'Exim after retries',
      'Mailer-Daemon@e.example',
      'Mail delivery failed',
      'The following address(es) failed:\n\n  a@x.com\n    retry timeout exceeded',
      { 'a@x.com': false },
    ],
    [
      'Postfix as text',
      'Mail Delivery System <MAILER-DAEMON@p.example>',
      'Undelivered Mail Returned to Sender',
      "This is the mail system at host p.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n                   The mail system\n\n<a@x.com>: host mx.x.com[192.0.2.1] said: 550 5.1.1 <a@x.com>: Recipient\n    address rejected: User unknown in virtual mailbox table (in reply to RCPT\n    TO command)\n\n<b@y.com>: host mx.y.com[192.0.2.2] said: 554 5.7.1 Service unavailable; Client\n    host [192.0.2.9] blocked using zen.spamhaus.org (in reply to RCPT TO command)",
      { 'a@x.com': true, 'b@y.com': false },
    ],
    [
      'Sendmail as text',
      'Mail Delivery Subsystem <MAILER-DAEMON>',
      'Returned mail: User unknown',
      'The original message was received at Fri, 20 Nov 2026 10:00:00 +0100\n\n   ----- The following addresses had permanent fatal errors -----\n<a@x.com>\n\n   ----- Transcript of session follows -----\n... while talking to mx.x.com.:\n>>> RCPT To:<a@x.com>\n<<< 550 <a@x.com>... User unknown\n550 <a@x.com>... User unknown\n\n   ----- Original message follows -----\nFrom: c@z.com',
      { 'a@x.com': true },
    ],
    [
      'an old Exchange server',
      'System Administrator <postmaster@corp.example>',
      'Undeliverable: Hello',
      'Your message\n\n  To:      a@x.com\n  Subject: Hello\n\ndid not reach the following recipient(s):\n\na@x.com on Fri, 20 Nov 2026\n    The e-mail account does not exist at the organization this message was sent\nto.  Check the e-mail address.\n    <corp.example #5.1.1>',
      { 'a@x.com': true },
    ],
    [
      'Exchange: expired',
      'Microsoft Exchange <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@corp.example>',
      'Undeliverable: Hello',
      'Delivery has failed to these recipients or distribution lists:\n\na@x.com\nMicrosoft Exchange has been trying to deliver this message without success and has stopped trying.',
      { 'a@x.com': false },
    ],
    [
      'Gmail as text',
      'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Delivery Status Notification (Failure)',
      'Delivery to the following recipient failed permanently:\n\n     a@x.com\n\nTechnical details of permanent failure:\nDNS Error: Domain name not found',
      { 'a@x.com': true },
    ],
    [
      'Yahoo',
      'MAILER-DAEMON@yahoo.com',
      'Failure Notice',
      "Sorry, we were unable to deliver your message to the following address.\n\n<a@x.com>:\n554: delivery error: dd This user doesn't have a x.com account (a@x.com) [0] - mta1.example",
      { 'a@x.com': true },
    ],
    [
      'Domino',
      'Postmaster@corp.example',
      'DELIVERY FAILURE: User bo (bo@corp.example) not listed in Domino Directory',
      'Your message\n\n  Subject: Hello\n\nwas not delivered to:\n\n  bo@corp.example\n\nbecause:\n\n  User bo (bo@corp.example) not listed in Domino Directory',
      { 'bo@corp.example': true },
    ],
    [
      'Domino: no route',
      'Postmaster@corp.example',
      'DELIVERY FAILURE: No route found to domain X.COM from server CORP',
      'Your document:  Hello\nwas not delivered to:  a@x.com\nbecause:  No route found to domain',
      { 'a@x.com': false },
    ],
    [
      'over quota',
      'mailer-daemon@m.example',
      'Mail System Error - Returned Mail',
      'This Message was undeliverable due to the following reason:\n\nThe user(s) account is temporarily over quota.\n\n<a@x.com>',
      { 'a@x.com': false },
    ],
    [
      'unable to deliver',
      'Mail Administrator <postmaster@m.example>',
      'Mail failure',
      'Unable to deliver\nmessage to the following recipients, because the message was\nforwarded too many times.\n\n  a@x.com',
      { 'a@x.com': false },
    ],
    [
      'giving up',
      'Mailer <mailer-daemon@m.example>',
      'Warning',
      'Connected to host.\nGiving up on a@x.com',
      { 'a@x.com': false },
    ],
    [
      'a missing domain',
      'postmaster@m.example',
      'Message status - undeliverable',
      '<a@x.com>: Domain does not\nexist',
      { 'a@x.com': true },
    ],
    [
      'MDaemon',
      'MDaemon@m.example',
      'Permanent Delivery Failure',
      'The following data may contain sections which represent BASE-64 data.\n\nMessage could not be delivered to a@x.com\n  550 5.1.1 No such mailbox',
      { 'a@x.com': true },
    ],
    [
      'GMX',
      'GMX Mailer Daemon <mailer-daemon@gmx.de>',
      'Mail delivery failed: returning message to sender',
      'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to\none or more of its recipients. This is a permanent error. The following address\nfailed:\n\na@x.com:\nSMTP error from remote server for RCPT TO command, host: mx.x.com (192.0.2.1) reason: 550 5.1.1 unknown user',
      { 'a@x.com': true },
    ],
    [
      'Mail.ru',
      'mailer-daemon@corp.mail.ru',
      'Mail failure.',
      'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address failed:\n\n  a@x.com\n    user not found',
      { 'a@x.com': true },
    ],
    [
      'QQ',
      'PostMaster@qq.com',
      '来自qq.com的退信',
      '您的邮件无法投递到 a@x.com，收件人邮箱不存在。',
      { 'a@x.com': true },
    ],
    [
      '163',
      'Postmaster@163.com',
      '系统退信',
      '抱歉，您的邮件被退回来了……\n收件人地址 a@x.com 不存在',
      { 'a@x.com': true },
    ],
    [
      'a Japanese provider',
      'Mail Delivery Subsystem <MAILER-DAEMON@iij.example>',
      'Returned mail: see transcript',
      '以下の宛先にメールを配信できませんでした。\n<a@x.com>\n宛先が存在しません',
      { 'a@x.com': true },
    ],
    [
      'a German provider',
      'Mail-Zustellsystem <mailer-daemon@web.example>',
      'Unzustellbare Nachricht',
      'Die Nachricht an a@x.com konnte nicht zugestellt werden: Empfänger unbekannt',
      { 'a@x.com': true },
    ],
    [
      'a French provider',
      'mailer-daemon@fr.example',
      'Message non remis',
      "Votre message à a@x.com n'a pas pu être remis : utilisateur inconnu",
      { 'a@x.com': true },
    ],
    [
      'a Spanish provider',
      'postmaster@es.example',
      'No se pudo entregar el mensaje',
      'No se pudo entregar a a@x.com: el usuario no existe',
      { 'a@x.com': true },
    ],
    [
      'a Russian provider',
      'mailer-daemon@yandex.ru',
      'Недоставленное сообщение',
      'Письмо не может быть доставлено адресату a@x.com: пользователь не найден',
      { 'a@x.com': true },
    ],
    [
      'a subject only, with a null return path',
      'x@noreply.example\nReturn-Path: <>',
      'Undeliverable: Hi',
      'Your message to a@x.com could not be delivered.',
      { 'a@x.com': false },
    ],
    [
      'a spam firewall',
      'postmaster@m.example',
      'Message Undeliverable',
      'Your message to: a@x.com was blocked by our firewall.',
      { 'a@x.com': false },
    ],
    [
      'a loop',
      'MAILER-DAEMON@p.example',
      'Undelivered Mail Returned to Sender',
      '<a@x.com>: mail forwarding loop for a@x.com',
      { 'a@x.com': false },
    ],
  ])('%s', async (_, sender, subject, text, recipients) => {
    const report = await from(sender, subject, text)
    expect(report).toMatchObject({ kind: 'bounce' })
    expect(
      Object.fromEntries(report!.recipients.map(({ address, permanent }) => [address, permanent])),
    ).toEqual(recipients)
  })
})

describe('other mail is not taken for a bounce', () => {
  test.each([
    [
      'a parcel service',
      'Parcels <info@parcels.example>',
      'Delivery problem: your parcel',
      'Your parcel could not be delivered: the address was not found. It is returned to the sender. help@parcels.example',
    ],
    [
      'a question about a bounce',
      'Ann <ann@x.com>',
      'Re: Undelivered Mail Returned to Sender',
      'I got 550 5.1.1 <bo@y.com> User unknown, why?',
    ],
    [
      'a forwarded bounce',
      'Ann <ann@x.com>',
      'Fwd: Delivery Status Notification (Failure)',
      'Final-Recipient: rfc822; bo@y.com\nAction: failed\nStatus: 5.1.1',
    ],
    [
      'a note of the postmaster',
      'postmaster@x.com',
      'Maintenance on Friday',
      'Mail will be slower on Friday between 5 and 6.',
    ],
    [
      'a delay',
      'Mail Delivery Subsystem <mailer-daemon@googlemail.com>',
      'Delivery Status Notification (Delay)',
      'Delivery to a@x.com has been delayed: 451 4.3.0\nGmail will retry for 46 more hours. 550 users',
    ],
    [
      'a quarantine report',
      'Quarantine <mailer-daemon@x.com>',
      'Quarantine summary',
      '3 messages are held for you.',
    ],
    [
      'a holiday',
      'Bo <bo@y.com>\nReturn-Path: <>',
      'Out of office',
      'I no longer work here; the mailbox is unavailable.',
    ],
  ])('%s', async (_, sender, subject, text) => expect(await from(sender, subject, text)).toBeNull())
})

const withPart = (type: string, fields: string, text = 'Sorry.', sender = 'MAILER-DAEMON@m.example') =>
  read(
    `From: ${sender}\nSubject: Undeliverable\nMIME-Version: 1.0\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: text/plain\n\n${text}\n\n--b\nContent-Type: ${type}\n\nReporting-MTA: dns; m.example\n\n${fields}\n\n--b--\n`,
  )

describe('a delivery status notification that violates RFC 3464', () => {
  const fields = 'Final-Recipient: rfc822; a@x.com\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 User unknown'

  test.each(['expired', 'Expired (queue)', 'rejected', 'failure', 'undeliverable'])(
    'has the action “%s”',
    async (action) => {
      expect(await withPart('message/delivery-status', `${fields}\nAction: ${action}`)).toMatchObject({
        recipients: [{ address: 'a@x.com', permanent: true }],
      })
    },
  )

  test.each([
    'text/plain',
    'message/xdelivery-status',
    'message/global-delivery-status',
    'application/octet-stream',
  ])('has a machine-readable part of the type %s', async (type) => {
    expect(await withPart(type, `${fields}\nAction: failed`)).toMatchObject({
      recipients: [{ address: 'a@x.com', detail: '550 User unknown', permanent: true }],
    })
  })

  test('has a diagnostic text whose further lines are not indented', async () => {
    const folded =
      'Final-Recipient: rfc822; a@x.com\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550-5.1.1 The account\n550 5.1.1 does not exist'
    expect(await withPart('message/delivery-status', folded)).toMatchObject({
      recipients: [{ permanent: true }],
    })
  })

  test('gives the reason of each recipient only in the part for humans', async () => {
    const group = (address: string) => `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.0.0`
    const text = 'Failed:\n  a@x.com\n    mailbox is frozen\n  b@y.com\n    mailbox is full'
    const report = await withPart(
      'message/delivery-status',
      `${group('a@x.com')}\n\n${group('b@y.com')}`,
      text,
    )
    expect(report!.recipients).toMatchObject([
      { address: 'a@x.com', permanent: true, detail: 'mailbox is frozen' },
      { address: 'b@y.com', permanent: false, detail: 'mailbox is full' },
    ])
  })
})

describe('a complaint in a provider’s own format', () => {
  const original =
    'Return-Path: <bounce-1@agents.example>\nX-HmXmrOriginalRecipient: ann@hotmail.com\nFrom: bot@agents.example\nSubject: Hi\n\nHi\n'
  const message = (sender: string, subject: string, text: string) =>
    read(
      `From: ${sender}\nSubject: ${subject}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n${text}\n\n--b\nContent-Type: message/rfc822\n\n${original}\n--b--\n`,
    )

  test('is one of Outlook.com’s Junk Mail Reporting Program', async () => {
    expect(await message('staff@hotmail.com', 'complaint about message from 192.0.2.1', '')).toMatchObject({
      kind: 'complaint',
      reversePath: 'bounce-1@agents.example',
      recipients: [{ address: 'ann@hotmail.com' }],
    })
  })

  test.each([
    'Email Feedback Report for IP 192.0.2.1',
    'Abuse report',
    'FBL report for agents.example',
    'Spam complaint',
  ])('has the subject “%s”', async (subject) =>
    expect(await message('fbl@isp.example', subject, 'See below.')).toMatchObject({ kind: 'complaint' }),
  )

  test('has its fields in a text part', async () => {
    const text = 'Feedback-Type: abuse\nUser-Agent: Loop/1.0\nVersion: 0.1\nOriginal-Rcpt-To: ann@hotmail.com'
    expect(await message('fbl@isp.example', 'Report', text)).toMatchObject({
      recipients: [{ address: 'ann@hotmail.com' }],
    })
  })

  test('is not a person’s mail about spam', async () => {
    expect(
      await read('From: ann@x.com\nSubject: spam report\n\nHere is the spam report for May.\n'),
    ).toBeNull()
  })
})
