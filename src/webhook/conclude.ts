import type { Settled } from '../job/lane.ts'
import { entryOf, sayOutcome } from './attempt.ts'
import type { Outcome } from './deliver.ts'
import type { AskedJob, Lane, LaneJob } from './lane.ts'
import { nextAttemptAt } from './schedule.ts'
import type { Conclusion } from './settler.ts'

/** An attempt that was made: when it began and how it went. */
export interface Made {
  at: Date
  outcome: Outcome
}

/** When it ended, and what its retry's jitter is made of. */
interface Moment {
  now: Date
  random: number
}

const GIVEN_UP = 'an event was given up after 3 days'

/** The mark of a webhook that an event was given up for, in front of its newest error. It stays until the webhook takes an event. */
const marked = (lane: Lane, error: string): string => (lane.error?.startsWith(GIVEN_UP) ? `${GIVEN_UP}: ${error}` : error)

/** What an attempt means for its lane and its job. A receiver that is gone for good is the caller's. */
export const conclude = (lane: Lane, job: LaneJob | AskedJob, made: Made, moment: Moment): Conclusion => {
  if (!('event' in job)) return answer(lane, job, made)
  return made.outcome.kind === 'failed' ? tryLater(lane, job, { ...made, outcome: made.outcome }, moment) : goOn(lane, job, made)
}

/** Delivered, or too large for the receiver: the next event's turn. */
const goOn = (lane: Lane, job: LaneJob, { at, outcome }: Made): Conclusion => {
  const delivered = outcome.kind === 'delivered'
  const recovered = lane.ailing ? { recovered: true as const } : {}
  lane.error = null
  lane.ailing = false
  lane.advance()
  return {
    progress: lane.progress({ lastDeliveredAt: delivered ? at : null, ...recovered }),
    settled: settle(lane, job, { state: delivered ? 'delivered' : 'skipped', attempts: job.attempts + 1, entry: entryOf(outcome, at) }),
  }
}

/** Failed: the same event again when it is due, by whichever worker is free then. */
const tryLater = (
  lane: Lane,
  job: LaneJob,
  { at, outcome }: Made & { outcome: { kind: 'failed' } },
  { now, random }: Moment,
): Conclusion => {
  lane.failures++
  lane.error = marked(lane, sayOutcome(outcome))
  lane.ailing = true
  const { retryAfterMs } = outcome
  lane.retryAt = nextAttemptAt({ failures: lane.failures, createdAt: job.since, now, retryAfterMs, random })
  return {
    progress: lane.progress({ release: true, failedAt: at }),
    settled: settle(lane, job, { state: 'pending', attempts: job.attempts + 1, entry: entryOf(outcome, at) }),
  }
}

/**
 * What somebody asked for is tried once: who asked will look, and may ask again. It says nothing of the events: the lane goes on where it
 * was, and so does its schedule.
 */
const answer = (lane: Lane, { seq, attempts }: AskedJob, { at, outcome }: Made): Conclusion => {
  lane.answer()
  const state = outcome.kind === 'delivered' ? 'delivered' : outcome.kind === 'too_large' ? 'skipped' : 'expired'
  return { progress: lane.progress(), settled: { lane: lane.id, seq, state, attempts: attempts + 1, entry: entryOf(outcome, at) } }
}

/** Its time is over. The lane says so until it takes an event again. */
export const giveUp = (lane: Lane, job: LaneJob, now: Date): Conclusion => {
  if (!lane.error?.startsWith(GIVEN_UP)) lane.error = lane.error ? `${GIVEN_UP}: ${lane.error}` : GIVEN_UP
  lane.advance()
  return {
    progress: lane.progress({ givenUpAt: now }),
    settled: settle(lane, job, { state: 'expired', attempts: job.attempts, entry: null }),
  }
}

const settle = (lane: Lane, { event }: LaneJob, what: Omit<Settled, 'lane' | 'seq'>): Settled => ({ lane: lane.id, seq: event.id, ...what })
