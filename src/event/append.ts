/**
 * The part of a statement that appends to agents' logs. It continues a `with`: it reads `fresh (id, agent_id,
 * ord, type, channel, subject, created_at, sender, "from")`, one row for each event and its message, and
 * defines `appended`: the same with `event_id` and `agent_name`, the agent's current name.
 *
 * `locked` locks the agents' logs in the order of their ids (so that two batches cannot deadlock) until the
 * commit: a waiting transaction then reads the newest id, which makes the order of ids the order of commits.
 * With an array the logs are found by their key; `in (select …)` would scan the logs of all agents.
 */
export const APPEND_EVENTS = `
    locked as materialized (
      select agent_id, last_id from event_log
       where agent_id = any(array(select agent_id from fresh)) order by agent_id for update
    ),
    appended as materialized (
      select f.*, g.name as agent_name, l.last_id + row_number() over (partition by f.agent_id order by f.ord) as event_id
        from fresh f join locked l using (agent_id) join agent g on g.id = f.agent_id
    ),
    heads as (
      update event_log l set last_id = a.last_id
        from (select agent_id, max(event_id) as last_id from appended group by agent_id) a
       where l.agent_id = a.agent_id
    ),
    events as (
      insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject, created_at)
      select agent_id, event_id, type, channel, id, agent_name, sender, "from", subject, created_at from appended
    )`
