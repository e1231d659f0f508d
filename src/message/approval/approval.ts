import { findAgent } from '../../agent/index.ts'
import type { Blobs } from '../../blob/index.ts'
import type { Channels } from '../../channel/channel.ts'
import type { Check } from '../../core/channel/inbound.ts'
import type { ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import { withoutInvisible } from '../../core/text/invisible.ts'
import type { Db } from '../../db/client.ts'
import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import type { Feed, LoggedEvent } from '../../event/index.ts'
import { ensureNoLeak, type LeakDeps, recordingLeaks } from '../../secret/index.ts'
import { audit, type Decider, ensureMember, nameOf, noteChange } from '../../workspace/index.ts'
import { indexAgain } from '../reading/search.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { enqueueSend, SEND_DUE } from '../stored/send-job.ts'
import { lockMessage } from '../stored/status.ts'
import { contentOf, ensureFits } from './content.ts'
import { type FieldDeps, fieldsOf } from './fields.ts'
import { APPROVAL_DAYS, awaitsApproval } from './hold.ts'
import { failWaiting, findOutgoing } from './waiting.ts'

export interface ApprovalDeps extends Db, LeakDeps, FieldDeps {
  blobs: Pick<Blobs, 'filled'>
  clock: Clock
  notifier: Notifier
  feed: Pick<Feed, 'committed'>
  channels: Channels
}

/** A message that a member decides on. */
export interface MessageRef {
  agentId: string
  messageId: string
}

/** What the member who approves a message changes in it. */
export interface Edits {
  subject?: string | undefined
  /** Without `html`, it replaces the HTML too. */
  text?: string | undefined
  /** Without `text`, the text is made from it. */
  html?: string | undefined
}

/** Throws `conflict`, saying what happened to a message that does not wait for approval. */
const ensureAwaitsApproval = (message: Message): void => {
  if (awaitsApproval(message)) return
  if (message.holdReason !== 'approval' && message.holdBy === null)
    throw new AppError('conflict', 'This message does not need approval.')
  const outcome = message.status === 'failed' ? message.error : `Approved by ${message.holdBy}`
  throw new AppError('conflict', `This message no longer waits for approval: ${outcome}.`)
}

/** Returns the columns that the edits change, as they will be sent. */
const editsOf = async (
  { channels }: ApprovalDeps,
  message: Message,
  { subject: given, text, html }: Edits,
): Promise<Partial<Pick<Message, 'subject' | 'text' | 'html'>>> => {
  const channel = channels[message.channel as ChannelKind]
  const subject = given === undefined ? undefined : withoutInvisible(given)
  if (subject !== undefined && channel?.limits.subject === false)
    throw invalidInput('subject', `the ${message.channel} channel has no subjects`)
  const says = html !== undefined || (text !== undefined && text !== message.text)
  if (!channel || !says) return subject === undefined ? {} : { subject }
  const content = await contentOf(channel, { text, html }, message.agentId)
  ensureFits(channel, content.text)
  return subject === undefined ? content : { ...content, subject }
}

type Edited = Awaited<ReturnType<typeof editsOf>>

/**
 * Returns the columns that the edits change, once it is known that the message may leave with them. It is compared again
 * if nothing is changed, too: it may wait because too many before it contained values of secrets. What waits does not
 * change meanwhile.
 */
const compared = async (
  deps: ApprovalDeps,
  viewer: Decider,
  { agentId, messageId }: MessageRef,
  given: Edits,
): Promise<Edited> => {
  await findAgent(deps, viewer, agentId)
  const message = await findOutgoing(deps.prisma, { agentId, messageId })
  ensureMember(viewer)
  ensureAwaitsApproval(message)
  const edits = await editsOf(deps, message, given)
  const fields = () =>
    deps.outsideTransaction(async ({ prisma }) => {
      const where = { messageId, agentId }
      const files = await prisma.attachment.findMany({ where, orderBy: { index: 'asc' } })
      return fieldsOf(
        deps,
        { ...message, ...edits },
        await Promise.all(files.map((file) => deps.blobs.filled(file))),
      )
    })
  await ensureNoLeak(deps, agentId, fields, { approved: true })
  return edits
}

/** Runs a decision in a transaction, with the message locked: of two members who decide at once, the second gets a conflict. */
const decide = async (
  deps: ApprovalDeps,
  viewer: Decider,
  { agentId, messageId }: MessageRef,
  decision: (tx: Prisma.TransactionClient, message: Message) => Promise<LoggedEvent[]>,
): Promise<MessageWithFiles> => {
  await findAgent(deps, viewer, agentId)
  const { decided, events } = await deps.prisma.$transaction(async (tx) => {
    await lockMessage(tx, { id: messageId, agentId })
    const message = await findOutgoing(tx, { agentId, messageId })
    ensureMember(viewer)
    ensureAwaitsApproval(message)
    const events = await decision(tx, message)
    const { workspaceId } = message
    await noteChange(tx, { workspaceId, kind: 'message_changed', agentId, ids: [messageId] })
    return { events, decided: await findOutgoing(tx, { agentId, messageId }) }
  })
  deps.afterCommit(() => deps.feed.committed(events))
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${messageId}`))
  return decided
}

/** Returns which of the given fields differ from those of the message. */
const changedBy = (message: Message, edits: Edited): (keyof Edits)[] =>
  (['subject', 'text', 'html'] as const).filter(
    (field) => edits[field] !== undefined && edits[field] !== message[field],
  )

const evidenceOf = (by: string, edited: readonly string[]): Check => ({
  name: 'approval',
  verdict: edited.length > 0 ? 'edited' : 'approved',
  detail:
    edited.length > 0
      ? `approved by ${by}, who changed the ${edited.join(' and the ').replace('html', 'HTML')}`
      : `approved by ${by}`,
})

/**
 * Approves a message that waits for approval, with changes if any are given, and queues it for sending at its
 * time. For members. Throws `conflict` when it does not wait, saying who decided, and `forbidden` when it contains values of
 * the agent's secrets and the agent's setting is to refuse that.
 */
export const approveMessage = async (
  deps: ApprovalDeps,
  viewer: Decider,
  ref: MessageRef,
  given: Edits = {},
): Promise<MessageWithFiles> => {
  const edits = await recordingLeaks(deps, viewer, ref.agentId, () => compared(deps, viewer, ref, given))
  const approved = await decide(deps, viewer, ref, async (tx, message) => {
    const now = deps.clock.now()
    const by = nameOf(viewer)
    const edited = changedBy(message, edits)
    const scheduled = message.sendAt !== null && message.sendAt > now
    const checks = [...(message.checks as unknown as Check[]), evidenceOf(by, edited)]
    await tx.message.update({
      where: { id_agentId: { id: message.id, agentId: message.agentId } },
      data: {
        ...Object.fromEntries(edited.map((field) => [field, edits[field]])),
        ...(edited.includes('text') ? { replyText: null } : {}),
        checks: checks.map((check) => ({ ...check })),
        holdReason: scheduled ? 'schedule' : 'approval',
        holdUntil: scheduled ? message.sendAt : null,
        holdBy: by,
      },
    })
    if (edited.length > 0) await indexAgain(tx, message)
    await enqueueSend(tx, message, scheduled ? message.sendAt! : now)
    await audit({ ...deps, prisma: tx }, viewer, {
      action: 'message.approve',
      agentId: message.agentId,
      detail: { message: message.id, edited },
    })
    return []
  })
  deps.afterCommit(() => deps.notifier.publish(SEND_DUE, approved.agentId))
  return approved
}

/**
 * Rejects a message that waits for approval: it becomes `failed`, with the name and the reason as its error.
 * For members. Throws `conflict` when it does not wait, saying who decided.
 */
export const rejectMessage = (
  deps: ApprovalDeps,
  viewer: Decider,
  ref: MessageRef,
  reason?: string | undefined,
): Promise<MessageWithFiles> =>
  decide(deps, viewer, ref, async (tx, message) => {
    const by = nameOf(viewer)
    const error = `Rejected by ${by}${reason ? `: ${reason}` : ''}`
    const events = await failWaiting(tx, message, { error, by, now: deps.clock.now() })
    await audit({ ...deps, prisma: tx }, viewer, {
      action: 'message.reject',
      agentId: message.agentId,
      detail: { message: message.id },
    })
    return events
  })

/** Rejects the messages that nobody approved in time. Idempotent; any process may call it at any time. */
export const rejectExpired = async (
  deps: Pick<ApprovalDeps, 'prisma' | 'afterCommit' | 'clock' | 'notifier' | 'feed'>,
  signal: AbortSignal,
): Promise<number> => {
  const where = { status: 'sending', holdReason: 'approval', holdUntil: { lte: deps.clock.now() } } as const
  const error = `Rejected: nobody approved it within ${APPROVAL_DAYS} days`
  let rejected = 0
  const expired = await deps.prisma.message.findMany({
    where,
    select: { id: true, agentId: true },
    take: 1000,
  })
  for (const message of expired) {
    if (signal.aborted) break
    const events = await deps.prisma.$transaction(async (tx) => {
      await lockMessage(tx, message)
      const isWaiting = (await tx.message.count({ where: { ...where, ...message } })) > 0
      return isWaiting ? failWaiting(tx, message, { error, by: null, now: deps.clock.now() }) : null
    })
    if (!events) continue
    rejected++
    deps.afterCommit(() => deps.feed.committed(events))
    deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${message.agentId}/${message.id}`))
  }
  return rejected
}
