import { suppressAll } from '../../agent/index.ts'
import { define, empty, raw, rows, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { APPENDED, APPENDED_COLUMNS, LOGS_MORE, lockLogs } from '../../event/index.ts'
import { CONCLUDE, CONCLUDED, LOG_OUTCOMES } from '../stored/status.ts'

const ATTEMPT = rows(
  'attempt',
  ...([
    'id',
    'agent_id',
    'message_id',
    'owner',
    'state',
    'due_at',
    'entry',
    'at',
    'status',
    'error',
  ] as const),
)
const HELD = rows('held', 'message_id', 'agent_id', 'channel', 'was', 'job_id', 'owner', 'at')
const MINE = rows('mine', 'message_id', 'agent_id', 'channel', 'was', 'job_id', 'owner', 'at')
const BEFORE = rows('before', 'message_id', 'agent_id', 'address', 'status', 'detail', 'provider_id')
const OUTCOME = rows('outcome', 'message_id', 'address', 'was', 'told', 'status', 'suppress', 'recipient')
const COMPARED = rows('compared', 'message_id', 'expected', 'told')
const SURE = rows('sure', 'message_id', 'agent_id', 'was', 'job_id', 'at')
const REFUSED = rows('refused', 'agent_id', 'channel', 'recipient', 'reason', 'detail', 'created_at')
const AFTER = rows('after', 'message_id', 'agent_id', 'address', 'status', 'channel', 'at', 'suppress')
const LOGS = rows('logs', 'agent_id')
const SENT = ['id', 'agent_id', 'message_id', 'owner', 'entry', 'at', 'address', 'provider_id'] as const
const SENT_TO = rows('sent_to', ...SENT)
const LOCKED = rows('locked', 'was', ...SENT)
const REACHED = rows('reached', 'id', 'message_id', 'agent_id', 'was', 'at', 'entry')

const COLUMNS = {
  held: raw('m.id as message_id, m.agent_id, m.channel, m.status as was, a.id as job_id, a.owner, a.at'),
  before: raw(
    'r.message_id, r.agent_id, r.address, r.status, r.detail, r.provider_id, mine.channel, mine.was, mine.at',
  ),
}

/** Locks the messages, the jobs and the recipients of the attempts. */
const lock = (condition: Sql): Sql =>
  sql`
    ${define(HELD)} as materialized (
      select ${COLUMNS.held} from ${ATTEMPT} a join message m on m.id = a.message_id and m.agent_id = a.agent_id join agent g on g.id = m.agent_id
       where ${condition} order by m.id for no key update of m
    ),
    ${define(MINE)} as materialized (
      select h.* from ${HELD} h join job j on j.id = h.job_id and j.agent_id = h.agent_id where j.lease_owner = h.owner for no key update of j
    ),
    ${define(BEFORE)} as materialized (
      select ${COLUMNS.before} from ${MINE} join recipient r on r.message_id = mine.message_id and r.agent_id = mine.agent_id for no key update of r
    )`

/** Whether all recipients of a message had the status on which its outcome rests. */
const IS_SURE = sql`message_id <> all(array(select message_id from ${COMPARED} where not expected))`

/** Puts those on the suppression list to whom nothing more is sent. */
const SUPPRESS = sql`
    ${define(REFUSED)} as (
      select agent_id, channel, recipient, 'bounce'::"SuppressionReason" as reason, suppress as detail, at as created_at
        from ${AFTER} where suppress is not null
    ),${suppressAll(REFUSED)},`

const NO_EVENTS = {
  logs: empty,
  condition: sql`not (${LOGS_MORE})`,
  parts: empty,
  select: sql`select d.id as job_id, null as id from done d`,
}
const EVENTS = {
  logs: sql`${define(LOGS)} as materialized (${lockLogs(ATTEMPT)}),`,
  condition: sql`(select count(*) from ${LOGS}) >= 0`,
  parts: sql`${LOG_OUTCOMES},`,
  select: sql`select d.id as job_id, ${APPENDED_COLUMNS} from done d left join ${APPENDED} e on e.id = d.message_id and e.agent_id = d.agent_id`,
}

/**
 * Locks the messages, then all of their recipients, before it writes anything: a row that is locked is read as
 * it is by then, so two reports about one message that arrive at once cannot each see the other's recipient as
 * still in progress. What becomes of a message rests on the status that its recipients had. A bounce or report may have
 * come before the attempt ended, and an earlier attempt may have reached some of them: a message of which one recipient
 * has another status than the attempt says is skipped. Messages are locked in the order of their ids, so that two
 * batches never wait for each other; before them the logs that may get an event. The attempts and the outcomes of
 * recipients are JSON.
 */
const settling = (name: string, events: typeof EVENTS, suppress: Sql) =>
  statement<{ attempts: string; outcomes: string }>(
    name,
    ({ attempts, outcomes }) => sql`
    with
    ${define(ATTEMPT)} as materialized (
      select * from json_to_recordset(${attempts}::json) as a(id uuid, agent_id uuid, message_id uuid, owner uuid, state "JobState", due_at timestamptz,
                                                     entry jsonb, at timestamptz, status "MessageStatus", error text)
    ),
    ${events.logs}
${lock(events.condition)},
    ${define(OUTCOME)} as materialized (
      select * from json_to_recordset(${outcomes}::json) as o(message_id uuid, address text, was "RecipientStatus", told boolean, status "RecipientStatus",
                                                     detail text, provider_id text, suppress text, recipient text)
    ),
    ${define(COMPARED)} as materialized (
      select b.message_id, b.agent_id, b.channel, b.at, b.address, o.was is not distinct from b.status as expected, o.told, o.status,
             coalesce(o.detail, b.detail) as detail, coalesce(o.provider_id, b.provider_id) as provider_id, o.suppress, o.recipient
        from ${BEFORE} b left join ${OUTCOME} o on o.message_id = b.message_id and o.address = b.address
    ),
    ${define(SURE)} as materialized (select * from ${MINE} where ${IS_SURE}),
    ${define(AFTER)} as materialized (select * from ${COMPARED} where told and ${IS_SURE}),
    recipients as (
      update recipient r set status = a.status, detail = a.detail, provider_id = a.provider_id, updated_at = a.at
        from ${AFTER} a where r.message_id = a.message_id and r.agent_id = a.agent_id and r.address = a.address
    ),
    ${suppress}
    ${define(CONCLUDED)} as (
      select s.message_id, s.agent_id, s.was, s.at, a.status, a.error from ${SURE} s join ${ATTEMPT} a on a.id = s.job_id where a.status is not null
    ),${CONCLUDE},${events.parts}
    done as (
      update job j set state = a.state, due_at = a.due_at, attempts = attempts + 1, log = log || a.entry, lease_owner = null, lease_until = null
        from ${SURE} join ${ATTEMPT} a on a.id = sure.job_id where j.id = a.id and j.agent_id = sure.agent_id
      returning j.id, j.agent_id, a.message_id
    )
    ${events.select}`,
  )

/**
 * Writes that messages were sent to their only recipients. Such a recipient is not locked first: the one row that is
 * updated says whether it still had the status on which the outcome rests, so the parts that compare recipients are left
 * out (docs/decisions.md#parts-of-a-statement).
 */
export const SETTLE_SENT = statement<{ attempts: string }>(
  'settle sent',
  ({ attempts }) => sql`
    with
    ${define(SENT_TO)} as materialized (
      select * from json_to_recordset(${attempts}::json) as a(id uuid, agent_id uuid, message_id uuid, owner uuid, entry jsonb, at timestamptz,
                                                     address text, provider_id text)
    ),
    ${define(LOCKED)} as materialized (
      select m.status as was, a.* from ${SENT_TO} a join message m on m.id = a.message_id and m.agent_id = a.agent_id
        join job j on j.id = a.id and j.agent_id = a.agent_id
       where j.lease_owner = a.owner and (select ${NO_EVENTS.condition} from agent g where g.id = a.agent_id) order by m.id for no key update of m, j
    ),
    ${define(REACHED)} as (
      update recipient r set status = 'sent', provider_id = coalesce(l.provider_id, r.provider_id), updated_at = l.at from ${LOCKED} l
       where r.message_id = l.message_id and r.agent_id = l.agent_id and r.address = l.address and r.status = 'sending'
      returning l.id, l.message_id, l.agent_id, l.was, l.at, l.entry
    ),
    ${define(CONCLUDED)} as (
      select message_id, agent_id, was, at, 'sent'::"MessageStatus" as status, null::text as error from ${REACHED}
    ),${CONCLUDE},
    done as (
      update job j set state = 'delivered', due_at = null, attempts = attempts + 1, log = log || l.entry, lease_owner = null, lease_until = null
        from ${REACHED} l where j.id = l.id and j.agent_id = l.agent_id
      returning j.id
    )
    ${NO_EVENTS.select}`,
)

/** Without the parts for events, for agents that log received messages only (docs/decisions.md#settling-without-events). */
export const SETTLE = {
  plain: settling('settle sends', NO_EVENTS, empty),
  suppressing: settling('settle sends and suppress', NO_EVENTS, SUPPRESS),
}
/** For all agents. */
export const SETTLE_LOGGED = {
  plain: settling('settle logged sends', EVENTS, empty),
  suppressing: settling('settle logged sends and suppress', EVENTS, SUPPRESS),
}
