import { createHash } from 'node:crypto'
import { v7 as newId } from 'uuid'
import { AGENT_TURNS_AN_HOUR, admit, evidenceOf, overRate } from '../../admission/index.ts'
import { isOptedOut, noteKeyword } from '../../agent/index.ts'
import type { Blobs } from '../../blob/index.ts'
import type { Channels } from '../../channel/channel.ts'
import type { Check, Inbound } from '../../core/channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import { noTracer, type Tracer, traced } from '../../core/tracer.ts'
import type { Batch } from '../../db/batch.ts'
import type { Db } from '../../db/client.ts'
import { refuseUnstorable } from '../../db/failure.ts'
import type { Addressed } from '../../db/generated/prisma/enums.ts'
import type { Notifier } from '../../db/notify.ts'
import { type Feed, MESSAGE_RECEIVED, MESSAGE_REFUSED } from '../../event/index.ts'
import { movingError, type Plans, type RateLimits, WORKSPACE_CHANGED } from '../../workspace/index.ts'
import { CODES_STORED, codesOf } from '../code/queue.ts'
import { newMessage } from '../stored/row.ts'
import { type CatchAllDeps, withCatchAll } from './catch-all.ts'
import { dueOf, EVENT_DELAYED } from './delayed-events.ts'
import { instructorOf, mayInstruct } from './instructor.ts'
import { limitRefused } from './refused-retention.ts'
import { identityOf, inTurn, isRepeated, signedQuery, weighed } from './replay.ts'
import { displayOf, listsOf, senderOf } from './sender.ts'
import { type Arrival, type ArrivalStore, placeArrival } from './store.ts'
import { isStranger } from './stranger.ts'
import { AGENT_CHECK, type Target, type TargetLookup } from './target.ts'
import { limitWakes, type StoredArrival } from './wake-limits.ts'

export interface ReceiveDeps extends Db, CatchAllDeps {
  notifier: Pick<Notifier, 'publish'>
  clock: Clock
  log: Logger
  feed: Feed
  arrivals: ArrivalStore
  /** For agents with limits on how often messages may wake them. */
  limited: Batch<Arrival, StoredArrival>
  blobs: Blobs
  targets: TargetLookup
  channels: Channels
  plans: Plans
  rates: RateLimits
  metrics?: Metrics
  tracer?: Tracer
}

/**
 * Returns why the message must not be answered, or null: it comes from the agent itself, from an automatic
 * sender, or from another agent after too many turns.
 */
const selfMark = ({ automatic }: Inbound, { ownAddress, ownMessage, agentTurns }: Target): string | null => {
  if (ownAddress) return "sent from the agent's own address"
  if (ownMessage) return "the agent's own message, returned to it"
  if (automatic !== null) return automatic
  return agentTurns < AGENT_TURNS_AN_HOUR
    ? null
    : `agents have sent it ${AGENT_TURNS_AN_HOUR} messages in this thread within an hour`
}

/** Returns why the message is refused as manipulated, or null. */
const manipulationOf = ({ checks }: Inbound, { manipulated }: Target): string | null => {
  if (manipulated === 'accept') return null
  const found = checks.filter(({ name, verdict }) => name === 'manipulation' && verdict !== 'none')
  return found.length === 0 ? null : `manipulated: ${found.map(({ verdict }) => verdict).join(', ')}`
}

const judge = async (deps: ReceiveDeps, message: Inbound, target: Target) => {
  const { plans, rates } = deps
  const { listed, blocked, listedByMember } = await listsOf(deps, message, target)
  const verdict = admit({
    self: selfMark(message, target),
    spam: message.spam ?? manipulationOf(message, target),
    team: target.member !== null || target.teammate !== null,
    listed,
    blocked,
    proven: message.proven,
    admit: target.admit,
    full: await plans.isFull(target.workspaceId),
    overRate: () => overRate(rates, target.agentId, message),
  })
  const admitted = verdict.refusal === null
  return { verdict, instructor: instructorOf({ admitted, proven: message.proven, listedByMember }, target) }
}

/**
 * Identifies a message that is sent again because the response was lost. For mail this requires a Message-ID
 * or a delivery id: without one, two identical mails may be intentional. Other channels use the provider's
 * ids, which are never reused.
 */
const fingerprintOf = ({ channel, raw, messageId, deliveryId }: Inbound): Uint8Array<ArrayBuffer> | null => {
  const digest = (of: string | Uint8Array) => Uint8Array.from(createHash('sha256').update(of).digest())
  if (CHANNELS[channel].mail && messageId) return raw && digest(raw)
  const id = deliveryId ?? messageId
  return id ? digest(`${channel}:${id}`) : null
}

/** How the message names the agent at its address; `bcc` when it does not. */
const addressedBy = ({ channel, to, cc }: Inbound, { address, names = [address] }: Target): Addressed => {
  const isNamed = (named: readonly string[]) => names.some((name) => named.includes(name))
  return !CHANNELS[channel].mail || isNamed(to) ? 'to' : isNamed(cc) ? 'cc' : 'bcc'
}

/** What the message has from the conversation that it is in; that of a stranger begins one. */
const placeOf = (id: string, message: Inbound, target: Target, isOutside: boolean) => ({
  threadId: isOutside ? id : (target.threadId ?? id),
  conversation: isOutside ? null : target.conversation,
  addressed: addressedBy(message, target),
})

/** A message that was refused raises an event for agents that ask for it. */
const eventOf = (
  { verdict: { refusal }, instructor }: Awaited<ReturnType<typeof judge>>,
  message: Inbound,
  target: Target,
  place: ReturnType<typeof placeOf>,
): Arrival['event'] => {
  const facts = { sender: senderOf(message, target), from: displayOf(message.from) }
  return refusal
    ? { type: MESSAGE_REFUSED, ...facts, detail: { refusal, ...place } }
    : {
        type: MESSAGE_RECEIVED,
        ...facts,
        detail: { mayInstruct: mayInstruct(instructor, target), ...place },
        ...(target.wakeAfterSeconds > 0 && { delay: target.wakeAfterSeconds }),
      }
}

/** The columns that a message has from its content. */
const contentOf = (message: Inbound) => {
  const { mail: isMail } = CHANNELS[message.channel]
  return {
    counterpart: message.from.address,
    counterpartName: message.from.name,
    replyAddress: message.replyTo ?? null,
    to: message.to,
    cc: message.cc,
    subject: message.subject,
    text: message.text,
    replyText: message.replyText === message.text ? null : message.replyText,
    internetMessageId: message.messageId,
    threadMessageId: isMail ? message.messageId : null,
    threadReferences: isMail ? message.references : [],
    codes: codesOf(message),
  }
}

const arrivalOf = async (
  deps: ReceiveDeps,
  received: Inbound,
  target: Target,
  fingerprint: Uint8Array<ArrayBuffer> | null,
): Promise<Arrival> => {
  const message = weighed(received, target, deps.clock.now())
  const judged = await judge(deps, message, target)
  const { verdict, instructor } = judged
  const id = newId()
  const place = placeOf(id, message, target, await isStranger(deps.pool, message, target, verdict.admission))
  const arrival: Arrival = {
    message: newMessage({
      id,
      workspaceId: target.workspaceId,
      agentId: target.agentId,
      addressId: target.addressId,
      channel: message.channel,
      direction: 'inbound',
      status: verdict.refusal ? 'refused' : 'received',
      refusal: verdict.refusal,
      admission: verdict.admission,
      proven: message.proven,
      instructor,
      ...contentOf(message),
      ...place,
      checks: [...message.checks, ...agentCheck(message), ...keywordCheck(message), evidenceOf(verdict)].map(
        (check) => ({ ...check }),
      ),
      ...identityOf(message, { isRefused: verdict.refusal !== null, fingerprint }),
      createdAt: deps.clock.now(),
    }),
    raw: message.raw,
    attachments: message.attachments,
    event: message.keyword ? null : eventOf(judged, message, target, place),
    wakeLimits: verdict.refusal || message.keyword ? null : target.wakeLimits,
  }
  return limitWakes(deps.pool, arrival)
}

/**
 * Processes STOP, START and similar keywords; returns the keyword if the message is addressed to the service.
 * The opt-out is saved before the message is stored, so that a crash loses neither; for a message that is
 * already stored it was saved then.
 */
const applyKeyword = async (
  deps: ReceiveDeps,
  { keyword, recipients, from }: Inbound,
  targets: readonly Target[],
  fingerprint: Uint8Array<ArrayBuffer> | null,
): Promise<Inbound['keyword']> => {
  if (!keyword) return undefined
  const agentId = { in: targets.map((target) => target.agentId) }
  if (fingerprint && (await deps.prisma.message.count({ where: { agentId, fingerprint } })) > 0)
    return keyword
  const pairs = recipients.map((ours) => ({ ours, theirs: from.address }))
  if (keyword.orAnAnswer && !(await isOptedOut(deps, pairs))) return undefined
  for (const pair of pairs) await noteKeyword(deps, { ...pair, ...keyword })
  return keyword
}

const keywordCheck = ({ keyword }: Inbound): Check[] =>
  keyword
    ? [
        {
          name: 'keyword',
          verdict: keyword.means,
          detail: `"${keyword.word}" is a keyword for the service: the agent is not notified`,
        },
      ]
    : []

const agentCheck = ({ byAgent }: Inbound): Check[] =>
  byAgent
    ? [{ name: AGENT_CHECK, verdict: 'claimed', detail: 'the message declares that an agent sent it' }]
    : []

/**
 * Returns the arrivals to store, after the limits on refused messages. Throws `unavailable` for mail when
 * nothing would be stored, so that the sender's mail server reports it. Other channels' providers cannot tell
 * the sender, and would only repeat the call.
 */
const limitArrivals = (
  deps: ReceiveDeps,
  { channel, source, from, origin }: Inbound,
  arrivals: readonly Arrival[],
): Arrival[] => {
  const kept: Arrival[] = []
  for (const arrival of arrivals) {
    const part = limitRefused(deps.rates, arrival, source ?? from.address)
    if (part) kept.push(part)
    else {
      const { agentId, refusal } = arrival.message
      deps.metrics?.count('mails', 'dropped')
      deps.log.info(
        { ...origin, sender: from.address, agentId, channel, refusal },
        'incoming message discarded: the agent has refused too many today',
      )
    }
  }
  if (kept.length === 0 && arrivals.length > 0 && CHANNELS[channel].mail)
    throw new AppError('unavailable', 'Too many messages to this recipient were refused today.', {
      retryAfter: 3_600,
    })
  return kept
}

/** The event carries the trace to the process that delivers it. */
const withTrace = (arrival: Arrival, traceparent: string | null): Arrival =>
  traceparent === null || arrival.event === null
    ? arrival
    : { ...arrival, event: { ...arrival.event, detail: { ...arrival.event.detail, traceparent } } }

/** Stores an arrival; counted against its agent's limits, if it has any. */
const store = async ({ arrivals, limited, blobs }: ReceiveDeps, given: Arrival): Promise<StoredArrival> => {
  const arrival = await placeArrival(blobs, given)
  return arrival.wakeLimits ? limited.add(arrival) : { arrival, event: await arrivals.add(arrival) }
}

/**
 * Stores an inbound message for each of the agents addressed, admitted or refused, and notifies the listeners
 * of those that admitted it. Resolves once everything is committed. When it rejects, the channel must ask for
 * the message to be sent again.
 *
 * Throws `unavailable` when the sender's verification failed temporarily and admission depends on it, because
 * a refusal would be final, for mail of which nothing would be stored because too much was refused today,
 * while contents cannot be written to the object store, and while the workspace of one of the agents moves. Throws `invalid_input` for what cannot be stored at all.
 */
export const receive = (deps: ReceiveDeps, inbound: Inbound): Promise<void> =>
  inTurn(inbound, () => receiveNext(deps, inbound))

const receiveNext = async (deps: ReceiveDeps, inbound: Inbound): Promise<void> => {
  const fingerprint = fingerprintOf(inbound)
  const chat = deps.channels[inbound.channel]?.threads === 'counterpart'
  const asked = { message: inbound, chat, signed: signedQuery(inbound) }
  const { query, reached } = await withCatchAll(deps, asked)
  const found = await deps.targets.add(query).catch(refuseUnstorable)
  if (found.some(({ moving }) => moving)) throw movingError()
  const targets = found.map(reached).filter((target) => !isRepeated(deps, inbound, target))
  const { keyword: _, ...rest } = inbound
  const message: Inbound = (await applyKeyword(deps, inbound, targets, fingerprint)) ? inbound : rest
  const arrivals = await Promise.all(targets.map((target) => arrivalOf(deps, message, target, fingerprint)))
  if (message.unsettled && arrivals.some(({ message: { refusal } }) => refusal === 'unverified')) {
    deps.metrics?.count('mails', 'deferred')
    throw new AppError('unavailable', 'The sender could not be verified at the moment.', { retryAfter: 300 })
  }
  const kept = limitArrivals(deps, message, arrivals)
  const attributes = { channel: message.channel, 'message.ids': kept.map(({ message: { id } }) => id).join() }
  const stored = await traced(deps.tracer ?? noTracer, 'store message', { attributes }, ({ traceparent }) =>
    Promise.all(kept.map((arrival) => store(deps, withTrace(arrival, traceparent)))).catch(refuseUnstorable),
  )
  deps.afterCommit(() =>
    deps.feed.committed(stored.map(({ event }) => event).filter((event) => event !== null)),
  )
  for (const workspaceId of new Set(stored.map(({ arrival }) => arrival.message.workspaceId)))
    deps.afterCommit(() => deps.notifier.publish(WORKSPACE_CHANGED, workspaceId))
  for (const { message, event } of stored.map(({ arrival }) => arrival)) {
    if (event?.delay) {
      const due = dueOf(message.createdAt, event.delay)
      deps.afterCommit(() => deps.notifier.publish(EVENT_DELAYED, due.toISOString()))
    }
    if ((message.codes as unknown[]).length > 0)
      deps.afterCommit(() => deps.notifier.publish(CODES_STORED, message.agentId))
    deps.metrics?.count('mails', message.refusal ?? 'received')
    deps.log.info(
      {
        ...inbound.origin,
        sender: inbound.from.address,
        // Of the envelope; a mail may have 100, of which a line names the first.
        recipients: inbound.recipients.slice(0, 5),
        internetMessageId: inbound.messageId?.slice(0, 200),
        messageId: message.id,
        agentId: message.agentId,
        channel: message.channel,
        status: message.status,
        refusal: message.refusal,
      },
      'incoming message stored',
    )
  }
}
