import type { Blobs } from '../../blob/index.ts'
import type { Channels } from '../../channel/channel.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import type { Outbound, SendResult } from '../../core/channel/outbound.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Notifier } from '../../db/notify.ts'
import type { Feed } from '../../event/index.ts'
import { FETCH_MS, type LinkDeps, signLink } from '../reading/signed-link.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import { errorOf } from '../stored/conclusion.ts'
import { LeaseLost, type SendJob } from '../stored/send-job.ts'
import type { ClaimedSend, OutgoingMessage } from './claim-sends.ts'
import { type HoldDeps, holdQueued } from './hold-queued.ts'
import type { RecipientOutcome } from './outcome.ts'
import { conversationOf } from './outgoing.ts'
import { oncePossible, progressOf } from './progress.ts'
import { retryDelay, SEND_HORIZON_MS } from './retry.ts'
import { type Settlement, type SettlementStore, settleLocked } from './settle-sends.ts'
import { filterSuppressed, rememberOptOuts } from './suppressed-recipients.ts'

export interface TransmitDeps extends LinkDeps, HoldDeps {
  log: Logger
  notifier: Notifier
  channels: Channels
  blobs: Blobs
  settlements: SettlementStore
  feed: Pick<Feed, 'committed'>
  /** Returns 0 to 1, for the jitter of retries. */
  random(): number
  metrics?: Metrics
}

/** Returns null while the object store that has them cannot be reached. */
const attachmentsOf = async (
  { prisma, blobs }: TransmitDeps,
  { id, agentId, hasAttachments }: OutgoingMessage,
): Promise<InboundAttachment[] | null> => {
  if (!hasAttachments) return []
  const where = { messageId: id, agentId }
  const files = await prisma.attachment.findMany({ where, orderBy: { index: 'asc' } })
  try {
    return await Promise.all(files.map((file) => blobs.filled(file)))
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return null
    throw error
  }
}

const outboundOf = (
  deps: LinkDeps,
  message: OutgoingMessage,
  job: SendJob,
  attachments: InboundAttachment[],
): Outbound | null => {
  const { id, from, to, cc, bcc, subject, text, html, answered, recipients } = message
  if (!from) return null
  return {
    ...{ id, from, to, cc, bcc, subject, text, html },
    workspaceId: message.workspaceId,
    envelopeTo: recipients.map(({ address }) => address),
    messageId: message.internetMessageId ?? id,
    inReplyTo: answered?.internetMessageId ?? null,
    references: answered ? conversationOf(answered) : [],
    attachments,
    linkTo: (index) => signLink(deps, { messageId: id, file: index }, FETCH_MS).url,
    createdAt: job.queuedAt,
  }
}

const rejectAll = (recipients: readonly string[], reason: string, permanent: boolean): SendResult => ({
  accepted: [],
  rejected: recipients.map((recipient) => ({ recipient, reason, permanent })),
})

const attempt = async (
  deps: TransmitDeps,
  message: OutgoingMessage,
  job: SendJob,
  signal: AbortSignal,
): Promise<SendResult> => {
  const waiting = message.recipients.map(({ address }) => address)
  if (waiting.length === 0) return { accepted: [], rejected: [] }
  const channel = deps.channels[message.channel]
  if (!channel) return rejectAll(waiting, `this service has no ${message.channel} channel`, true)
  const attachments = await attachmentsOf(deps, message)
  if (!attachments) return rejectAll(waiting, 'its attachments could not be read', false)
  const outbound = outboundOf(deps, message, job, attachments)
  if (!outbound) return rejectAll(waiting, 'the address to send it from no longer exists', true)
  const { open, closed } = await filterSuppressed(deps, message, outbound)
  if (open.length === 0) return { accepted: [], rejected: closed }
  try {
    const { rejected, ...result } = await channel.send(
      { ...outbound, envelopeTo: open },
      signal,
      progressOf(deps, message, job, signal),
    )
    await rememberOptOuts(deps, outbound, rejected)
    return { ...result, rejected: [...closed, ...rejected] }
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    deps.log.error(
      { err: error, messageId: message.id },
      'channel failed unexpectedly while sending a message',
    )
    return rejectAll(waiting, 'the service could not send it', false)
  }
}

/**
 * Decides what the attempt means: which recipients are final, and when the others are retried (null: never,
 * or none are left).
 */
const conclude = (deps: TransmitDeps, job: SendJob, result: SendResult) => {
  const now = deps.clock.now().getTime()
  const asked = Math.max(0, ...result.rejected.map(({ retryAfterMs }) => retryAfterMs ?? 0))
  const next = now + (asked || retryDelay(job.attempts, deps.random()))
  const giveUp = next > job.queuedAt.getTime() + SEND_HORIZON_MS
  const failed = result.rejected.filter(({ permanent }) => permanent || giveUp)
  return { failed, dueAt: failed.length < result.rejected.length ? new Date(next) : null }
}

/** Returns what the attempt means for each recipient. An accepted one may still be reported on by its provider. */
const outcomesOf = (
  { accepted, pending = [], rejected, providerIds = {} }: SendResult,
  dueAt: Date | null,
): RecipientOutcome[] => {
  const outcome = (address: string, status: RecipientOutcome['status']): RecipientOutcome => ({
    ...{ address, status, detail: null, suppress: null },
    providerId: providerIds[address] ?? null,
  })
  return [
    ...accepted.map((address) => outcome(address, 'sent')),
    ...pending.map((address) => outcome(address, 'sending')),
    ...rejected.map(({ recipient, reason, permanent, unknownRecipient = false }): RecipientOutcome => {
      const failed = permanent || dueAt === null
      return {
        ...outcome(recipient, failed ? 'failed' : 'sending'),
        detail: reason,
        suppress: failed && unknownRecipient ? reason : null,
      }
    }),
  ]
}

/** Sorts outcomes in the order of the recipients in the database. */
const inOrderOf = (
  recipients: readonly { address: string }[],
  outcomes: readonly RecipientOutcome[],
): RecipientOutcome[] => {
  const places = new Map(recipients.map(({ address }, index) => [address, index]))
  return outcomes.toSorted((one, other) => (places.get(one.address) ?? 0) - (places.get(other.address) ?? 0))
}

/** An attempt to send a message, and its result. */
interface Attempted {
  message: OutgoingMessage
  job: SendJob
  result: SendResult
  startedAt: Date
}

const settlementOf = (deps: TransmitDeps, { message, job, result, startedAt }: Attempted): Settlement => {
  const { failed, dueAt } = conclude(deps, job, result)
  deps.metrics?.count('sends', dueAt ? 'retried' : failed.length > 0 ? 'failed' : 'sent')
  const { rejected } = result
  const { to, cc, bcc } = message
  const named = to.length + cc.length + bcc.length
  const error = rejected.length > 0 ? { error: errorOf(rejected, named) } : {}
  const at = deps.clock.now()
  return {
    ...{ job, dueAt, at },
    state: dueAt ? 'pending' : failed.length > 0 ? 'failed' : 'delivered',
    entry: { at: startedAt, ...error, ms: at.getTime() - startedAt.getTime() },
    isSingle: named === 1,
    recipients: inOrderOf(message.recipients, outcomesOf(result, dueAt)),
  }
}

/**
 * Writes the outcome, retrying while the database is unavailable and the lease lasts: a message whose
 * acceptance is not recorded would be sent again. Throws `LeaseLost`.
 */
const settle = async (deps: TransmitDeps, attempted: Attempted, signal: AbortSignal): Promise<void> => {
  const settlement = settlementOf(deps, attempted)
  const write = async () => {
    const settled = await deps.settlements.add(settlement)
    return settled.written ? settled : settleLocked(deps, settlement)
  }
  const { written, events } = await oncePossible(deps, attempted.message.id, signal, write)
  if (!written) throw new LeaseLost('the lease of the job was lost')
  deps.afterCommit(() => deps.feed.committed(events))
}

/**
 * Makes one attempt to send a message to those of its recipients who do not have it yet, unless it needs approval by
 * now. Calls `onSent` when only the outcome is still to be written.
 */
export const transmit = async (
  deps: TransmitDeps,
  { message, ...job }: ClaimedSend,
  { signal, onSent }: { signal: AbortSignal; onSent(): void },
): Promise<void> => {
  if (!message || (message.isUnapproved && (await holdQueued(deps, message, job)))) return
  const startedAt = deps.clock.now()
  const result = await attempt(deps, message, job, signal)
  onSent()
  await settle(deps, { message, job, result, startedAt }, signal)
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${message.id}`))
  const fields = {
    messageId: message.id,
    agentId: message.agentId,
    channel: message.channel,
    attempt: job.attempts + 1,
  }
  const refused = result.rejected.map(({ reason }) => messageOf(reason))
  if (refused.length > 0)
    deps.log.warn(
      { ...fields, accepted: result.accepted.length, refused },
      'outgoing message refused for some or all recipients',
    )
  else deps.log.info({ ...fields, accepted: result.accepted.length }, 'outgoing message sent')
}
