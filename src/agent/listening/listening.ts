import type { Db } from '../../db/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { HEARD_BY_DEFAULT } from '../../event/index.ts'

/** Whether anybody receives an agent's messages as they arrive. */
export interface Listening {
  now: boolean
  /** Since when somebody listens, or since when nobody does; null if nobody ever did, or it is no longer known. */
  since: Date | null
}

/** Connections of an agent that are looked at, newest first: a client may connect again every minute. */
const CONNECTIONS = 20

/** $1 agents, $2 the time. A webhook that fails or is paused does not listen; the others do since they were added. */
const LISTENING = {
  name: 'listening agents',
  ...composedOf(sql`
    select a.id, bool_or(l.listens) as now,
           coalesce(min(l.since) filter (where l.listens), max(l.since) filter (where not l.listens)) as since
      from unnest($1::uuid[]) as a(id) cross join lateral (
        select c.listens, case when c.listens then c.changed_at else coalesce(c.lease_until, c.changed_at) end as since from (
          select replaced_at is null and coalesce(lease_until > $2, false) as listens, lease_until, changed_at
            from connection where agent_id = a.id order by created_at desc limit ${CONNECTIONS}) c
        union all
        select waits_until > $2, case when waits_until > $2 then waits_since else waits_until end
          from waiter where agent_id = a.id and waits_until is not null
        union all
        select listens, case when listens then created_at else coalesce(paused_at, failing_since, expires_at) end from (
          select *, paused_at is null and failing_since is null and coalesce(expires_at > $2, true) as listens
            from webhook where agent_id = a.id and types @> $3) w
      ) l group by a.id`),
}

/** Returns whether these agents listen, and since when. */
export const readListening = async (
  { pool }: Pick<Db, 'pool'>,
  agentIds: readonly string[],
  now: Date,
): Promise<Listening[]> => {
  const values = [agentIds, now, HEARD_BY_DEFAULT]
  const { rows } = await pool.query<Listening & { id: string }>({ ...LISTENING, values })
  const found = new Map(rows.map(({ id, ...listening }) => [id, listening]))
  return agentIds.map((id) => found.get(id) ?? { now: false, since: null })
}
