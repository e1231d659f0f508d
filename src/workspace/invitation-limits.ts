import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'

/** Each invitation is a mail to somebody who may not want it, in the service's name. */
const AN_HOUR = 20
const AT_A_TIME = 50
const A_DAY_FOR_AN_ADDRESS = 3

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const tooMany = (words: string, retryAfterMs: number) =>
  new AppError('rate_limited', words, { retryAfter: retryAfterMs / 1000 })

/**
 * Throws `rate_limited` when the workspace has invited too often in the last hour, or this address in the
 * last day, and `conflict` when too many invitations are open. Inside a transaction that holds the workspace:
 * of several at once each is counted.
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
  if ((await prisma.auditEntry.count({ where: since(HOUR_MS) })) >= AN_HOUR)
    throw tooMany(`A workspace can send at most ${AN_HOUR} invitations an hour.`, HOUR_MS)
  const toIt = { ...since(DAY_MS), detail: { path: ['email'], equals: email } }
  if ((await prisma.auditEntry.count({ where: toIt })) >= A_DAY_FOR_AN_ADDRESS)
    throw tooMany(`At most ${A_DAY_FOR_AN_ADDRESS} invitations a day can be sent to one address.`, DAY_MS)
  const open = { workspaceId, acceptedAt: null, expiresAt: { gt: now }, email: { not: email } }
  if ((await prisma.invitation.count({ where: open })) >= AT_A_TIME)
    throw new AppError(
      'conflict',
      `At most ${AT_A_TIME} invitations can be open at a time: revoke one first.`,
    )
}
