import { afterAll } from 'vitest'
import { createSmsChannel } from '../../src/channel/sms/sms-channel.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { startHttp } from '../../src/http/server.ts'
import { createTestLog } from '../support/log.ts'
import { sinkWith } from '../support/sink.ts'
import { openTwilio } from '../support/sms.ts'
import { describeChannel } from './channel.ts'

const REFUSED = "The 'To' number is not a valid phone number."

describeChannel('sms', async () => {
  const twilio = await openTwilio()
  const log = createTestLog()
  let publicUrl = ''
  let sink = sinkWith()
  const { TWILIO_API_URL: apiUrl } = twilio.environment
  const { accountSid, authToken } = twilio
  const channel = createSmsChannel({ accountSid, authToken, apiUrl, publicUrl: () => publicUrl, log })
  const none = () => Promise.reject(new Error('nothing else is here'))
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    api: true,
    interfaces: {
      ...{ rest: none, graphql: none, mcp: none, web: none, oauth: none },
      ...{ stream: none, metrics: none, ready: none },
    },
    callbacks: channel.routes!(
      sinkWith({ inbound: (message) => sink.inbound(message), delivery: (report) => sink.delivery(report) }),
    ),
    log: silentLogger,
  })
  publicUrl = server.url
  afterAll(() => server.stop(100))
  const [ours, theirs] = ['+15005550101', '+15551234567']
  twilio.numbers.set(ours, { sid: 'PN1', smsUrl: `${server.url}/channels/sms/messages` })
  const answers = {
    accepts: null,
    'refuses permanently': {
      status: 400,
      body: JSON.stringify({ code: 21211, message: REFUSED, status: 400 }),
    },
    'refuses temporarily': {
      status: 503,
      body: JSON.stringify({ code: 20503, message: REFUSED, status: 503 }),
    },
    'is down': null,
  }
  let down = false
  return {
    channel: {
      ...channel,
      // When it is down, sends go to a port on which nothing listens.
      send: (message, signal) =>
        (down
          ? createSmsChannel({
              accountSid,
              authToken,
              apiUrl: 'http://127.0.0.1:9',
              publicUrl: () => publicUrl,
              log,
            })
          : channel
        ).send(message, signal),
    },
    spellings: [
      ['+1 555 123-4567', '+15551234567'],
      ['72345', '72345'],
    ],
    malformed: ['5551234567', 'ACME', 'whatsapp:+15551234567', '+15551234567, +15551234568'],
    ours,
    theirs,
    setSink: (next) => {
      sink = next
    },
    receive: async (text) => {
      const { status } = await twilio.text(theirs, ours, text)
      return status < 300 ? 'accepted' : status >= 500 ? 'retry' : 'refused'
    },
    behave: async (behavior) => {
      down = behavior === 'is down'
      twilio.insteads.length = 0
      const answer = answers[behavior]
      if (answer) twilio.insteads.push({ pattern: /Messages\.json/, answer })
    },
    reason: REFUSED,
    credentials: [authToken, Buffer.from(`${accountSid}:${authToken}`).toString('base64')],
    log: () => log.text(),
  }
})
