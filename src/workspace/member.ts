import type { Clock } from '../core/clock.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Member, Prisma } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { audit } from './audit.ts'
import { TOKEN_REVOKED } from './token.ts'
import type { Viewer } from './viewer.ts'

export interface MemberDeps extends Db {
  clock: Clock
  notifier: Notifier
  /** Takes a member off the lists of the workspace's agents. */
  forgetMember(tx: Prisma.TransactionClient, member: Member): Promise<void>
}

/** A member as other members read it. */
export const presentMember = ({ id, email, name, role, createdAt }: Member) => ({
  id,
  email,
  name,
  role,
  createdAt: createdAt.toISOString(),
})

/** Throws `forbidden` for an agent. */
export const ensureMember = (viewer: Viewer): void => {
  if (viewer.kind !== 'member') throw new AppError('forbidden', 'Only a member can do this.')
}

/** Throws `forbidden` for everybody but the workspace's owners. */
export const ensureOwner = (viewer: Viewer): void => {
  if (viewer.role !== 'owner') throw new AppError('forbidden', 'Only an owner of the workspace can do this.')
}

/** The people of the workspace, oldest first. For members. */
export const listMembers = async ({ prisma }: Db, viewer: Viewer): Promise<Member[]> => {
  ensureMember(viewer)
  return prisma.member.findMany({
    where: { workspaceId: viewer.workspaceId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
}

/**
 * Takes a person out of the workspace: their tokens count for nothing from now on, and what those hold open
 * is closed on every process. With them go the invitations that they made, the links that they asked for, and
 * their entries in the access lists of the agents. For owners. Throws `conflict` for the last owner: somebody
 * must be able to do this.
 */
export const removeMember = async (deps: MemberDeps, viewer: Viewer, memberId: string): Promise<void> => {
  ensureOwner(viewer)
  const { workspaceId } = viewer
  const revoked = await deps.prisma.$transaction(async (prisma) => {
    const removed = await prisma.member.findFirst({ where: { id: memberId, workspaceId } })
    if (removed) await deps.forgetMember(prisma, removed)
    // Two owners who remove each other at the same moment would leave none.
    await prisma.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
    const member = await prisma.member.findFirst({
      where: { id: memberId, workspaceId },
      include: { tokens: { select: { id: true } } },
    })
    if (!member) throw notFound('member')
    const isLastOwner =
      member.role === 'owner' && (await prisma.member.count({ where: { workspaceId, role: 'owner' } })) === 1
    if (isLastOwner) throw new AppError('conflict', 'The last owner of a workspace cannot be removed.')
    await prisma.member.delete({ where: { id: memberId } })
    await audit({ ...deps, prisma }, viewer, {
      action: 'member.remove',
      agentId: null,
      detail: { member: memberId, email: member.email },
    })
    return member.tokens
  })
  for (const { id } of revoked) deps.notifier.publish(TOKEN_REVOKED, id)
}
