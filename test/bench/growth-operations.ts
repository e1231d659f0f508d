import { pruneConnections } from '../../src/agent/listening/connection.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { pruneEvents } from '../../src/event/log.ts'
import { indexMessages } from '../../src/message/reading/search-index.ts'
import { pruneRefused } from '../../src/message/receiving/refused.ts'
import { pruneSendJobs } from '../../src/message/stored/send-job.ts'
import { pruneDeliveries } from '../../src/webhook/deliveries.ts'
import { leaseDue } from '../../src/webhook/delivery/lane/due-lanes.ts'
import { notifyOwners } from '../../src/webhook/incident.ts'
import { pruneSubscriptions } from '../../src/webhook/subscribe.ts'
import { OwnedParts } from '../../src/worker/owned-parts.ts'
import { pruneIdempotencyKeys } from '../../src/workspace/idempotency.ts'
import { pruneRates } from '../../src/workspace/limit/rate-limits.ts'
import { WORDS } from './growth-data.ts'
import type { Site } from './growth-site.ts'

type Operation = (site: Site) => Promise<unknown>

const NOBODY = '00000000-0000-4000-8000-000000000000'

/** A request about the agent with the large mailbox. */
const ofAgent =
  (path: string): Operation =>
  ({ request, agentId }) =>
    request('GET', `/agents/${agentId}${path}`)

const list = (query: string) => ofAgent(`/messages?limit=20${query && '&'}${query}`)

const query =
  (selection: string): Operation =>
  ({ request, agentId }) =>
    request('POST', '/graphql', { query: `{ agent(id: "${agentId}") { ${selection} } }` })

const PAGE = `messages(first: 20) { edges { cursor node { id channel direction counterpart counterpartName subject text status createdAt
  attachments { name type size } } } pageInfo { hasNextPage endCursor } }`
const THREADS =
  'threads(first: 20) { edges { node { id subject messageCount unreadCount participants { address } } } pageInfo { endCursor } }'

const openStream: Operation = async ({ origin, idle }) => {
  const { id, token } = idle()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ client: 'bench', machine: 'bench' })
  const connected = await fetch(`${origin}/agents/${id}/connection`, { method: 'PUT', headers, body })
  const connection = (await connected.json()) as { id: string }
  const abort = new AbortController()
  const { signal } = abort
  const stream = await fetch(`${origin}/agents/${id}/connections/${connection.id}/events`, {
    headers,
    signal,
  })
  if (stream.status !== 200) throw new Error(`the stream responded with ${stream.status}`)
  abort.abort()
}

const janitor: Operation = async ({ db }) => {
  const now = systemClock.now()
  await pruneEvents(db, now)
  await pruneSendJobs(db, now)
  await pruneDeliveries(db, now)
  await pruneIdempotencyKeys(db, now)
  await pruneRates(db, now)
  await pruneConnections(db, now)
  await pruneSubscriptions(db, now)
  await notifyOwners({ ...db, clock: systemClock, log: silentLogger, mailer: { deliver: async () => true } })
  await pruneRefused({ ...db, clock: systemClock }, new AbortController().signal)
}

const webhookPoll: Operation = async ({ db }) => {
  const limits = { lanes: 100, retrying: 100 }
  const lease = { owner: NOBODY, ms: 1 }
  const parts = new OwnedParts().bits
  await leaseDue(db, { lease, now: systemClock.now(), limits, newMs: 5_000, parts })
}

/** What is measured, each in a request or a round of its own. */
export const OPERATIONS: Record<string, Operation> = {
  'receive a mail': ({ mail }) => mail(),
  send: ({ request, idle }) =>
    request('POST', `/agents/${idle().id}/messages`, {
      channel: 'email',
      to: ['ann@example.com'],
      text: 'Hello',
    }),
  'read a message': ({ request, agentId, messageId }) =>
    request('GET', `/agents/${agentId}/messages/${messageId}`),
  list: list(''),
  'list: direction': list('direction=outbound'),
  'list: status': list('status=received'),
  'list: status, none': list('status=failed'),
  'list: channel, none': list('channel=telegram'),
  'list: all three, none': list('channel=email&direction=inbound&status=imported'),
  'list: since': list(`since=${new Date(Date.now() - 3_600_000).toISOString()}`),
  'list: unread': list('unread=true'),
  'list: label, none': list('label=none'),
  'list: refusal': list('refusal=sender'),
  'list: from, common': list('from=*@example.com'),
  'list: thread': ({ request, agentId, messageId }) =>
    request('GET', `/agents/${agentId}/messages?limit=20&thread=${messageId}`),
  'search: common word': list(`q=${WORDS.common}`),
  'search: rare word': list(`q=${WORDS.rare}`),
  'search: no such word': list(`q=${WORDS.absent}`),
  'search: common word with a filter': list(`q=${WORDS.common}&direction=outbound`),
  'GraphQL inbox page': query(PAGE),
  'GraphQL threads': query(THREADS),
  'GraphQL unread count': query('id unreadCount'),
  'GraphQL agents': ({ request }) =>
    request('POST', '/graphql', { query: '{ agents(first: 20) { id name } }' }),
  'agents, first page': ({ request }) => request('GET', '/agents?limit=20'),
  'agents, last page': ({ request, lastAgents }) => request('GET', `/agents?limit=20&cursor=${lastAgents}`),
  'create an agent': ({ request, next }) =>
    request('POST', '/agents', { name: `Made ${next()}`, icon: 'bot' }),
  workspace: ({ request }) => request('GET', '/workspace'),
  access: ofAgent('/access'),
  'set access': ({ request, idle }) =>
    request('PUT', `/agents/${idle().id}/access/email`, { senders: ['*@example.com'] }),
  "an agent's token": ({ request, idle }) => {
    const { id, token } = idle()
    return request('GET', `/agents/${id}`, undefined, token)
  },
  'open a stream': openStream,
  events: ofAgent('/events?after=0'),
  listeners: ofAgent('/listeners'),
  webhooks: ofAgent('/webhooks'),
  'audit log': ({ request }) => request('GET', '/audit'),
  'poll for webhooks': webhookPoll,
  'poll for the search index': ({ db }) => indexMessages({ ...db, log: silentLogger }),
  metrics: ({ request }) => request('GET', '/metrics'),
  'delete expired rows': janitor,
}
