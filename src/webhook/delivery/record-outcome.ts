import { describeOutcome, type Outcome } from '../post/post.ts'
import { entryOf } from './attempt.ts'
import type { Lane } from './lane/lane.ts'
import type { LaneJob, ManualDelivery } from './lane/lane-job.ts'
import type { Settled } from './lane/progress.ts'
import type { LaneProgress } from './progress-writer.ts'

/** The start time and the outcome of an attempt. */
export interface AttemptResult {
  at: Date
  outcome: Outcome
}

/** The time when the attempt ended, and the jitter of its retry, from 0 to below 1. */
interface Moment {
  now: Date
  random: number
}

/**
 * Applies an attempt's outcome to its lane and job. The caller handles receivers that are permanently gone.
 */
export const recordOutcome = (
  lane: Lane,
  job: LaneJob | ManualDelivery,
  result: AttemptResult,
  moment: Moment,
): LaneProgress => {
  if (!('event' in job)) return recordManual(lane, job, result)
  return result.outcome.kind === 'failed'
    ? recordFailure(lane, job, { ...result, outcome: result.outcome }, moment)
    : recordCompletion(lane, job, result)
}

/** Records an event that was delivered or skipped; the lane continues with the next one. */
const recordCompletion = (lane: Lane, job: LaneJob, { at, outcome }: AttemptResult): LaneProgress => {
  const delivered = outcome.kind === 'delivered'
  const recovered = lane.completed() ? { recovered: true as const } : {}
  return {
    progress: lane.progress({ lastDeliveredAt: delivered ? at : null, ...recovered }),
    settled: settle(lane, job, {
      state: delivered ? 'delivered' : 'skipped',
      attempts: job.attempts + 1,
      entry: entryOf(outcome, at, job),
    }),
  }
}

/** Releases the lane until the event is due again, or gives the event up when its time is over. */
const recordFailure = (
  lane: Lane,
  job: LaneJob,
  { at, outcome }: AttemptResult & { outcome: { kind: 'failed' } },
  { now, random }: Moment,
): LaneProgress => {
  const { policy } = lane
  const failures = lane.failures + 1
  const { since: createdAt } = job
  const { retryAfterMs } = outcome
  const isOver = policy.isOver(createdAt, failures, now)
  const retryAt = isOver ? null : policy.nextAttemptAt({ failures, createdAt, now, retryAfterMs, random })
  lane.failed(describeOutcome(outcome), retryAt)
  const attempt = { attempts: job.attempts + 1, entry: entryOf(outcome, at, job) }
  if (isOver) {
    const { progress, settled } = giveUp(lane, job, now)
    return { progress: { ...progress, failedAt: at }, settled: { ...settled, ...attempt } }
  }
  return {
    progress: lane.progress({ release: true, failedAt: at }),
    settled: settle(lane, job, { state: 'pending', ...attempt }),
  }
}

/**
 * Records a manual delivery, which is attempted once: the user who requested it sees the result and can
 * request another one. It does not affect the events.
 */
const recordManual = (lane: Lane, job: ManualDelivery, { at, outcome }: AttemptResult): LaneProgress => {
  const { seq, attempts } = job
  lane.manualFinished()
  const state =
    outcome.kind === 'delivered' ? 'delivered' : outcome.kind === 'too_large' ? 'skipped' : 'expired'
  return {
    progress: lane.progress(),
    settled: { lane: lane.id, seq, state, attempts: attempts + 1, entry: entryOf(outcome, at, job) },
  }
}

/** Gives up the lane's first event; the lane continues with the next one. */
export const giveUp = (lane: Lane, job: LaneJob, now: Date): LaneProgress & { settled: Settled } => {
  lane.gaveUp()
  return {
    // Owners are emailed only about webhooks. MCP clients see the failure when they renew their subscription.
    progress: lane.progress(lane.policy.kind === 'webhook' ? { givenUpAt: now } : {}),
    settled: settle(lane, job, { state: 'expired', attempts: job.attempts, entry: null }),
  }
}

const settle = (lane: Lane, { seq }: LaneJob, what: Omit<Settled, 'lane' | 'seq'>): Settled => ({
  lane: lane.id,
  seq,
  ...what,
})
