import type { Db } from '../db/client.ts'
import type { Channel } from '../db/generated/prisma/enums.ts'
import { type EventDetail, type EventType, eventIdOf, type PayloadEvent } from '../event/index.ts'
import type { Keyring } from '../workspace/index.ts'
import { formatBody, templateOf } from './format/format.ts'
import { shownHeaders } from './format/headers.ts'
import { manualEventId, payloadOf, testPayloadOf } from './payload.ts'
import { unsignedHeaders } from './post/sign.ts'

/** What a delivery's request is made of: its event, or null for a test. */
export interface RequestSource {
  /** The delivery's id. */
  id: string
  agentId: string
  webhookId: string
  createdAt: Date
  event: number | null
}

/**
 * The request of a delivery as it would be sent now, the same on every attempt but for `webhook-timestamp` and the
 * signature. The values of additional headers are masked.
 */
export interface DeliveryRequest {
  url: string
  headers: [string, string][]
  /** Null for a message to a Message URL, which is not stored, when the event is no longer stored, and when the body would be too large. */
  body: string | null
}

interface Row {
  place: number
  workspace_id: string
  url: string
  headers: Buffer | null
  body: string | null
  subscription: string | null
  agent_name: string
  event_agent_name: string | null
  type: EventType | null
  channel: Channel
  message_id: string
  from: string
  subject: string | null
  detail: EventDetail | null
  event_at: Date
}

const SOURCES = {
  name: 'sources of deliveries',
  text: `
    select asked.place::int, w.workspace_id, w.url, w.headers, w.body, w.subscription, a.name as agent_name, e.agent_name as event_agent_name, e.type, e.channel, e.message_id, e."from",
           e.subject, e.detail, e.created_at as event_at
      from unnest($1::uuid[], $2::uuid[], $3::bigint[]) with ordinality as asked(agent_id, webhook_id, event, place)
      join webhook w on w.id = asked.webhook_id and w.agent_id = asked.agent_id
      join agent a on a.id = asked.agent_id
      left join event e on e.agent_id = w.agent_id and e.id = asked.event
     order by asked.place`,
}

const eventOf = (source: RequestSource, row: Row): string | null => {
  const { agentId, webhookId, id, event, createdAt } = source
  if (event === null)
    return testPayloadOf({ id, agent: { id: agentId, name: row.agent_name }, webhookId, createdAt })
  if (row.type === null || row.channel === 'url') return null
  return payloadOf({
    ...{ agentId, id: event, type: row.type, channel: row.channel, messageId: row.message_id },
    ...{ createdAt: row.event_at, sender: null, from: row.from, subject: row.subject },
    ...row.detail,
    agentName: row.event_agent_name ?? row.agent_name,
  } as PayloadEvent)
}

const bodyOf = (source: RequestSource, row: Row): string | null => {
  const event = eventOf(source, row)
  return event === null ? null : (formatBody(templateOf(row.body), Buffer.from(event))?.toString() ?? null)
}

/**
 * Returns the requests of deliveries. They are not stored, but made again from the event; the signature is
 * left out, because the secret may have been replaced. That of a delivery to a webhook that was removed meanwhile
 * is null.
 */
export const rebuildRequests = async (
  { pool, keyring }: Db & { keyring: Keyring },
  sources: readonly RequestSource[],
): Promise<(DeliveryRequest | null)[]> => {
  const values = [
    sources.map(({ agentId }) => agentId),
    sources.map(({ webhookId }) => webhookId),
    sources.map(({ event }) => event),
  ]
  const { rows } = await pool.query<Row>({ ...SOURCES, values })
  const found = new Map(rows.map((row) => [row.place, row]))
  return Promise.all(
    sources.map(async (source, index) => {
      const row = found.get(index + 1)
      if (!row) return null
      const { agentId, id, webhookId, event } = source
      const eventId =
        event === null ? manualEventId({ id, agentId, eventId: null }) : eventIdOf({ agentId, id: event })
      const own = await shownHeaders(keyring, { workspaceId: row.workspace_id, id: webhookId }, row.headers)
      return { url: row.url, headers: [...unsignedHeaders(eventId), ...own], body: bodyOf(source, row) }
    }),
  )
}
