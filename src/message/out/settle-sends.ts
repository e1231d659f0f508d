import { suppressAll } from '../../agent/suppression.ts'
import { lowerCase } from '../../core/lower-case.ts'
import { type Batch, createBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { amongAgents, dialect } from '../../db/dialect.ts'
import type { JobState, RecipientStatus } from '../../db/generated/prisma/enums.ts'
import { APPENDED_COLUMNS, type AppendedRow, LOGS_MORE, lockLogs, toAppended } from '../../event/append.ts'
import type { LoggedEvent } from '../../event/event.ts'
import type { SendJob } from './send-job.ts'
import { CONCLUDE, conclusionsFrom, LOG_OUTCOMES } from './status.ts'

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

const REFUSED = `
    refused as (
      select b.agent_id, b.channel, o.recipient, 'bounce'::"SuppressionReason" as reason, o.suppress as detail, b.at as created_at
        from before b join outcome o on o.message_id = b.message_id and o.address = b.address where o.suppress is not null
    )`

const HELD = 'm.id as message_id, m.agent_id, m.channel, m.status as was, a.id as job_id, a.owner, a.at'
const BEFORE =
  'r.message_id, r.agent_id, r.address, r.status, r.detail, r.provider_id, mine.channel, mine.was, mine.at'

/** Locks the messages, the jobs and the recipients. Citus locks rows of several agents by an update only. */
const locked = (condition: string): string =>
  dialect(
    `
    held as materialized (
      select ${HELD} from attempt a join message m on m.id = a.message_id and m.agent_id = a.agent_id join agent g on g.id = m.agent_id
       where ${condition} order by m.id for no key update of m
    ),
    mine as materialized (
      select h.* from held h join job j on j.id = h.job_id and j.agent_id = h.agent_id where j.lease_owner = h.owner for no key update of j
    ),
    before as materialized (
      select ${BEFORE} from mine join recipient r on r.message_id = mine.message_id and r.agent_id = mine.agent_id for no key update of r
    )`,
    `
    held as (
      update message m set status = m.status from attempt a join agent g on g.id = a.agent_id
       where m.id = a.message_id and m.agent_id = a.agent_id${amongAgents('m.agent_id')} and ${condition} returning ${HELD}
    ),
    mine as (
      update job j set state = j.state from held h where j.id = h.job_id and j.agent_id = h.agent_id${amongAgents('j.agent_id')} and j.lease_owner = h.owner returning h.*
    ),
    before as (
      update recipient r set status = r.status from mine where r.message_id = mine.message_id and r.agent_id = mine.agent_id${amongAgents('r.agent_id')} returning ${BEFORE}
    )`,
  )

/**
 * $1 attempts and $2 outcomes of recipients, as JSON.
 *
 * Locks the messages, then all of their recipients, before it decides anything: a row that is locked is read as
 * it is by then, so two reports about one message that arrive at once cannot each see the other's recipient as
 * still in progress. A bounce or report may also have come before the attempt ended; recipients it has updated
 * are left alone. Messages are locked in the order of their ids, so that two batches never wait for each other;
 * before them the logs that may get an event.
 */
const settling = ({ logged, suppresses }: { logged: boolean; suppresses: boolean }): string => `
    with
    attempt as materialized (
      select * from json_to_recordset($1::json) as a(id uuid, agent_id uuid, message_id uuid, owner uuid, state "JobState", due_at timestamptz,
                                                     entry jsonb, at timestamptz)
    ),
    ${logged ? `logs as materialized (${lockLogs('attempt')}),` : ''}
${locked(logged ? '(select count(*) from logs) >= 0' : `not (${LOGS_MORE})`)},
    outcome as materialized (
      select * from json_to_recordset($2::json) as o(message_id uuid, address text, status "RecipientStatus", detail text, provider_id text,
                                                     suppress text, recipient text)
    ),
    after as materialized (
      select b.message_id, b.agent_id, b.address, o.address is not null as told, b.was, b.at,
             case when b.status = 'sending' and o.address is not null then o.status else b.status end as status,
             case when b.status = 'sending' and o.detail is not null then o.detail else b.detail end as detail,
             coalesce(o.provider_id, b.provider_id) as provider_id
        from before b left join outcome o on o.message_id = b.message_id and o.address = b.address
    ),
    recipients as (
      update recipient r set status = a.status, detail = a.detail, provider_id = a.provider_id, updated_at = a.at
        from after a where a.told and r.message_id = a.message_id and r.agent_id = a.agent_id and r.address = a.address ${dialect('', amongAgents('r.agent_id'))}
    ),
    ${suppresses ? `${REFUSED},${suppressAll('refused')},` : ''}
    concluded as (${conclusionsFrom('after')}),${CONCLUDE},${logged ? `${LOG_OUTCOMES},` : ''}
    done as (
      update job j set state = a.state, due_at = a.due_at, attempts = attempts + 1, log = log || a.entry, lease_owner = null, lease_until = null
        from mine join attempt a on a.id = mine.job_id where j.id = a.id and j.agent_id = mine.agent_id ${dialect('', amongAgents('j.agent_id'))}
      returning j.id, j.agent_id, a.message_id
    )
    ${logged ? `select d.id as job_id, ${APPENDED_COLUMNS} from done d left join appended e on e.id = d.message_id and e.agent_id = d.agent_id` : 'select d.id as job_id, null as id from done d'}`

const statementOf = (logged: boolean, suppresses: boolean) => ({
  name: `settle ${logged ? 'logged ' : ''}sends${suppresses ? ' and suppress' : ''}`,
  text: settling({ logged, suppresses }),
})
const variantsOf = (logged: boolean) => ({
  plain: statementOf(logged, false),
  suppressing: statementOf(logged, true),
})

/** Without the parts for events, for agents that log received messages only (docs/decisions.md#settling-without-events). */
const SETTLE = variantsOf(false)
/** For all agents. */
const SETTLE_LOGGED = variantsOf(true)

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
  const { rows } = await pool.query<{ job_id: string } & AppendedRow>({
    ...(suppresses ? suppressing : plain),
    agents: settlements.map(({ job }) => job.agentId),
    values: [
      JSON.stringify(settlements.map(toAttempt)),
      JSON.stringify(settlements.flatMap((settlement) => toOutcomes(settlement))),
    ],
  })
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
