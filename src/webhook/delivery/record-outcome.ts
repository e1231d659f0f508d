import { describeOutcome, entryOf } from './attempt.ts'
import type { Lane } from './lane.ts'
import type { LaneJob, ManualDelivery } from './lane-job.ts'
import type { Outcome } from './post.ts'
import type { Settled } from './progress.ts'
import type { LaneProgress } from './progress-writer.ts'

/** An attempt: when it began and how it went. */
export interface AttemptResult {
  at: Date
  outcome: Outcome
}

/** When the attempt ended, and the jitter of its retry, from 0 to below 1. */
interface Moment {
  now: Date
  random: number
}

/** What an attempt means for its lane and its job. The caller handles receivers that are gone for good. */
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

/** Delivered, or too large for the receiver: the next event's turn. */
const recordCompletion = (lane: Lane, job: LaneJob, { at, outcome }: AttemptResult): LaneProgress => {
  const delivered = outcome.kind === 'delivered'
  const recovered = lane.completed() ? { recovered: true as const } : {}
  return {
    progress: lane.progress({ lastDeliveredAt: delivered ? at : null, ...recovered }),
    settled: settle(lane, job, {
      state: delivered ? 'delivered' : 'skipped',
      attempts: job.attempts + 1,
      entry: entryOf(outcome, at),
    }),
  }
}

/** Failed: the same event again when it is due, by whichever worker is free then, unless its time is over. */
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
  const attempt = { attempts: job.attempts + 1, entry: entryOf(outcome, at) }
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
 * A manual delivery is tried once: whoever requested it sees the result and can request another one. It says
 * nothing about the events.
 */
const recordManual = (
  lane: Lane,
  { seq, attempts }: ManualDelivery,
  { at, outcome }: AttemptResult,
): LaneProgress => {
  lane.manualFinished()
  const state =
    outcome.kind === 'delivered' ? 'delivered' : outcome.kind === 'too_large' ? 'skipped' : 'expired'
  return {
    progress: lane.progress(),
    settled: { lane: lane.id, seq, state, attempts: attempts + 1, entry: entryOf(outcome, at) },
  }
}

/** The time of the lane's first event is over: the next event's turn. */
export const giveUp = (lane: Lane, job: LaneJob, now: Date): LaneProgress & { settled: Settled } => {
  lane.gaveUp()
  return {
    // Owners get an email about webhooks only. MCP clients learn of it when they renew their subscription.
    progress: lane.progress(lane.policy.kind === 'webhook' ? { givenUpAt: now } : {}),
    settled: settle(lane, job, { state: 'expired', attempts: job.attempts, entry: null }),
  }
}

const settle = (lane: Lane, { seq }: LaneJob, what: Omit<Settled, 'lane' | 'seq'>): Settled => ({
  lane: lane.id,
  seq,
  ...what,
})
