import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { createReceiver } from '../support/receiver.ts'
import { apiOf } from '../support/service.ts'
import { giveNumber, openTwilio } from '../support/sms.ts'
import { arrangeTelegram } from '../support/telegram.ts'
import { until } from '../support/until.ts'

/**
 * What the first version sent to its listeners, recorded from commit 73aa316 by the steps below. Ids and times
 * are numbered in the order in which they first appear.
 */
const RECORDED = readFileSync(join(import.meta.dirname, 'version-1.txt'), 'utf8')

const NUMBER = '+15005550101'
const receiver = await createReceiver()
afterAll(() => receiver.close())
const twilio = await openTwilio()
const { service, agent, owner, telegram, bot, ann } = await arrangeTelegram({
  environment: { ...twilio.environment, RATE_LIMIT: '100000' },
})
const path = `/agents/${agent.id}`

/** Replaces what differs in every run. */
const numbered = (text: string): string => {
  const seen = new Map<string, string>()
  const number = (kind: string) => (found: string) => {
    const key = found.replaceAll('-', '')
    if (!seen.has(key))
      seen.set(key, `${kind}-${[...seen.values()].filter((one) => one.startsWith(kind)).length + 1}`)
    return `{${seen.get(key)}}`
  }
  return (
    text
      // Heartbeats depend on how long the test takes; clients ignore comments.
      .replaceAll(/^:.*\n\n/gm, '')
      .replaceAll(service.http, '{service}')
      .replaceAll(/127\.0\.0\.1:\d+/g, '{host}')
      .replaceAll(owner.email, '{owner}')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=evt_)[0-9a-f]{32}/g, number('id'))
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, number('time'))
      .replaceAll(/(?<=^webhook-timestamp: )\d+$/gm, '{seconds}')
      .replaceAll(/(?<=^webhook-signature: v1,)[A-Za-z0-9+/]{43}=$/gm, '{signature}')
  )
}

/** Everything that a response contains, as it arrives. */
const collect = (response: Response) => {
  const collected = { text: '' }
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) collected.text += chunk
  }
  read().catch(() => undefined)
  return collected
}

const FIELDS = `id type channel messageId createdAt text sender { id kind name email phone }
  message { id channel direction status refusal admission counterpart counterpartName to cc subject text error
    attachments { name type size } thread { messageId references } }`
const MAIL = `From: "Ann Müller" <ann@example.com>\r
To: ${agent.address}\r
Subject: Where is "it"?\r
Message-ID: <order-1@example.com>\r
References: <order-0@example.com>\r
Date: Tue, 2 Jan 2024 15:04:05 +0100\r
Content-Type: text/plain; charset=utf-8\r
\r
Grüße\r
`

/** Starts the three kinds of listeners as clients of the first version do. */
const listen = async () => {
  const leaving = new AbortController()
  const call = (at: string, token: string, more: RequestInit = {}) =>
    fetch(service.http + at, {
      ...more,
      signal: leaving.signal,
      headers: { Authorization: `Bearer ${token}`, ...more.headers },
    })
  const connection = await agent.api('PUT', `${path}/connection`, { client: 'test', machine: 'here' })
  const stream = collect(await call(`${path}/connections/${connection.body.id}/events`, agent.token))
  const query = `subscription { messageReceived(agentId: "${agent.id}", after: 0) { ${FIELDS} } }`
  const asked = { method: 'POST', body: JSON.stringify({ query }) }
  const headers = { 'Content-Type': 'application/json', Accept: 'text/event-stream' }
  const subscription = collect(await call('/graphql', owner.token, { ...asked, headers }))
  const hook = await owner.api('POST', `${path}/webhooks`, { url: `${receiver.url}/hook` })
  receiver.expect('/hook', hook.body.secret)
  return { stream, subscription, leave: () => leaving.abort() }
}

/** A mail, a text message, a Telegram message and one to the Message URL. */
const receiveAll = async () => {
  await post(service, { envelope: { from: 'ann@example.com', to: agent.address }, raw: MAIL })
  await receiver.got('/hook', 1)
  await twilio.text('+15551234567', NUMBER, 'Where is my order? 🚚')
  await receiver.got('/hook', 2)
  await telegram.write(bot, ann, 'And the "second" one?')
  await receiver.got('/hook', 3)
  await owner.api('POST', `${path}/url`, { text: 'Look\nat this' })
  return receiver.got('/hook', 4)
}

const count = (text: string, what: string) => text.split(what).length - 1

test('a listener of version 1.0 receives, to the byte, what version 1.0 sent and the fields added since (mayInstruct, lastId, those of conversations)', async () => {
  await giveNumber(service, twilio, agent, NUMBER)
  for (const channel of ['email', 'sms'])
    await owner.api('PUT', `${path}/access/${channel}`, { admit: 'anyone', senders: [] })
  const { stream, subscription, leave } = await listen()
  const posts = await receiveAll()
  await until(() => count(stream.text, '\ndata: ') === 4 && count(subscription.text, '\ndata: ') === 4)
  leave()
  const events = await apiOf(service.http, agent.token)('GET', `${path}/events?after=0`)
  const sections = {
    ...Object.fromEntries(
      posts.map(({ headers, body }, index) => [
        `webhook, POST ${index + 1}`,
        `${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\n`)
          .join('')}\n${body}\n`,
      ]),
    ),
    'event stream': stream.text,
    'GraphQL subscription': subscription.text,
    'list of events': `${events.text}\n`,
  }
  expect(posts.every(({ verified }) => verified !== null)).toBe(true)
  const text = Object.entries(sections)
    .map(([name, content]) => `===== ${name}\n${content}`)
    .join('\n')
  expect(numbered(text.replaceAll(agent.address, 'support-test@agents.localhost'))).toBe(RECORDED)
})
