import { CHANNEL_KINDS, CHANNELS } from '../../core/channels.ts'
import { define, type Rows, raw, type Sql, sql } from '../../db/sql/sql.ts'
import { isLogged, RAISED } from '../../event/index.ts'

/** The address `o` of a message `e` of an agent, where the channel has this kind of contact. */
const contact = (field: 'email' | 'phone'): Sql => {
  const kinds = CHANNEL_KINDS.filter((kind) => CHANNELS[kind].contact === field)
  return sql`case when e.channel in (${raw(kinds.map((kind) => `'${kind}'`).join(', '))}) then o.value end`
}

/** What an event tells of the conversation of a message. */
export const conversationOf = (message: string): Sql =>
  raw(
    `jsonb_strip_nulls(jsonb_build_object('threadId', ${message}.thread_id, 'conversation', ${message}.conversation))`,
  )

/** The columns of a message that its events tell. */
export const EVENT_COLUMNS = [
  'id',
  'agent_id',
  'address_id',
  'thread_id',
  'conversation',
  'channel',
  'subject',
] as const

/** Messages that agents send, with their events. */
export type Sent = Rows<(typeof EVENT_COLUMNS)[number] | 'type' | 'detail' | 'at'>

/**
 * The part of a statement that defines `RAISED` for messages that agents send. The sender is the agent. For an agent
 * whose settings leave the type out, nothing more is read.
 */
export const raise = (sent: Sent): Sql => sql`
    ${define(RAISED)} as (
      select e.id, e.agent_id, row_number() over (order by e.id) as ord, e.type, e.channel, e.subject, e.at as created_at,
             jsonb_build_object('id', e.agent_id, 'kind', 'agent', 'name', g.name, 'email', ${contact('email')}, 'phone', ${contact('phone')}) as sender,
             g.name || coalesce(' <' || o.value || '>', '') as "from",
             coalesce(e.detail, '{}') || ${conversationOf('e')} as detail
        from ${sent} e join agent g on g.id = e.agent_id left join address o on o.id = e.address_id and o.agent_id = e.agent_id
       where ${isLogged(raw('e.type'))}
    )`
