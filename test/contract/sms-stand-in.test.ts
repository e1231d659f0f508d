import { expect, test } from 'vitest'
import { openTwilio } from '../support/sms.ts'

test('a delivery report to an unreachable service is dropped, and the stand-in keeps running', async () => {
  const twilio = await openTwilio({ reports: true })
  twilio.numbers.set('+15005550101', { sid: 'PN1', smsUrl: '' })
  const send = () =>
    fetch(`${twilio.url}/2010-04-01/Accounts/${twilio.accountSid}/Messages.json`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${twilio.accountSid}:${twilio.authToken}`).toString('base64')}`,
      },
      body: new URLSearchParams({
        From: '+15005550101',
        To: '+15551234567',
        Body: 'hi',
        StatusCallback: 'http://127.0.0.1:1/gone',
      }),
    })
  // An unhandled rejection would end this process.
  for (let sent = 0; sent < 3; sent++) expect((await send()).status).toBe(201)
})
