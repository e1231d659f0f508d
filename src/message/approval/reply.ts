import { type ChatDeps, readReplyOf, SIGN_IN_FIRST } from '../../agent/index.ts'
import type { AnswerClaim } from '../../core/channel/inbound.ts'
import { AppError } from '../../core/errors.ts'
import { deciderOf } from '../../workspace/index.ts'
import { type ApprovalDeps, approveMessage, rejectMessage } from './approval.ts'
import { APPROVE_OR_REJECT } from './approval-request.ts'
import { APPROVAL_DAYS } from './hold.ts'

/** How many of the agent's newest messages that waited or wait a reply may be about. */
const MAX_LOOKED_AT = 1_000
const DAY_MS = 24 * 3_600_000

const TOLD: readonly string[] = ['conflict', 'forbidden', 'rate_limited', 'unauthorized', 'not_found']

const failureOf = (error: unknown): string => {
  if (!(error instanceof AppError) || !TOLD.includes(error.code)) throw error
  return error.message
}

/** `1`, a button's `#1`, `Approve` or `approve.`; null for anything else. */
const verdictOf = (text: string): (typeof APPROVE_OR_REJECT)[number] | null => {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^#|\.$/g, '')
  return (
    APPROVE_OR_REJECT.find((one, index) => word === one.toLowerCase() || word === String(index + 1)) ?? null
  )
}

/** Messages are asked about in chats only if they are sent at once: an agent can set a time later, which nobody saw there. */
const MOVED = 'It is sent at a time that was set since. Approve it in the web application.'

/** Takes what a member decides in a chat about a message that waits. Resolves with the reply, or null when it is about none. */
export const decideInChat = async (
  deps: ApprovalDeps & ChatDeps,
  claim: AnswerClaim,
): Promise<string | null> => {
  const reply = await readReplyOf(deps, claim)
  if (!reply) return null
  const { agentId, member } = reply
  const since = new Date(deps.clock.now().getTime() - 2 * APPROVAL_DAYS * DAY_MS)
  const asked = await deps.prisma.message.findMany({
    where: {
      ...{ agentId, direction: 'outbound', createdAt: { gt: since } },
      OR: [{ holdReason: 'approval' }, { holdBy: { not: null } }],
    },
    select: { id: true, sendAt: true },
    orderBy: { createdAt: 'desc' },
    take: MAX_LOOKED_AT,
  })
  const message = asked.find(({ id }) => reply.isTo(id))
  if (!message) return null
  if (reply.needsSignIn) return SIGN_IN_FIRST
  const verdict = verdictOf(reply.text)
  if (verdict === null) return 'Please answer Approve (1) or Reject (2).'
  if (verdict === 'Approve' && message.sendAt !== null) return MOVED
  const decide = verdict === 'Approve' ? approveMessage : rejectMessage
  try {
    await decide(deps, deciderOf(member), { agentId, messageId: message.id })
    return verdict === 'Approve' ? 'Approved: it is on its way.' : 'Rejected: it is not sent.'
  } catch (error) {
    return failureOf(error)
  }
}
