import type { Db } from '../../db/client.ts'
import { raw, type Sql, sql } from '../../db/sql/sql.ts'
import { composedOf, type Statement } from '../../db/sql/statement.ts'
import { MESSAGE_RECEIVED } from '../../event/index.ts'
import { IS_HELD, isUnread } from './filter.ts'

/**
 * What a list of agents tells of each. A statement answers for all of them, and what it reads of one agent is limited, whatever
 * the size of its mailbox.
 */

/** Numbers are counted up to this. */
export const MAX_COUNTED = 100
/** The newest events that are looked at to find messages that nobody was given. */
export const MAX_EVENTS = 200
export const REFUSED_DAYS = 7
export const HOURS = 24
/** Messages that are counted in an hour, on each channel. */
export const MAX_IN_HOUR = 200

const CHANNELS = raw('unnest(enum_range(null::"Channel")) as ch(channel)')
const RECEIVED = raw(MESSAGE_RECEIVED)

/** $1 agents, $2 the time. */
const ACTIVITY = {
  name: 'activity of agents',
  ...composedOf(sql`
    select a.id, h.hour, sum(f.count)::int as count
      from unnest($1::uuid[]) as a(id) cross join generate_series(0, ${HOURS - 1}) as h(hour) cross join ${CHANNELS} cross join lateral (
        select count(*) as count from (
          select from message m
           where m.agent_id = a.id and m.channel = ch.channel and m.direction = 'inbound' and m.status = 'received'
             and m.created_at > $2::timestamptz - interval '1 hour' * (${HOURS} - h.hour)
             and m.created_at <= $2::timestamptz - interval '1 hour' * (${HOURS} - 1 - h.hour) limit ${MAX_IN_HOUR}) one
      ) f where f.count > 0 group by a.id, h.hour`),
}

/** Returns how many messages these agents received in each of the last 24 hours, oldest first. */
export const readActivity = async (
  { pool }: Pick<Db, 'pool'>,
  agentIds: readonly string[],
  now: Date,
): Promise<number[][]> => {
  type Row = { id: string; hour: number; count: number }
  const { rows } = await pool.query<Row>({ ...ACTIVITY, values: [agentIds, now] })
  const hours = new Map(agentIds.map((id) => [id, Array.from({ length: HOURS }, () => 0)]))
  for (const { id, hour, count } of rows) hours.get(id)![hour] = count
  return agentIds.map((id) => hours.get(id)!)
}

/** Counts the messages that a query finds for each agent `a` of $1. $2 is the time. */
const countStatement = (name: string, query: Sql) => ({
  name,
  ...composedOf(
    sql`select a.id, count(*)::int as count from unnest($1::uuid[]) as a(id) cross join lateral (${query}) found group by a.id`,
  ),
})

const HELD = countStatement(
  'held messages of agents',
  sql`select from message m where m.agent_id = a.id and ${IS_HELD} and m.hold_reason = 'approval' and m.hold_until > $2 limit ${MAX_COUNTED}`,
)

const REFUSED = countStatement(
  'refused messages of agents',
  sql`select from ${CHANNELS} cross join lateral (
     select from message m where m.agent_id = a.id and m.channel = ch.channel and m.direction = 'inbound' and m.status = 'refused'
        and m.created_at > $2::timestamptz - interval '${REFUSED_DAYS} days' limit ${MAX_COUNTED}) one limit ${MAX_COUNTED}`,
)

/**
 * Among the newest events: nobody has marked the message as read, no client was connected, no waiting call has got so far, and no webhook
 * for it has got past it. What a client was connected for counts as heard, because the service does not know more.
 */
const UNHEARD = countStatement(
  'unheard messages of agents',
  sql`select from (select id, type, channel, message_id, created_at from event where agent_id = a.id order by id desc limit ${MAX_EVENTS}) e
    where e.type = '${RECEIVED}' and e.created_at <= $2
      and exists (select from message m where m.id = e.message_id and m.agent_id = a.id and ${isUnread('m')})
      and not exists (select from waiter r where r.agent_id = a.id and r.position >= e.id)
      and not exists (select from connection c where c.agent_id = a.id and c.start_after < e.id
                         and coalesce(c.lease_until, c.changed_at) >= e.created_at)
      and not exists (select from webhook w where w.agent_id = a.id and w.types @> '{${RECEIVED}}'
                         and (w.channels = '{}' or e.channel = any(w.channels)) and w.created_at <= e.created_at and w.position >= e.id)
    limit ${MAX_COUNTED}`,
)

const count =
  (statement: Statement) =>
  async ({ pool }: Pick<Db, 'pool'>, agentIds: readonly string[], now: Date): Promise<number[]> => {
    const { rows } = await pool.query<{ id: string; count: number }>({
      ...statement,
      values: [agentIds, now],
    })
    const counts = new Map(rows.map((row) => [row.id, row.count]))
    return agentIds.map((id) => counts.get(id) ?? 0)
  }

/** Messages of each agent that wait for the approval of a member. */
export const countHeld = count(HELD)
/** Messages of the last days that each agent refused, and that nobody has let in since. */
export const countRefused = count(REFUSED)
/** Messages of each agent that no listener was given. */
export const countUnheard = count(UNHEARD)
