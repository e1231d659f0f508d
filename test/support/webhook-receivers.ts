// biome-ignore lint/suspicious/noExplicitAny: receivers look at arbitrary fields
export type Json = Record<string, any>
/** A receiver that knows nothing of this service. */
export interface Kind {
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

/** Each wants the form that its own documentation asks for. */
export const RECEIVERS: Record<string, Kind> = {
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
