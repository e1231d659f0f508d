import { entryOf, sayOutcome } from './attempt.ts'
import type { Lane } from './lane.ts'
import type { LaneJob, ManualDelivery } from './lane-job.ts'
import type { Outcome } from './post.ts'
import type { Settled } from './progress.ts'
import type { LaneProgress } from './progress-writer.ts'

/** An attempt that was made: when it began and how it went. */
export interface AttemptResult {
  at: Date
  outcome: Outcome
}

/** When it ended, and what its retry's jitter is made of. */
interface Moment {
  now: Date
  random: number
}

/**
 * The mark of a webhook that an event was given up for, in front of its newest error. It stays until the
 * webhook takes an event.
 */
const marked = (lane: Lane, error: string): string =>
  lane.error?.startsWith(lane.policy.givenUp) ? `${lane.policy.givenUp}: ${error}` : error

/** What an attempt means for its lane and its job. A receiver that is gone for good is the caller's. */
export const recordOutcome = (
  lane: Lane,
  job: LaneJob | ManualDelivery,
  made: AttemptResult,
  moment: Moment,
): LaneProgress => {
  if (!('event' in job)) return answer(lane, job, made)
  return made.outcome.kind === 'failed'
    ? tryLater(lane, job, { ...made, outcome: made.outcome }, moment)
    : goOn(lane, job, made)
}

/** Delivered, or too large for the receiver: the next event's turn. */
const goOn = (lane: Lane, job: LaneJob, { at, outcome }: AttemptResult): LaneProgress => {
  const delivered = outcome.kind === 'delivered'
  const recovered = lane.failing ? { recovered: true as const } : {}
  lane.error = null
  lane.failing = false
  lane.advance()
  return {
    progress: lane.progress({ lastDeliveredAt: delivered ? at : null, ...recovered }),
    settled: settle(lane, job, {
      state: delivered ? 'delivered' : 'skipped',
      attempts: job.attempts + 1,
      entry: entryOf(outcome, at),
    }),
  }
}

/** Failed: the same event again when it is due, by whichever worker is free then. */
const tryLater = (
  lane: Lane,
  job: LaneJob,
  { at, outcome }: AttemptResult & { outcome: { kind: 'failed' } },
  { now, random }: Moment,
): LaneProgress => {
  lane.failures++
  lane.error = marked(lane, sayOutcome(outcome))
  lane.failing = true
  const entry = entryOf(outcome, at)
  if (lane.policy.isOver(job.since, lane.failures, now)) {
    const { progress, settled } = giveUp(lane, job, now)
    return {
      progress: { ...progress, failedAt: at },
      settled: { ...settled, attempts: job.attempts + 1, entry },
    }
  }
  const { retryAfterMs } = outcome
  lane.retryAt = lane.policy.nextAttemptAt({
    failures: lane.failures,
    createdAt: job.since,
    now,
    retryAfterMs,
    random,
  })
  return {
    progress: lane.progress({ release: true, failedAt: at }),
    settled: settle(lane, job, { state: 'pending', attempts: job.attempts + 1, entry }),
  }
}

/**
 * What somebody asked for is tried once: who asked will look, and may ask again. It says nothing of the
 * events: the lane goes on where it was, and so does its schedule.
 */
const answer = (
  lane: Lane,
  { seq, attempts }: ManualDelivery,
  { at, outcome }: AttemptResult,
): LaneProgress => {
  lane.answer()
  const state =
    outcome.kind === 'delivered' ? 'delivered' : outcome.kind === 'too_large' ? 'skipped' : 'expired'
  return {
    progress: lane.progress(),
    settled: { lane: lane.id, seq, state, attempts: attempts + 1, entry: entryOf(outcome, at) },
  }
}

/** Its time is over. The lane says so until it takes an event again. */
export const giveUp = (lane: Lane, job: LaneJob, now: Date): LaneProgress & { settled: Settled } => {
  const { givenUp, kind } = lane.policy
  if (!lane.error?.startsWith(givenUp)) lane.error = lane.error ? `${givenUp}: ${lane.error}` : givenUp
  lane.advance()
  return {
    // Whoever subscribed hears of it from its own receiver, or from the next renewal: nobody is written a
    // mail.
    progress: lane.progress(kind === 'webhook' ? { givenUpAt: now } : {}),
    settled: settle(lane, job, { state: 'expired', attempts: job.attempts, entry: null }),
  }
}

const settle = (lane: Lane, { seq }: LaneJob, what: Omit<Settled, 'lane' | 'seq'>): Settled => ({
  lane: lane.id,
  seq,
  ...what,
})
