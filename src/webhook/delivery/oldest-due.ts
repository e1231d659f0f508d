import type { Db } from '../../db/client.ts'

/** Interval in milliseconds at which all webhooks are read: no mark shows an event that no worker has seen. */
const ALL_MS = 10 * 60_000
/** Age in milliseconds of events that are looked at again: an event is dated before it is committed. */
const OVERLAP_MS = 10_000
/** Maximum number of the newest events whose agents are looked at. */
const MAX_NEW_EVENTS = 20_000

/** The webhook among `candidates (id, agent_id)` with the delivery that has waited longest. */
const oldestOf = (candidates: string): string => `
  with candidates as materialized (${candidates})
  select w.id, w.agent_id, coalesce(w.retry_at, e.created_at) as at
    from candidates c join webhook w on w.id = c.id and w.agent_id = c.agent_id join event_log l on l.agent_id = w.agent_id
    left join lateral (
      select created_at from event where agent_id = w.agent_id and id > w.position order by id limit 1
    ) e on true
   where w.position < l.last_id and (w.retry_at is null or w.retry_at <= $1) and (w.expires_at is null or w.expires_at > $1) and w.paused_at is null
   order by at limit 1`

const OF_ALL = oldestOf('select id, agent_id from webhook')

/**
 * Webhooks that are marked, leased or retrying; those with events since $2; and the one that was the oldest ($3,
 * $4). Idle webhooks cost nothing.
 */
const OF_ACTIVE = {
  name: 'oldest due delivery',
  text: oldestOf(`
    select id, agent_id from webhook where due_at is not null
    union select w.id, w.agent_id from webhook w join (
      select distinct agent_id from (
        select agent_id from event where created_at > $2 order by created_at desc limit ${MAX_NEW_EVENTS}
      ) newest) s on s.agent_id = w.agent_id
    union select id, agent_id from webhook where id = $3 and agent_id = $4`),
}

interface Oldest {
  id: string
  agent_id: string
  at: Date | null
}

/**
 * Returns a function that finds when the delivery that has waited longest for a worker was due; null when none
 * waits. A lane between two attempts or that is paused is not due.
 */
export const createOldestDueDelivery = ({
  pool,
}: Pick<Db, 'pool'>): ((now: Date) => Promise<Date | null>) => {
  let allReadAt = Number.NEGATIVE_INFINITY
  let readAt = 0
  let oldest: Oldest | undefined
  return async (now) => {
    const time = now.getTime()
    const readsAll = time - allReadAt >= ALL_MS
    const since = new Date(readAt - OVERLAP_MS)
    const { rows } = await (readsAll
      ? pool.query<Oldest>(OF_ALL, [now])
      : pool.query<Oldest>({ ...OF_ACTIVE, values: [now, since, oldest?.id, oldest?.agent_id] }))
    readAt = time
    if (readsAll) allReadAt = time
    oldest = rows[0]
    return oldest?.at ?? null
  }
}
