import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { eventIdOf, handoverBinding } from '../event/event.ts'
import type { Keyring } from '../workspace/keyring.ts'
import { deliver, type Outcome } from './deliver.ts'
import type { AskedJob, Lane, LaneJob } from './lane.ts'
import { payloadOf } from './payload.ts'
import { keysAt } from './secret.ts'
import { signedHeaders } from './sign.ts'

export interface AttemptDeps {
  keyring: Keyring
  log: Logger
  attemptMs: number
}

const eventIdOfJob = (job: LaneJob | AskedJob): string => ('event' in job ? eventIdOf(job.event) : job.eventId)

const bodyOf = async ({ keyring }: AttemptDeps, lane: Lane, job: LaneJob | AskedJob): Promise<Buffer> => {
  if ('body' in job) return job.body
  const { event, payload } = job
  const text = payload && (await keyring.open(lane.workspaceId, payload, handoverBinding(event.messageId))).toString()
  return Buffer.from(payloadOf(text === null ? event : { ...event, text }))
}

/** Posts a lane's job once. Never rejects: what fails on our side is an outcome too, and tried again like the rest. */
export const attemptJob = async (deps: AttemptDeps, lane: Lane, job: LaneJob | AskedJob, now: Date): Promise<Outcome> => {
  try {
    if (!lane.keys) throw new Error('the signing secret could not be opened')
    const body = await bodyOf(deps, lane, job)
    const headers = signedHeaders(keysAt(lane.keys, now), eventIdOfJob(job), now, body)
    return await deliver(lane.connection, { headers, body, now, timeoutMs: deps.attemptMs })
  } catch (error) {
    deps.log.error({ webhookId: lane.id, event: eventIdOfJob(job), error: messageOf(error) }, 'a delivery could not be prepared')
    return { kind: 'failed', error: 'internal: the delivery could not be prepared', ms: 0, retryAfterMs: 0 }
  }
}

/** An outcome as the entry that the job's log keeps. */
export const entryOf = (outcome: Outcome, at: Date) =>
  'error' in outcome ? { at, error: outcome.error, ms: outcome.ms } : { at, status: outcome.status, ms: outcome.ms }

/** A failed outcome in words, for the webhook's `error`. */
export const sayOutcome = (outcome: Outcome): string => {
  if ('error' in outcome) return outcome.error
  const redirected = outcome.status >= 300 && outcome.status < 400
  return `answered ${outcome.status}${redirected ? ' (redirects are not followed)' : ''}`
}

/** One line per attempt. The URL stays out: its path and query may hold the receiver's own secrets. */
export const logAttempt = ({ log }: AttemptDeps, lane: Lane, job: LaneJob | AskedJob, outcome: Outcome, retryAt: Date | null): void => {
  const fields = {
    webhookId: lane.id,
    agentId: lane.agentId,
    workspaceId: lane.workspaceId,
    event: eventIdOfJob(job),
    ...('event' in job ? { channel: job.event.channel } : { asked: true }),
    attempt: job.attempts + 1,
    outcome: outcome.kind,
    ...('error' in outcome ? { error: outcome.error } : { status: outcome.status }),
    ms: outcome.ms,
    retryAt,
  }
  if (outcome.kind === 'delivered') log.info(fields, 'webhook delivered')
  else log.info(fields, 'webhook not delivered')
}
