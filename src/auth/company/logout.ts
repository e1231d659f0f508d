import { AppError } from '../../core/errors.ts'
import { endSessions } from '../session.ts'
import { readLogoutToken } from './provider.ts'
import { type CompanyDeps, callProvider, countTry, isFirstUse } from './sign-in.ts'

/**
 * Ends the sessions that a company's provider says are over (OpenID Connect Back-Channel Logout 1.0): one, or all of a person. Throws
 * `forbidden` unless the provider has signed the token for this workspace, and `rate_limited`.
 */
export const endCompanySessions = async (
  deps: CompanyDeps,
  request: Parameters<typeof countTry>[1],
  { workspaceId, token }: { workspaceId: string; token: string },
): Promise<void> => {
  countTry(deps, request)
  const row = await deps.prisma.companySignIn.findUnique({ where: { workspaceId } })
  if (row === null) throw new AppError('not_found', 'This workspace does not sign in with a company.')
  const { id, issuer, subject, sid } = await callProvider(deps, row, () => readLogoutToken(deps, row, token))
  if (!(await isFirstUse(deps, 'CompanyLogout', `${workspaceId} ${id}`))) return
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
}
