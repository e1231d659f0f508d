import { suppress } from '../../agent/suppression.ts'
import type { Channels } from '../../channel/channel.ts'
import type { Outbound, SendResult } from '../../channel/outbound.ts'
import type { ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { MESSAGE_CHANGED } from '../reading/changed.ts'
import { conversationOf } from './draft.ts'
import { oncePossible, progressOf } from './progress.ts'
import { retryDelay, SEND_HORIZON_MS } from './retry.ts'
import { LeaseLost, type SendJob, type SendOutcome, settleSend } from './send-job.ts'
import { concludeMessage, errorOf, lockMessage } from './status.ts'
import { filterSuppressed, rememberOptOuts } from './suppressed-recipients.ts'

export interface TransmitDeps extends Db {
  clock: Clock
  log: Logger
  notifier: Notifier
  channels: Channels
  /** Returns 0 to 1, for the jitter of retries. */
  random(): number
  metrics?: Metrics
}

const load = ({ prisma }: Db, { messageId: id, agentId }: SendJob) =>
  prisma.message.findUnique({
    where: { id_agentId: { id, agentId } },
    include: {
      agent: true,
      attachments: { orderBy: { index: 'asc' } },
      recipients: { where: { status: 'sending', providerId: null } },
      replyTo: true,
    },
  })
type Loaded = NonNullable<Awaited<ReturnType<typeof load>>>

const outboundOf = async ({ prisma }: Db, message: Loaded, job: SendJob): Promise<Outbound | null> => {
  const address = await prisma.address.findUnique({ where: { id: message.addressId } })
  if (!address) return null
  return {
    id: message.id,
    from: { address: address.value, name: message.agent.name },
    envelopeTo: message.recipients.map((recipient) => recipient.address),
    to: message.to,
    cc: message.cc,
    subject: message.subject,
    text: message.text,
    messageId: message.internetMessageId ?? message.id,
    inReplyTo: message.replyTo?.internetMessageId ?? null,
    references: message.replyTo ? conversationOf(message.replyTo) : [],
    attachments: message.attachments,
    createdAt: job.queuedAt,
  }
}

const rejectAll = (recipients: readonly string[], reason: string, permanent: boolean): SendResult => ({
  accepted: [],
  rejected: recipients.map((recipient) => ({ recipient, reason, permanent })),
})

const attempt = async (
  deps: TransmitDeps,
  message: Loaded,
  job: SendJob,
  signal: AbortSignal,
): Promise<SendResult> => {
  const waiting = message.recipients.map(({ address }) => address)
  if (waiting.length === 0) return { accepted: [], rejected: [] }
  const channel = deps.channels[message.channel as ChannelKind]
  if (!channel) return rejectAll(waiting, `this service has no ${message.channel} channel`, true)
  const outbound = await outboundOf(deps, message, job)
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
  const waiting = result.rejected.filter(({ permanent }) => !permanent && !giveUp)
  return { failed, waiting, dueAt: waiting.length > 0 ? new Date(next) : null }
}

const recipientsOf = ({ id, agentId }: Loaded) => ({ messageId: id, agentId })

/** A bounce or report may arrive before the attempt ends: recipients it has updated are left alone. */
const stillSending = (message: Loaded) => ({ ...recipientsOf(message), status: 'sending' as const })

/**
 * Records the accepted recipients. Those that the provider will report on stay in progress, with the id that
 * the report will name.
 */
const noteAccepted = async (
  tx: Prisma.TransactionClient,
  message: Loaded,
  result: SendResult,
): Promise<void> => {
  const { accepted, pending = [], providerIds = {} } = result
  await tx.recipient.updateMany({
    where: { ...stillSending(message), address: { in: accepted } },
    data: { status: 'sent' },
  })
  for (const address of [...accepted, ...pending]) {
    const providerId = providerIds[address]
    if (providerId)
      await tx.recipient.updateMany({ where: { ...recipientsOf(message), address }, data: { providerId } })
  }
}

/** An attempt to send a message, and its result. */
interface Attempted {
  message: Loaded
  job: SendJob
  result: SendResult
  startedAt: Date
}

/** Writes the outcome of the attempt: recipients, message and job change in one transaction. */
const settle = async (deps: TransmitDeps, { message, job, result, startedAt }: Attempted): Promise<void> => {
  const { failed, waiting, dueAt } = conclude(deps, job, result)
  deps.metrics?.count('sends', dueAt ? 'retried' : failed.length > 0 ? 'failed' : 'sent')
  const reason =
    result.rejected.length > 0 ? errorOf(result.rejected, message.to.length + message.cc.length) : null
  await deps.prisma.$transaction(async (tx) => {
    await lockMessage(tx, message)
    await noteAccepted(tx, message, result)
    for (const { recipient: address, reason, permanent } of [...failed, ...waiting]) {
      const status = permanent || dueAt === null ? 'failed' : 'sending'
      await tx.recipient.updateMany({
        where: { ...stillSending(message), address },
        data: { status, detail: reason },
      })
    }
    const nonexistent = failed
      .filter(({ unknownRecipient }) => unknownRecipient)
      .map(({ recipient, reason }) => ({ address: recipient, detail: reason }))
    await suppress(tx, message, nonexistent, { reason: 'bounce', createdAt: deps.clock.now() })
    const outcome: SendOutcome = dueAt ? { dueAt } : { state: failed.length > 0 ? 'failed' : 'delivered' }
    await settleSend(
      tx,
      job,
      { at: startedAt, error: reason, ms: deps.clock.now().getTime() - startedAt.getTime() },
      outcome,
    )
    if (!dueAt) await concludeMessage(tx, message)
  })
}

/**
 * Writes the outcome, retrying while the database is unavailable and the lease lasts: a message whose
 * acceptance is not recorded would be sent again.
 */
const settlePatiently = async (
  deps: TransmitDeps,
  attempted: Attempted,
  signal: AbortSignal,
): Promise<void> => {
  await oncePossible(deps, attempted.message.id, signal, () => settle(deps, attempted))
}

/** Makes one attempt to send a message to those of its recipients who do not have it yet. */
export const transmit = async (deps: TransmitDeps, job: SendJob, signal: AbortSignal): Promise<void> => {
  const message = await load(deps, job)
  if (!message) return
  const startedAt = deps.clock.now()
  const result = await attempt(deps, message, job, signal)
  await settlePatiently(deps, { message, job, result, startedAt }, signal)
  deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${message.id}`)
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
