import { suppressAll } from '../../agent/index.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable, type Statements } from '../../db/client.ts'
import type { JobState } from '../../db/generated/prisma/enums.ts'
import { define, empty, raw, rows, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import { within } from '../../db/transaction.ts'
import {
  APPENDED,
  APPENDED_COLUMNS,
  type AppendedRow,
  LOGS_MORE,
  type LoggedEvent,
  lockLogs,
  toAppended,
} from '../../event/index.ts'
import { conclusionOf, type RecipientState } from '../stored/conclusion.ts'
import type { SendJob } from '../stored/send-job.ts'
import { CONCLUDE, CONCLUDED, LOG_OUTCOMES, lockMessage, readRecipients } from '../stored/status.ts'
import { afterAttempt, allInProgress, type RecipientAfter, type RecipientOutcome } from './outcome.ts'

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
  /** Of the recipients that the attempt was for, in the order of their addresses. */
  recipients: readonly RecipientOutcome[]
}

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

/** The outcome of an attempt with all recipients of its message. */
interface Decided extends Settlement {
  after: readonly RecipientAfter[]
}

const decidedOf = (settlement: Settlement, before: readonly RecipientState[]): Decided => ({
  ...settlement,
  after: afterAttempt(before, settlement.recipients),
})

const toAttempt = ({ job, state, dueAt, entry, at, after }: Decided) => ({
  id: job.id,
  agent_id: job.agentId,
  message_id: job.messageId,
  owner: job.owner,
  state,
  due_at: dueAt,
  entry: [{ ...entry, ms: Math.round(entry.ms) }],
  at,
  ...conclusionOf(after),
})

const toOutcomes = ({ job, after }: Decided) =>
  after.map(({ address, providerId, ...outcome }) => ({
    message_id: job.messageId,
    ...outcome,
    address,
    provider_id: providerId,
    recipient: lowerCase(address),
  }))

/** Result of writing an outcome. */
interface Settled {
  written: boolean
  /** The event of the message's new status, if it raised one. */
  events: LoggedEvent[]
}

const write = async (
  { pool }: Pick<Statements, 'pool'>,
  { plain, suppressing }: typeof SETTLE,
  decided: readonly Decided[],
): Promise<Map<string, LoggedEvent[]>> => {
  const suppresses = decided.some(({ after }) => after.some(({ suppress }) => suppress !== null))
  const settle = suppresses ? suppressing : plain
  const attempts = JSON.stringify(decided.map(toAttempt))
  const outcomes = JSON.stringify(decided.flatMap(toOutcomes))
  const { rows } = await pool.query<{ job_id: string } & AppendedRow>(settle({ attempts, outcomes }))
  return new Map(rows.map((row) => [row.job_id, toAppended([row])]))
}

const settledOf = (events: LoggedEvent[] | undefined): Settled => ({
  written: events !== undefined,
  events: events ?? [],
})

/**
 * Writes the outcome of attempts: recipients, messages, jobs and logs change together. Does not write those of jobs
 * that the worker no longer holds, nor those of messages with a recipient that the attempt was not for or that has
 * become final meanwhile: see `settleLocked`.
 */
export const settleSends = async (
  db: Pick<Db, 'pool'>,
  settlements: readonly Settlement[],
): Promise<Settled[]> => {
  const decided = settlements.map((each) => decidedOf(each, allInProgress(each.recipients)))
  const plain = await write(db, SETTLE, decided)
  const others = decided.filter(({ job }) => !plain.has(job.id))
  const logged = others.length > 0 ? await write(db, SETTLE_LOGGED, others) : plain
  return settlements.map(({ job }) => settledOf(plain.get(job.id) ?? logged.get(job.id)))
}

/** As long as a statement may take: a result that is not written is sent again. */
const LOCKED_MS = 30_000

/**
 * Writes the outcome of one attempt, whatever the states of the message's recipients are: with the message locked, it
 * reads them first. Does not write it when the worker no longer holds the job.
 */
export const settleLocked = ({ prisma }: Pick<Db, 'prisma'>, settlement: Settlement): Promise<Settled> =>
  prisma.$transaction(
    async (tx) => {
      const { messageId: id, agentId } = settlement.job
      await lockMessage(tx, { id, agentId })
      const decided = decidedOf(settlement, await readRecipients(tx, { id, agentId }))
      const written = await write(within(tx), SETTLE_LOGGED, [decided])
      return settledOf(written.get(settlement.job.id))
    },
    { timeout: LOCKED_MS },
  )

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
