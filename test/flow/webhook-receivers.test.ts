import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Mails reach receivers that know nothing of this service, each in the form that its own documentation asks for. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
let receiver: Receiver
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner, 'Front Desk')
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  receiver = await createReceiver()
})
afterAll(() => receiver.close())

// biome-ignore lint/suspicious/noExplicitAny: receivers look at arbitrary fields
type Json = Record<string, any>
interface Kind {
  path: string
  headers?: Record<string, string>
  body: Json | string
  /** Why the receiver refuses a request; null if it takes it. */
  fault(headers: Record<string, string>, body: Json): string | null
  answer: { status: number; body?: string }
}

const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value !== '' && value.length <= most
const strangers = (body: Json, known: readonly string[]): string | null =>
  Object.keys(body).find((name) => !known.includes(name)) ?? null

const AGENT_HOOK = [
  'message',
  'name',
  'agentId',
  'sessionKey',
  'wakeMode',
  'deliver',
  'channel',
  'to',
  'model',
]

const KINDS: Record<string, Kind> = {
  "OpenClaw's /hooks/agent": {
    path: '/hooks/agent',
    headers: { Authorization: 'Bearer openclaw-hook-token' },
    body: {
      message:
        'New mail {{data.messageId}} from {{data.from}}: {{data.message.subject}}. Read it with get_message.',
      name: 'Mail of {{data.agent.name}}',
      sessionKey: 'hook:mail:{{data.threadId}}',
      wakeMode: 'now',
      deliver: false,
    },
    fault: (headers, body) => {
      if (headers.authorization !== 'Bearer openclaw-hook-token') return 'token'
      if (!isText(body.message, 100_000) || !isText(body.name, 200) || !isText(body.sessionKey, 200))
        return 'text'
      if (!['now', 'next-heartbeat'].includes(body.wakeMode) || typeof body.deliver !== 'boolean')
        return 'type'
      return strangers(body, AGENT_HOOK)
    },
    answer: { status: 200, body: '{"ok":true,"runId":"r"}' },
  },
  "Slack's incoming webhook": {
    path: '/services/T000/B000/XXXX',
    body: JSON.stringify({
      text: 'Mail from {{data.from}}',
      blocks: [
        { type: 'section', text: { type: 'plain_text', text: '{{data.from}}: {{data.message.subject}}' } },
      ],
    }),
    fault: (_headers, body) => {
      const [block, ...more] = body.blocks
      if (!isText(body.text, 40_000) || more.length > 0 || block.type !== 'section') return 'invalid_payload'
      return isText(block.text.text, 3_000) ? strangers(body, ['text', 'blocks']) : 'invalid_blocks'
    },
    answer: { status: 200, body: 'ok' },
  },
  "Discord's incoming webhook": {
    path: '/api/webhooks/1/token?wait=true',
    body: {
      content: 'New mail',
      embeds: [
        {
          title: '{{data.agent.name}}',
          description: '{{data.from}}: {{data.message.subject}}',
          timestamp: '{{timestamp}}',
        },
      ],
      allowed_mentions: { parse: [] },
    },
    fault: (_headers, { content, embeds: [embed], allowed_mentions: mentions }) => {
      if (!isText(content, 2_000) || !isText(embed.title, 256) || !isText(embed.description, 4_096))
        return 'length'
      return Number.isNaN(Date.parse(embed.timestamp)) || mentions.parse.length > 0 ? 'embed' : null
    },
    answer: { status: 200, body: '{"id":"1"}' },
  },
  "GitHub's repository_dispatch": {
    path: '/repos/acme/support/dispatches',
    headers: {
      Authorization: 'Bearer github_pat_0123456789',
      Accept: 'application/vnd.github+json',
      'X-GitHub-Api-Version': '2022-11-28',
    },
    body: { event_type: 'mail', client_payload: { eventId: '{{eventId}}', message: '{{data.message}}' } },
    fault: (headers, body) => {
      if (headers.authorization !== 'Bearer github_pat_0123456789') return '401'
      if (headers.accept !== 'application/vnd.github+json' || !headers['user-agent']) return '403'
      const { message } = body.client_payload
      if (!isText(body.event_type, 100) || typeof message.mayInstruct !== 'boolean') return '422'
      return Object.keys(body.client_payload).length <= 10
        ? strangers(body, ['event_type', 'client_payload'])
        : '422'
    },
    answer: { status: 204 },
  },
  'a catch hook that wants flat JSON, as Zapier': {
    path: '/hooks/catch/1/abc/',
    body: {
      id: '{{eventId}}',
      type: '{{name}}',
      at: '{{timestamp}}',
      message: '{{data.messageId}}',
      from: '{{data.from}}',
      subject: '{{data.message.subject}}',
      trusted: '{{data.message.mayInstruct}}',
      source: 'mail',
    },
    fault: (_headers, body) => Object.keys(body).find((name) => typeof body[name] === 'object') ?? null,
    answer: { status: 200, body: '{"status":"success"}' },
  },
}

const read = async (webhookId: string) => {
  const list = `/agents/${agent.id}/webhooks/${webhookId}/deliveries`
  const items = await until(async () => {
    const { body } = await agent.api('GET', list)
    return body.items.length > 0 && body.items.every(({ status }: Json) => status !== 'pending') && body.items
  })
  return Promise.all(items.map(async ({ id }: Json) => (await agent.api('GET', `${list}/${id}`)).body))
}

test.each(Object.entries(KINDS))('%s', async (_name, { path, headers, body, fault, answer }) => {
  const refused: string[] = []
  receiver.always(path, (res, got) => {
    const reason = fault(got.headers, JSON.parse(got.body))
    if (reason !== null) refused.push(reason)
    res.writeHead(reason === null ? answer.status : 400).end(reason ?? answer.body)
  })
  const added = await agent.api('POST', `/agents/${agent.id}/webhooks`, {
    url: receiver.url + path,
    headers,
    body,
  })
  expect(added.status).toBe(201)
  receiver.expect(path, added.body.secret)
  const subject = `Grüße "from" {{data.agent.id}} ${'x'.repeat(100)} \\`
  await post(service, {
    from: '"Ann \\"A\\" É" <ann@example.com>',
    to: agent.address,
    subject,
    text: 'not in the event',
  })
  const [sent] = await receiver.got(path, 1)
  expect(refused).toEqual([])
  // `standardwebhooks` has verified the signature of exactly these bytes.
  expect(sent!.verified).toEqual(JSON.parse(sent!.body))
  expect(sent!.body).toContain('ann@example.com')
  expect(sent!.body).toContain(JSON.stringify(subject).slice(1, -1))
  expect(sent!.headers['content-type']).toBe('application/json')
  const [delivery] = await read(added.body.id)
  expect(delivery).toMatchObject({
    status: 'delivered',
    request: { url: receiver.url + path, body: sent!.body },
  })
  const shown = JSON.stringify(delivery) + added.text
  for (const value of Object.values(headers ?? {}))
    expect(shown.replaceAll(sent!.body, '')).not.toContain(value)
  expect((await agent.api('DELETE', `/agents/${agent.id}/webhooks/${added.body.id}`)).status).toBe(204)
})
