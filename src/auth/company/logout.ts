import type { IncomingMessage } from 'node:http'
import { AppError } from '../../core/errors.ts'
import { endSessions } from '../session.ts'
import { countRequest } from './limits.ts'
import { NOT_VALID_LOGOUT, readLogoutToken } from './provider.ts'
import type { CompanyDeps } from './sign-in.ts'
import { isUsed, use } from './used.ts'

/**
 * Ends the sessions that a company's provider says are over (OpenID Connect Back-Channel Logout 1.0): one, or all of a person. Throws
 * `forbidden` unless the provider has signed the token for this workspace, and `rate_limited`.
 */
export const endCompanySessions = async (
  deps: CompanyDeps,
  request: IncomingMessage,
  { workspaceId, token }: { workspaceId: string; token: string },
): Promise<void> => {
  countRequest(deps, request, 'logout', workspaceId)
  const row = await deps.prisma.companySignIn.findUnique({ where: { workspaceId } })
  if (row === null) throw new AppError('forbidden', NOT_VALID_LOGOUT)
  // Not among the calls of those who sign in: others must not take their places.
  const { id, issuer, subject, sid } = await deps.externalCalls.run(`company logout:${workspaceId}`, () =>
    readLogoutToken(deps, row, token),
  )
  const key = `${workspaceId} ${id}`
  if (await isUsed(deps, 'CompanyLogout', key)) return
  const identity = { workspaceId, issuer, ...(subject !== null && { subject }) }
  const members = await deps.prisma.member.findMany({
    where: { workspaceId, companyIdentity: identity },
    select: { id: true },
  })
  const session = { way: 'company', ...(sid !== null && { companySid: sid }) }
  const where = { workspaceId, memberId: { in: members.map(({ id }) => id) }, session }
  const tokens = await deps.prisma.token.findMany({
    where,
    distinct: ['memberId'],
    select: { memberId: true },
  })
  for (const { memberId } of tokens) {
    const actor = { workspaceId, kind: 'member', id: memberId, tokenId: null } as const
    await endSessions(deps, actor, { ...where, memberId })
  }
  // Last, so that the provider's second attempt does what the first could not.
  await use(deps, 'CompanyLogout', key)
}
