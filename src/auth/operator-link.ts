import { AppError } from '../core/errors.ts'
import { audit, findOnlyMember, resolveWorkspace } from '../workspace/index.ts'
import { createSignInLink, type LinkDeps } from './sign-in-link.ts'

/** Output of the command line: the only time that the link can be read. */
export interface OperatorLink {
  workspace: string
  member: string
  url: string
  expiresAt: string
}

/**
 * Creates a link with which a member signs in in any browser: by default the workspace's first owner. Throws
 * `not_found`, or `conflict` when there are several workspaces to choose from.
 */
export const createOperatorLink = async (
  deps: LinkDeps,
  { email, workspaceId }: { email?: string | undefined; workspaceId?: string | undefined },
): Promise<OperatorLink> => {
  const member = email
    ? await findOnlyMember(deps, email, workspaceId)
    : await deps.prisma.member.findFirst({
        where: { workspaceId: await resolveWorkspace(deps, workspaceId), role: 'owner' },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      })
  if (!member) throw new AppError('not_found', 'This workspace has no owner.')
  const link = await createSignInLink(deps, member.id, { browser: null, path: '/app/sign-in' })
  const operator = { workspaceId: member.workspaceId, kind: 'operator', id: null, tokenId: null } as const
  await audit(deps, operator, { action: 'session.link', agentId: null, detail: { member: member.id } })
  return {
    workspace: member.workspaceId,
    member: member.id,
    url: link.url,
    expiresAt: link.expiresAt.toISOString(),
  }
}
