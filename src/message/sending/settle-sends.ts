import { lowerCase } from '../../core/text/lower-case.ts'
import { type Batch, createBatch, PartlyWritten } from '../../db/batch.ts'
import { type Db, isUnavailable, type Statements } from '../../db/client.ts'
import type { JobState } from '../../db/generated/prisma/enums.ts'
import { within } from '../../db/transaction.ts'
import { type AppendedRow, type LoggedEvent, toAppended } from '../../event/index.ts'
import { conclusionOf, type RecipientState } from '../stored/conclusion.ts'
import type { SendJob } from '../stored/send-job.ts'
import { lockMessage, readRecipients } from '../stored/status.ts'
import { afterAttempt, allInProgress, type RecipientAfter, type RecipientOutcome } from './outcome.ts'
import { SETTLE, SETTLE_LOGGED, SETTLE_SENT } from './settling-statement.ts'

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
  /** Whether the message has one recipient alone. */
  isSingle: boolean
  /** Of the recipients that the attempt was for, in the order of their addresses. */
  recipients: readonly RecipientOutcome[]
}

/** The outcome of an attempt with all recipients of its message. */
interface Decided extends Settlement {
  after: readonly RecipientAfter[]
}

const decidedOf = (settlement: Settlement, before: readonly RecipientState[]): Decided => ({
  ...settlement,
  after: afterAttempt(before, settlement.recipients),
})

const commonOf = ({ job, entry, at }: Settlement) => ({
  id: job.id,
  agent_id: job.agentId,
  message_id: job.messageId,
  owner: job.owner,
  entry: [{ ...entry, ms: Math.round(entry.ms) }],
  at,
})

const toAttempt = (decided: Decided) => ({
  ...commonOf(decided),
  state: decided.state,
  due_at: decided.dueAt,
  ...conclusionOf(decided.after),
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

/** Whether a message has reached its only recipient, as most do. */
const isSent = ({ isSingle, state, recipients: [one, ...others] }: Settlement): boolean =>
  isSingle && state === 'delivered' && others.length === 0 && one?.status === 'sent' && one.detail === null

const writeSent = async (
  { pool }: Pick<Statements, 'pool'>,
  settlements: readonly Settlement[],
): Promise<Map<string, LoggedEvent[]>> => {
  const attempts = settlements.map((each) => {
    const { address, providerId } = each.recipients[0]!
    return { ...commonOf(each), address, provider_id: providerId }
  })
  const { rows } = await pool.query<{ job_id: string }>(SETTLE_SENT({ attempts: JSON.stringify(attempts) }))
  return new Map(rows.map(({ job_id }) => [job_id, []]))
}

const settledOf = (events: LoggedEvent[] | undefined): Settled => ({
  written: events !== undefined,
  events: events ?? [],
})

/**
 * Writes the outcome of attempts: recipients, messages, jobs and logs change together. Does not write those of jobs
 * that the worker no longer holds, nor those of messages with a recipient that the attempt was not for or that has
 * become final meanwhile: see `settleLocked`. Throws `PartlyWritten` when some are written.
 */
export const settleSends = async (
  db: Pick<Db, 'pool'>,
  settlements: readonly Settlement[],
): Promise<Settled[]> => {
  const decided = settlements.map((each) => decidedOf(each, allInProgress(each.recipients)))
  const plain = await (decided.every(isSent) ? writeSent(db, decided) : write(db, SETTLE, decided))
  const others = decided.filter(({ job }) => !plain.has(job.id))
  try {
    const logged = others.length > 0 ? await write(db, SETTLE_LOGGED, others) : plain
    return settlements.map(({ job }) => settledOf(plain.get(job.id) ?? logged.get(job.id)))
  } catch (error) {
    if (plain.size === 0) throw error
    const written = settlements.map(({ job }) =>
      plain.has(job.id) ? settledOf(plain.get(job.id)) : undefined,
    )
    throw new PartlyWritten(written, error)
  }
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
