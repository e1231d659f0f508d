/** Options of a bounce. */

export interface DsnOptions {
  /** Fields of each recipient's group. */
  recipients: Record<string, string>[]
  from?: string
  subject?: string
  text?: string
}

const crlf = (text: string) => text.replace(/\r?\n/g, '\r\n')

/** Returns a delivery status notification (RFC 3464). */
export const dsn = ({
  recipients,
  from = 'MAILER-DAEMON@mx.example.com',
  subject = 'Undelivered Mail Returned to Sender',
  text = 'I am sorry.',
}: DsnOptions): string =>
  crlf(`From: Mail Delivery System <${from}>
Subject: ${subject}
Message-ID: <${Math.random()}@mx.example.com>
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

${text}

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com

${recipients
  .map((fields) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
  )
  .join('\n\n')}

--b
Content-Type: text/rfc822-headers

Subject: what was sent

--b--
`)

/** Returns the group of a recipient that does not exist. */
export const unknownUser = (address: string): Record<string, string> => ({
  'Original-Recipient': `rfc822;${address}`,
  'Final-Recipient': `rfc822; ${address}`,
  Action: 'failed',
  Status: '5.1.1',
  'Diagnostic-Code': 'smtp; 550 5.1.1 No such user here',
})

/** Returns an abuse report (RFC 5965). */
export const arf = (fields: Record<string, string> = { 'Feedback-Type': 'abuse' }): string =>
  crlf(`From: <abuse@isp.example>
Subject: FW: Earn money
Message-ID: <${Math.random()}@isp.example>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b"

--b
Content-Type: text/plain

This is an email abuse report.

--b
Content-Type: message/feedback-report

User-Agent: SomeGenerator/1.0
Version: 1
${Object.entries(fields)
  .map(([name, value]) => `${name}: ${value}`)
  .join('\n')}

--b
Content-Type: message/rfc822

From: <bot@agents.localhost>
To: <bo@example.com>
Subject: Earn money

Spam

--b--
`)
