import { amongAgents, define, joined, type Rows, raw, rows, type Sql, sql } from '../sql/sql.ts'

const GIVEN = rows('given', 'id', 'agent_id', 'place_id')
const CHATS = rows('chats', 'id', 'thread_id')
const PLACED = rows('placed', 'id', 'agent_id', 'workspace_id', 'channel', 'approval', 'guard_version')
const ASKED = rows('asked', 'id', 'address', 'agent_id', 'channel')
const LISTED = rows('listed', 'id', 'address')
const CORRESPONDENTS = rows('correspondents', 'id', 'address')

/** Whether a recipient `r` is among these. */
const isAmong = (known: Rows<'id' | 'address'>): Sql =>
  sql`exists (select from ${known} k where k.id = r.id and k.address = r.address)`

interface Drafts {
  drafts: Sql
  place: Sql
  chats: Sql
  insert(address: Sql, thread: Sql): Sql
  condition: Sql
  drafted: Rows<never> & { list: Sql }
}

interface Facts {
  drafts: Sql
  place: Sql
  recipients: Sql
  isListed: Sql
  hasWritten: Sql
  factsBy(isListed: Sql, hasWritten: Sql): Sql
}

/** For the statements of src/message. */
export const message = {
  /** It takes no query with a limit for each row: what they need is joined first. */
  'insert drafts': (given: Drafts): Sql => sql`
    ${define(GIVEN)} as materialized (select m.*, place.id as place_id from ${given.drafts} cross join lateral (${given.place}) place),
    ${define(CHATS)} as materialized (
      select m.id, (array_agg(l.thread_id order by l.created_at desc))[1] as thread_id from ${GIVEN} m
        join message l on l.agent_id = m.agent_id and l.address_id = m.place_id and l.counterpart = m.counterpart and l.channel in ${given.chats}
             ${amongAgents('l.agent_id')}
       group by m.id
    ),
    ${define(given.drafted)} as (
      ${given.insert(sql`m.place_id`, sql`coalesce(m.thread_id, c.thread_id, m.id)`)}
        from ${GIVEN} m join agent g on g.id = m.agent_id and ${given.condition} left join ${CHATS} c on c.id = m.id
      returning ${given.drafted.list}
    )`,

  /** It takes no query of the agents' rows for each row of another: those whom agents know are looked for before. */
  'facts of drafts': (given: Facts): Sql => sql`
    with ${define(PLACED)} as materialized (
      select m.id, m.agent_id, m.workspace_id, m.channel, g.approval, g.guard_version
        from ${given.drafts} join agent g on g.id = m.agent_id cross join lateral (${given.place}) place
    ),
    ${define(ASKED)} as materialized (
      select r.id, r.address, m.agent_id, m.channel from ${given.recipients} join ${PLACED} m on m.id = r.id where m.approval = 'strangers'
    ),
    ${define(LISTED)} as materialized (
      select m.id, r.address from ${ASKED} m join ${ASKED} r using (id, address) join access c on c.agent_id = m.agent_id and ${given.isListed}
             ${amongAgents('c.agent_id')}
    ),
    ${define(CORRESPONDENTS)} as materialized (
      select m.id, r.address from ${ASKED} m join ${ASKED} r using (id, address) join message w on ${given.hasWritten}
             ${amongAgents('w.agent_id')}
    )
    select m.id, m.approval, m.guard_version as "guardVersion", r.address, ${given.factsBy(isAmong(LISTED), isAmong(CORRESPONDENTS))}
      from ${PLACED} m left join ${ASKED} r on r.id = m.id`,

  'mark answered': ({
    answered,
    isUnread,
    drafted,
  }: Record<'answered' | 'isUnread' | 'drafted', Sql>): Sql => sql`
      update message m set read_at = d.at
        from (select reply_to_id, agent_id, min(created_at) as at from ${drafted} where reply_to_id = any(${answered}::uuid[]) group by 1, 2) d
       where m.id = d.reply_to_id and m.agent_id = d.agent_id${amongAgents('m.agent_id')} and ${isUnread}
      returning m.id, m.agent_id, m.workspace_id`,

  /** It locks rows of several agents by an update only. */
  'lock sends': (given: Locked): Sql => sql`
    ${define(given.held)} as (
      update message m set status = m.status from ${given.attempt} a join agent g on g.id = a.agent_id
       where m.id = a.message_id and m.agent_id = a.agent_id${amongAgents('m.agent_id')} and ${given.condition} returning ${given.columns.held}
    ),
    ${define(given.mine)} as (
      update job j set state = j.state from ${given.held} h where j.id = h.job_id and j.agent_id = h.agent_id${amongAgents('j.agent_id')} and j.lease_owner = h.owner returning h.*
    ),
    ${define(given.before)} as (
      update recipient r set status = r.status from ${given.mine}
       where r.message_id = mine.message_id and r.agent_id = mine.agent_id${amongAgents('r.agent_id')} returning ${given.columns.before}
    )`,

  /** In a query for each row it takes no limit. A group of the one agent does the same, for which PostgreSQL would read the whole chat. */
  'first thread': ({ messages, order }: Record<'messages' | 'order', Sql>): Sql =>
    sql`select (array_agg(m.thread_id order by ${order}))[1] from ${messages} group by m.agent_id`,

  'agent turns': ({ turns, most }: Record<'turns' | 'most', Sql>): Sql =>
    sql`coalesce((select least(count(*), ${most})::int from ${turns} group by m.agent_id), 0)`,

  /** It takes no query with a limit for each row. */
  'targets of each message': ({ facts, addressed }: Record<'facts' | 'addressed', Sql>): Sql =>
    sql`(select distinct on (q.n, c.agent_id)${facts}
      from q join address t on ${addressed} join access c on c.agent_id = t.agent_id and c.channel = t.channel
      order by q.n, c.agent_id, array_position(q.recipients, t.value)) c`,

  'join words': ({ w, isSameAgent }: Record<'w' | 'isSameAgent', Sql>): Sql =>
    sql`join message_search s on s.message_id = ${w}.id and ${isSameAgent}`,
  'joined words': (): Sql => sql`s.words`,

  'join unindexed': ({ isSameAgent }: { isSameAgent: Sql }): Sql =>
    sql`join unindexed_message u on ${isSameAgent} and u.message_id = n.id`,

  'take unindexed': (): Sql => sql`chosen as (
      select agent_id, message_id from unindexed_message where agent_id >= $2::uuid limit $1
    )`,

  /** Threads are grouped, and participants are of groups: both have their agent. */
  threads: ({ keys, agents, summary, state, participants, ofThread }: Threads): Sql => sql`
    select t.*, ${state}, coalesce((${participants} group by p.agent_id), '[]') as participants
      from (select m.agent_id, m.thread_id, ${summary}
              from message m join ${keys} as k(agent_id, thread_id) on m.agent_id = k.agent_id and m.thread_id = k.thread_id
             where m.agent_id = any(${agents}::uuid[]) group by m.agent_id, m.thread_id) t ${ofThread}`,

  /** All messages of each thread: it takes no query with a limit for each row. */
  'messages of threads': ({ isSameAgent }: { isSameAgent: Sql }): Sql =>
    sql`join message m on ${isSameAgent} and m.thread_id = t.thread_id`,

  /** The key is a constant. Both arrays are in it, because PostgreSQL must know their types. */
  'look up': ({ threads, query }: { threads: Sql; query(also: Sql): Sql }): Sql =>
    query(sql`and cardinality(${threads}::uuid[]) > 0`),

  /** It takes no query as a limit. */
  limit: ({ value }: { value: Sql }): Sql => value,

  'join message': ({ key, isSameAgent }: Record<'key' | 'isSameAgent', Sql>): Sql =>
    sql`join message m on m.id = ${key} and ${isSameAgent}`,

  /**
   * A query for each key, which is a constant in it: so each query of an agent's messages runs as a whole where they
   * are. (It takes no query with a limit for each row of another.) Both arrays are in each of them, because PostgreSQL
   * must know their types.
   */
  'for each key': ({ owners, threads, count, each }: Keys): Sql =>
    joined(
      Array.from({ length: count }, (_, index) => {
        const { query, where = raw('true') } = each(index + 1)
        return sql`(select ${index + 1} as key, p.* from (${query}) p where ${where} and cardinality(${owners}::uuid[] || ${threads}::uuid[]) > 0)`
      }),
      ' union all ',
    ),

  /** It takes no outer join with a query for each row. */
  'messages by id': ({ message, asked }: Record<'message' | 'asked', Sql>): Sql =>
    sql`(${message} join ${asked} on m.id = asked.message_id and m.agent_id = asked.agent_id) as message
                   on message.id = asked.message_id and message."agentId" = a.id`,

  /** It takes no ids of another query in a case, but two updates of a row. */
  'loosen answers': ({ agent, ids }: Record<'agent' | 'ids', Sql>): Sql => sql`
  unanswered as (update message set reply_to_id = null where agent_id = ${agent} and reply_to_id = any(${ids}) and id <> all(${ids})),
  unforwarded as (update message set forward_of_id = null where agent_id = ${agent} and forward_of_id = any(${ids}) and id <> all(${ids}))`,

  /** It executes the parts of a statement one after the other: what the messages have must be read before they go. */
  'keep blobs': ({ blobs }: { blobs: Sql }): Sql => sql`held as materialized (${blobs}),`,
  'kept blobs': (): Sql => sql`select agent_id, blob_id from held`,

  /** It takes no query of a distributed table for each row of a table that every node has. */
  'with refused messages': ({ old }: { old: Sql }): Sql =>
    sql`join message m on ${old} group by w.id, w.keep_refused_days`,
}

type Threads = Record<'keys' | 'agents' | 'summary' | 'state' | 'participants' | 'ofThread', Sql>

interface Keys {
  owners: Sql
  threads: Sql
  count: number
  each(at: number): { query: Sql; where: Sql | undefined }
}

interface Locked {
  held: Rows<never>
  mine: Rows<never>
  before: Rows<never>
  attempt: Sql
  condition: Sql
  columns: { held: Sql; before: Sql }
}
