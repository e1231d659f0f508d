import { amongAgents, type Sql, sql } from '../sql/sql.ts'

/** For the statements of src/webhook. */
export const webhook = {
  siblings: (): Sql => sql`${amongAgents('s.agent_id')} group by s.agent_id`,

  /** Their events are read by 'read ahead'. */
  'lanes with events': ({ lanes }: { lanes: Sql }): Sql => lanes,

  /**
   * It takes no query with a limit for each row of a parameter. Ids above the horizon have no gaps, so a range of them
   * has the same events.
   */
  'read ahead': ({ asked, agents, event }: Record<'asked' | 'agents' | 'event', Sql>): Sql => sql`
    select w.lane, l.last_id, l.horizon, ${event}
      from ${asked}
      join event_log l on l.agent_id = w.agent_id
      join agent a on a.id = w.agent_id
      left join event e on e.agent_id = l.agent_id and e.id > w.after and e.id <= greatest(w.after, l.horizon) + w.most
      left join job j on j.agent_id = e.agent_id and j.lane = w.lane and j.seq = e.id
     where l.agent_id = any(${agents}::uuid[])
     order by w.ord, e.id`,

  /** As for 'each agent'. */
  'each webhook': ({ agents, ids }: Record<'agents' | 'ids', Sql>): Sql =>
    sql`(select agent_id, id, array_position(${ids}, id) as ord from webhook where agent_id = any(${agents}) and id = any(${ids})) w`,
}
