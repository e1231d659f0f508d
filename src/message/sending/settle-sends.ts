import { suppressAll } from '../../agent/index.ts'
import { lowerCase } from '../../core/lower-case.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { adaptable } from '../../db/dialect.ts'
import type { JobState, RecipientStatus } from '../../db/generated/prisma/enums.ts'
import { amongAgents, define, empty, raw, rows, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import {
  APPENDED,
  APPENDED_COLUMNS,
  type AppendedRow,
  LOGS_MORE,
  type LoggedEvent,
  lockLogs,
  toAppended,
} from '../../event/index.ts'
import type { SendJob } from '../stored/send-job.ts'
import { CONCLUDE, CONCLUDED, conclusionsFrom, LOG_OUTCOMES } from '../stored/status.ts'

/** What an attempt means for one recipient. */
export interface RecipientOutcome {
  address: string
  /** `sending`: it is tried again, or the provider will report. */
  status: RecipientStatus
  /** The other side's text; null leaves the one of an earlier attempt. */
  detail: string | null
  /** The id that the provider's reports will name; null leaves the stored one. */
  providerId: string | null
  /** Why nothing more is sent to this recipient, for the suppression list; null when it may be. */
  suppress: string | null
}

/** The outcome of one attempt to send a message. */
export interface Settlement {
  job: SendJob
  state: JobState
  /** When it is due again; null when it is finished. */
  dueAt: Date | null
  /** The attempt, in the format of the job's log. */
  entry: { at: Date; error?: string; ms: number }
  /** When it ended. */
  at: Date
  recipients: readonly RecipientOutcome[]
}

const ATTEMPT = rows('attempt', 'id', 'agent_id', 'message_id', 'owner', 'state', 'due_at', 'entry', 'at')
const HELD = rows('held', 'message_id', 'agent_id', 'channel', 'was', 'job_id', 'owner', 'at')
const MINE = rows('mine', 'message_id', 'agent_id', 'channel', 'was', 'job_id', 'owner', 'at')
const BEFORE = rows('before', 'message_id', 'agent_id', 'address', 'status', 'detail', 'provider_id')
const OUTCOME = rows('outcome', 'message_id', 'address', 'suppress', 'recipient')
const REFUSED = rows('refused', 'agent_id', 'channel', 'recipient', 'reason', 'detail', 'created_at')
const AFTER = rows('after', 'message_id', 'agent_id', 'address', 'status', 'detail', 'was', 'at')
const LOGS = rows('logs', 'agent_id')

const COLUMNS = {
  held: raw('m.id as message_id, m.agent_id, m.channel, m.status as was, a.id as job_id, a.owner, a.at'),
  before: raw(
    'r.message_id, r.agent_id, r.address, r.status, r.detail, r.provider_id, mine.channel, mine.was, mine.at',
  ),
}

/** Locks the messages, the jobs and the recipients of the attempts. */
const lock = (condition: Sql): Sql =>
  adaptable(
    'lock sends',
    { held: HELD, mine: MINE, before: BEFORE, attempt: ATTEMPT, condition, columns: COLUMNS },
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
    )`,
  )

/** Puts those on the suppression list to whom nothing more is sent. */
const SUPPRESS = sql`
    ${define(REFUSED)} as (
      select b.agent_id, b.channel, o.recipient, 'bounce'::"SuppressionReason" as reason, o.suppress as detail, b.at as created_at
        from ${BEFORE} b join ${OUTCOME} o on o.message_id = b.message_id and o.address = b.address where o.suppress is not null
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
 * Locks the messages, then all of their recipients, before it decides anything: a row that is locked is read as
 * it is by then, so two reports about one message that arrive at once cannot each see the other's recipient as
 * still in progress. A bounce or report may also have come before the attempt ended; recipients it has updated
 * are left alone. Messages are locked in the order of their ids, so that two batches never wait for each other;
 * before them the logs that may get an event. The attempts and the outcomes of recipients are JSON.
 */
const settling = (name: string, events: typeof EVENTS, suppress: Sql) =>
  statement<{ attempts: string; outcomes: string }>(
    name,
    ({ attempts, outcomes }) => sql`
    with
    ${define(ATTEMPT)} as materialized (
      select * from json_to_recordset(${attempts}::json) as a(id uuid, agent_id uuid, message_id uuid, owner uuid, state "JobState", due_at timestamptz,
                                                     entry jsonb, at timestamptz)
    ),
    ${events.logs}
${lock(events.condition)},
    ${define(OUTCOME)} as materialized (
      select * from json_to_recordset(${outcomes}::json) as o(message_id uuid, address text, status "RecipientStatus", detail text, provider_id text,
                                                     suppress text, recipient text)
    ),
    ${define(AFTER)} as materialized (
      select b.message_id, b.agent_id, b.address, o.address is not null as told, b.was, b.at,
             case when b.status = 'sending' and o.address is not null then o.status else b.status end as status,
             case when b.status = 'sending' and o.detail is not null then o.detail else b.detail end as detail,
             coalesce(o.provider_id, b.provider_id) as provider_id
        from ${BEFORE} b left join ${OUTCOME} o on o.message_id = b.message_id and o.address = b.address
    ),
    recipients as (
      update recipient r set status = a.status, detail = a.detail, provider_id = a.provider_id, updated_at = a.at
        from ${AFTER} a where a.told and r.message_id = a.message_id and r.agent_id = a.agent_id and r.address = a.address ${amongAgents('r.agent_id')}
    ),
    ${suppress}
    ${define(CONCLUDED)} as (${conclusionsFrom(AFTER)}),${CONCLUDE},${events.parts}
    done as (
      update job j set state = a.state, due_at = a.due_at, attempts = attempts + 1, log = log || a.entry, lease_owner = null, lease_until = null
        from ${MINE} join ${ATTEMPT} a on a.id = mine.job_id where j.id = a.id and j.agent_id = mine.agent_id ${amongAgents('j.agent_id')}
      returning j.id, j.agent_id, a.message_id
    )
    ${events.select}`,
  )

/** Without the parts for events, for agents that log received messages only (docs/decisions.md#settling-without-events). */
const SETTLE = {
  plain: settling('settle sends', NO_EVENTS, empty),
  suppressing: settling('settle sends and suppress', NO_EVENTS, SUPPRESS),
}
/** For all agents. */
const SETTLE_LOGGED = {
  plain: settling('settle logged sends', EVENTS, empty),
  suppressing: settling('settle logged sends and suppress', EVENTS, SUPPRESS),
}

const toAttempt = ({ job, state, dueAt, entry, at }: Settlement) => ({
  id: job.id,
  agent_id: job.agentId,
  message_id: job.messageId,
  owner: job.owner,
  state,
  due_at: dueAt,
  entry: [{ ...entry, ms: Math.round(entry.ms) }],
  at,
})

/** The first outcome of each recipient: one may be refused for two reasons. */
const toOutcomes = ({ job, recipients }: Settlement) =>
  [...new Map(recipients.toReversed().map((each) => [each.address, each])).values()].map(
    ({ address, providerId, ...outcome }) => ({
      message_id: job.messageId,
      ...outcome,
      address,
      provider_id: providerId,
      recipient: lowerCase(address),
    }),
  )

/** Result of writing an outcome. It is not written when the worker no longer holds the job. */
interface Settled {
  written: boolean
  /** The event of the message's new status, if it raised one. */
  events: LoggedEvent[]
}

const write = async (
  { pool }: Pick<Db, 'pool'>,
  { plain, suppressing }: typeof SETTLE,
  settlements: readonly Settlement[],
): Promise<Map<string, LoggedEvent[]>> => {
  const suppresses = settlements.some(({ recipients }) =>
    recipients.some(({ suppress }) => suppress !== null),
  )
  const settle = suppresses ? suppressing : plain
  const attempts = JSON.stringify(settlements.map(toAttempt))
  const outcomes = JSON.stringify(settlements.flatMap((settlement) => toOutcomes(settlement)))
  const agents = settlements.map(({ job }) => job.agentId)
  const { rows } = await pool.query<{ job_id: string } & AppendedRow>(settle({ attempts, outcomes }, agents))
  return new Map(rows.map((row) => [row.job_id, toAppended([row])]))
}

/** Writes the outcome of attempts: recipients, messages, jobs and logs change together. */
export const settleSends = async (
  db: Pick<Db, 'pool'>,
  settlements: readonly Settlement[],
): Promise<Settled[]> => {
  const plain = await write(db, SETTLE, settlements)
  const others = settlements.filter(({ job }) => !plain.has(job.id))
  const logged = others.length > 0 ? await write(db, SETTLE_LOGGED, others) : plain
  return settlements.map(({ job }) => {
    const events = plain.get(job.id) ?? logged.get(job.id)
    return { written: events !== undefined, events: events ?? [] }
  })
}

/**
 * Collects the outcomes of attempts that end at the same time, so that they share a statement and a commit. One
 * that waits for a report about the same message delays the others no longer than that. The time is short, because
 * a mail whose server has accepted it is sent again if the process is killed before this is recorded.
 */
export type SettlementStore = Batch<Settlement, Settled>

export const createSettlementStore = (db: Pick<Db, 'pool'>): SettlementStore =>
  createBatch((settlements) => settleSends(db, settlements), {
    most: 50,
    parallel: 4,
    patienceMs: 10,
    isUnavailable,
  })
