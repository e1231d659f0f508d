import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Tracer } from '../../core/tracer.ts'
import { eventIdOf, handoverBinding } from '../../event/index.ts'
import type { Keyring } from '../../workspace/index.ts'
import { withoutValues } from '../format/echo.ts'
import { formatBody } from '../format/format.ts'
import { MAX_BODY_BYTES } from '../format/template.ts'
import { payloadOf } from '../payload.ts'
import { deliver, type Outcome } from '../post/post.ts'
import { signedHeaders } from '../post/sign.ts'
import { keysAt } from '../secret.ts'
import type { Lane } from './lane/lane.ts'
import type { LaneJob, ManualDelivery } from './lane/lane-job.ts'
import type { Entry } from './lane/progress.ts'

export interface AttemptDeps {
  keyring: Keyring
  log: Logger
  attemptMs: number
  tracer: Tracer
}

const eventIdOfJob = ({ agentId }: Lane, job: LaneJob | ManualDelivery): string => {
  if (!('event' in job)) return job.eventId
  const id = eventIdOf({ agentId, id: job.seq })
  return job.event ? id : `msg_gap_${id}`
}

/** Returns the event of a job as JSON. */
const eventOf = async (
  { keyring }: AttemptDeps,
  lane: Lane,
  job: LaneJob | ManualDelivery,
): Promise<Buffer> => {
  if ('body' in job) return job.body
  const { seq, event, payload } = job
  if (!event) return Buffer.from(JSON.stringify({ type: 'gap', cursor: String(seq) }))
  const text =
    payload && (await keyring.open(lane.workspaceId, payload, handoverBinding(event.messageId))).toString()
  return Buffer.from(payloadOf(text === null ? event : { ...event, text }))
}

/**
 * Posts a lane's job once. Never rejects: an internal failure is also an outcome, and is retried like any
 * other.
 */
export const attemptJob = async (
  deps: AttemptDeps,
  lane: Lane,
  job: LaneJob | ManualDelivery,
  now: Date,
): Promise<Outcome> => {
  const parent = 'event' in job ? job.event?.traceparent : undefined
  if (parent === undefined) return attempt(deps, lane, job, { now, traceparent: null })
  const span = deps.tracer.start('webhook delivery', {
    kind: 'client',
    parent,
    attributes: { 'webhook.id': lane.id, event: eventIdOfJob(lane, job), attempt: job.attempts + 1 },
  })
  const outcome = await attempt(deps, lane, job, { now, traceparent: span.traceparent })
  const status = 'status' in outcome ? { 'http.response.status_code': outcome.status } : {}
  span.end({ outcome: outcome.kind, ...status }, outcome.kind !== 'delivered')
  return outcome
}

const TOO_LARGE: Outcome = {
  kind: 'too_large',
  error: `template: the body would be larger than ${MAX_BODY_BYTES} bytes`,
  ms: 0,
}

const attempt = async (
  deps: AttemptDeps,
  lane: Lane,
  job: LaneJob | ManualDelivery,
  { now, traceparent }: { now: Date; traceparent: string | null },
): Promise<Outcome> => {
  // The lane's lease must cover the preparation too, because it may wait for the database.
  const beganAt = performance.now()
  try {
    if (!lane.keys || !lane.format)
      throw new Error('the signing secret or the headers could not be decrypted')
    const body = formatBody(lane.format.template, await eventOf(deps, lane, job))
    if (body === null) return TOO_LARGE
    const headers = signedHeaders(keysAt(lane.keys, now), eventIdOfJob(lane, job), now, body, [
      ...lane.policy.headers,
      ...lane.format.headers,
      ...(traceparent === null ? [] : ['traceparent', traceparent]),
    ])
    const outcome = await deliver(lane.connection, { headers, body, now, timeoutMs: deps.attemptMs, beganAt })
    return 'answer' in outcome
      ? { ...outcome, answer: withoutValues(outcome.answer, lane.format.headers) }
      : outcome
  } catch (error) {
    deps.log.error(
      { webhookId: lane.id, event: eventIdOfJob(lane, job), error: messageOf(error) },
      'could not prepare a webhook delivery',
    )
    return { kind: 'failed', error: 'internal: the delivery could not be prepared', ms: 0, retryAfterMs: 0 }
  }
}

/**
 * Returns the outcome as an entry for the job's log. The response to a message that is not stored is not
 * stored either: it may repeat the message.
 */
export const entryOf = (outcome: Outcome, at: Date, job: LaneJob | ManualDelivery): Entry => {
  const { ms } = outcome
  if ('error' in outcome) return { at, error: outcome.error, ms }
  const { status, answer } = outcome
  const isStored = !('event' in job) || job.event?.channel !== 'url'
  return isStored ? { at, status, ms, answer } : { at, status, ms }
}

/** Logs and counts an event that is given up. */
export const logGivenUp = (
  { log, metrics }: { log: Logger; metrics?: Metrics },
  lane: Lane,
  { seq, attempts }: LaneJob,
): void => {
  const fields = { webhookId: lane.id, agentId: lane.agentId, eventId: seq, attempts, error: lane.error }
  log.warn(fields, 'webhook delivery given up')
  metrics?.count('deliveries', 'expired')
}

/** Logs an attempt, without the URL: its path and query may contain the receiver's secrets. */
export const logAttempt = (
  { log }: AttemptDeps,
  lane: Lane,
  job: LaneJob | ManualDelivery,
  outcome: Outcome,
): void => {
  const fields = {
    webhookId: lane.id,
    agentId: lane.agentId,
    workspaceId: lane.workspaceId,
    event: eventIdOfJob(lane, job),
    ...('event' in job ? job.event && { channel: job.event.channel } : { manual: true }),
    attempt: job.attempts + 1,
    outcome: outcome.kind,
    ...('error' in outcome ? { error: outcome.error } : { status: outcome.status }),
    ms: outcome.ms,
    retryAt: outcome.kind === 'gone' ? null : lane.retryAt,
  }
  if (outcome.kind === 'delivered') log.info(fields, 'webhook delivered')
  else log.info(fields, 'webhook not delivered')
}

/** Counts an attempt; if it delivered an event, also how long that took. */
export const measureAttempt = (
  { metrics }: { metrics?: Metrics },
  job: LaneJob | ManualDelivery,
  { at, outcome }: { at: Date; outcome: Outcome },
): void => {
  metrics?.count('deliveries', outcome.kind)
  if (outcome.kind !== 'delivered' || !('since' in job)) return
  const delayMs = at.getTime() + outcome.ms - job.since.getTime()
  metrics?.observe('deliveries', job.attempts === 0 ? 'first' : 'later', Math.max(0, delayMs) / 1000)
}
