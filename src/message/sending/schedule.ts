import { findAgent } from '../../agent/index.ts'
import { AppError } from '../../core/errors.ts'
import type { Message, Prisma } from '../../db/generated/prisma/client.ts'
import type { LoggedEvent } from '../../event/index.ts'
import { type Action, audit, type Decider, nameOf, noteChange } from '../../workspace/index.ts'
import type { ApprovalDeps, MessageRef } from '../approval/approval.ts'
import { awaitsApproval, checkSendAt } from '../approval/hold.ts'
import { failWaiting, findOutgoing } from '../approval/waiting.ts'
import { MESSAGE_CHANGED } from '../stored/changed.ts'
import type { MessageWithFiles } from '../stored/row.ts'
import { postponeSend, SEND_DUE, withdrawSend } from '../stored/send-job.ts'
import { lockMessage } from '../stored/status.ts'

const notWaiting = () =>
  new AppError('conflict', 'This message does not wait: it has been sent, has failed or is being sent.')

interface Change {
  action: Extract<Action, 'message.cancel' | 'message.reschedule'>
  /** Returns the events that it raised. */
  apply(tx: Prisma.TransactionClient, message: Message): Promise<LoggedEvent[]>
}

/** Changes a message that waits for approval or for its time. Throws `conflict` when it does not wait any more. */
const change = async (
  deps: ApprovalDeps,
  viewer: Decider,
  { agentId, messageId }: MessageRef,
  { action, apply }: Change,
): Promise<MessageWithFiles> => {
  await findAgent(deps, viewer, agentId)
  const { changed, events } = await deps.prisma.$transaction(async (tx) => {
    await lockMessage(tx, { id: messageId, agentId })
    const message = await findOutgoing(tx, { agentId, messageId })
    if (message.status !== 'sending' || message.holdUntil === null) throw notWaiting()
    const events = await apply(tx, message)
    await audit({ ...deps, prisma: tx }, viewer, { action, agentId, detail: { message: messageId } })
    const { workspaceId } = message
    await noteChange(tx, { workspaceId, kind: 'message_changed', agentId, ids: [messageId] })
    return { events, changed: await findOutgoing(tx, { agentId, messageId }) }
  })
  deps.afterCommit(() => deps.feed.committed(events))
  deps.afterCommit(() => deps.notifier.publish(SEND_DUE, agentId))
  deps.afterCommit(() => deps.notifier.publish(MESSAGE_CHANGED, `${agentId}/${messageId}`))
  return changed
}

/** Cancels a message that waits for approval or for its time: it becomes `failed`. */
export const cancelMessage = (
  deps: ApprovalDeps,
  viewer: Decider,
  ref: MessageRef,
): Promise<MessageWithFiles> =>
  change(deps, viewer, ref, {
    action: 'message.cancel',
    apply: async (tx, message) => {
      if (!awaitsApproval(message) && !(await withdrawSend(tx, message))) throw notWaiting()
      const by = nameOf(viewer)
      return failWaiting(tx, message, { error: `Cancelled by ${by}`, by, now: deps.clock.now() })
    },
  })

/** Changes when a message is sent that waits for approval or for its time. */
export const rescheduleMessage = async (
  deps: ApprovalDeps,
  viewer: Decider,
  ref: MessageRef,
  sendAt: Date,
): Promise<MessageWithFiles> => {
  checkSendAt(sendAt, deps.clock.now())
  return change(deps, viewer, ref, {
    action: 'message.reschedule',
    apply: async (tx, message) => {
      const waitsForApproval = awaitsApproval(message)
      if (!waitsForApproval && !(await postponeSend(tx, message, sendAt))) throw notWaiting()
      await tx.message.update({
        where: { id_agentId: { id: message.id, agentId: message.agentId } },
        data: { sendAt, ...(waitsForApproval ? {} : { holdUntil: sendAt }) },
      })
      return []
    },
  })
}
