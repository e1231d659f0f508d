import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'

/** Invitations that a workspace can send within an hour: each is a mail in the service's name to someone who may not want it. @limit Members */
const MAX_PER_HOUR = 20
/** Invitations of a workspace that can be open at a time. @limit Members */
const MAX_OPEN = 50
/** Invitations to one address within a day. @limit Members */
const MAX_PER_DAY_AND_ADDRESS = 3

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const tooMany = (words: string, retryAfterMs: number) =>
  new AppError('rate_limited', words, { retryAfter: retryAfterMs / 1000 })

/**
 * Throws `rate_limited` when the workspace has sent too many invitations in the last hour, or to this address
 * in the last day, and `conflict` when too many are open. Runs inside a transaction that has locked the
 * workspace, so that concurrent invitations are all counted.
 */
export const ensureMayInvite = async (
  { prisma, clock }: { prisma: Pick<Prisma.TransactionClient, 'auditEntry' | 'invitation'>; clock: Clock },
  workspaceId: string,
  email: string,
): Promise<void> => {
  const now = clock.now()
  const since = (ms: number) => ({
    workspaceId,
    action: 'member.invite',
    createdAt: { gt: new Date(now.getTime() - ms) },
  })
  if ((await prisma.auditEntry.count({ where: since(HOUR_MS) })) >= MAX_PER_HOUR)
    throw tooMany(`A workspace can send at most ${MAX_PER_HOUR} invitations an hour.`, HOUR_MS)
  const toIt = { ...since(DAY_MS), detail: { path: ['email'], equals: email } }
  if ((await prisma.auditEntry.count({ where: toIt })) >= MAX_PER_DAY_AND_ADDRESS)
    throw tooMany(`At most ${MAX_PER_DAY_AND_ADDRESS} invitations a day can be sent to one address.`, DAY_MS)
  const open = { workspaceId, acceptedAt: null, expiresAt: { gt: now }, email: { not: email } }
  if ((await prisma.invitation.count({ where: open })) >= MAX_OPEN)
    throw new AppError('conflict', `At most ${MAX_OPEN} invitations can be open at a time: revoke one first.`)
}
