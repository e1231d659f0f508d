import type { Progress, Settled } from '../job/lane.ts'
import { entryOf, sayOutcome } from './attempt.ts'
import type { Outcome } from './deliver.ts'
import type { Lane, LaneJob } from './lane.ts'
import { nextAttemptAt } from './schedule.ts'

/** What is to be written after a job's turn: where its lane stands now, and what became of the job. */
export interface Conclusion {
  progress: Progress
  settled: Settled
}

const GIVEN_UP = 'an event was given up after 3 days'

/** Delivered, or too large for the receiver: the next event's turn. */
export const goOn = (lane: Lane, job: LaneJob, at: Date, outcome: Outcome): Conclusion => {
  const delivered = outcome.kind === 'delivered'
  lane.error = null
  lane.advance()
  return {
    progress: lane.progress({ lastDeliveredAt: delivered ? at : null }),
    settled: settle(lane, job, { state: delivered ? 'delivered' : 'skipped', attempts: job.attempts + 1, entry: entryOf(outcome, at) }),
  }
}

/** Failed: the same event again when it is due, by whichever worker is free then. */
export const tryLater = (
  lane: Lane,
  job: LaneJob,
  at: Date,
  outcome: Outcome & { kind: 'failed' },
  { now, random }: { now: Date; random: number },
): Conclusion => {
  lane.failures++
  lane.error = sayOutcome(outcome)
  const { createdAt } = job.event
  const retryAt = nextAttemptAt({ failures: lane.failures, createdAt, now, retryAfterMs: outcome.retryAfterMs, random })
  return {
    progress: lane.progress({ retryAt, release: true }),
    settled: settle(lane, job, { state: 'pending', attempts: job.attempts + 1, entry: entryOf(outcome, at) }),
  }
}

/** Its time is over. The lane keeps the error, until the next event's attempt says something newer. */
export const giveUp = (lane: Lane, job: LaneJob): Conclusion => {
  if (!lane.error?.startsWith(GIVEN_UP)) lane.error = lane.error ? `${GIVEN_UP}: ${lane.error}` : GIVEN_UP
  lane.advance()
  return { progress: lane.progress(), settled: settle(lane, job, { state: 'expired', attempts: job.attempts, entry: null }) }
}

const settle = (lane: Lane, { event }: LaneJob, what: Omit<Settled, 'lane' | 'seq'>): Settled => ({ lane: lane.id, seq: event.id, ...what })
