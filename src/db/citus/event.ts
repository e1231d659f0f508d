import { amongAgents, define, type Rows, rows, type Sql, sql } from '../sql/sql.ts'

const HEADS = rows('heads', 'agent_id', 'last_id')

/** For the statements of src/event, and what they share with others. */
export const event = {
  /** It takes a query with a limit for each row of a distributed table only: here the one with one row for each agent. */
  'each agent': ({ agents }: { agents: Sql }): Sql =>
    sql`(select agent_id as id from event_log where agent_id = any(${agents})) a`,

  /**
   * It cannot lock rows of several agents but by an update. Updates of two batches are in no certain order: it ends one
   * of two that wait for each other, and its caller tries again.
   */
  'new event ids': ({
    fresh,
    appended,
  }: {
    fresh: Rows<'agent_id' | 'ord'>
    appended: Rows<never>
  }): Sql => sql`
    ${define(HEADS)} as (
      update event_log l set last_id = l.last_id + f.count from (select agent_id, count(*) as count from ${fresh} group by agent_id) f
       where l.agent_id = f.agent_id${amongAgents('l.agent_id')} returning l.agent_id, l.last_id - f.count as last_id
    ),
    ${define(appended)} as materialized (
      select f.*, h.last_id + row_number() over (partition by f.agent_id order by f.ord) as event_id from ${fresh} f join ${HEADS} h using (agent_id)
    )`,

  'lock logs': ({ ids, rest }: Record<'ids' | 'rest', Sql>): Sql =>
    sql`update event_log set last_id = last_id where agent_id = any(${ids})${rest}`,

  /** Ids above the horizon have no gaps, so a range of them has the same events; `readLogs` leaves out what else there is below. */
  'event logs': ({
    agents,
    after,
    limit,
    columns,
  }: Record<'agents' | 'after' | 'limit' | 'columns', Sql>): Sql => sql`
    select p.ord::int, l.last_id, l.horizon, e.*
      from unnest(${agents}::uuid[], ${after}::bigint[]) with ordinality as p(log, after, ord)
      join event_log l on l.agent_id = p.log
      left join (select ${columns} from event where agent_id = any(${agents}::uuid[])) e
        on e.agent_id = l.agent_id and e.id > p.after and e.id <= greatest(p.after, l.horizon) + ${limit}::int
     where l.agent_id = any(${agents}::uuid[])
     order by p.ord, e.id`,

  'grown logs': ({ agents }: { agents: Sql }): Sql => sql`and l.agent_id = any(${agents}::uuid[])`,

  /** Ids above the horizon must have no gaps: readers before one are told to read everything anew. */
  'cover gaps': ({ cover }: { cover: Sql }): Sql => cover,
}
