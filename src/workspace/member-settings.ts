import { AppError, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Member } from '../db/generated/prisma/client.ts'
import type { MemberRole } from '../db/generated/prisma/enums.ts'
import type { Notifier } from '../db/notify.ts'
import { audit } from './audit.ts'
import { ensureMember, ensureOwner, ensureStillOwner } from './member.ts'
import { RIGHTS_CHANGED, type Viewer, type ViewerDeps } from './viewer.ts'

type Deps = Db & Pick<ViewerDeps, 'clock' | 'knownViewers'>

export interface MemberChanges {
  name?: string | undefined
  /** Whether messages that wait for approval are announced by email. */
  approvalMails?: boolean | undefined
}

/** Changes the calling member's own name and settings. */
export const updateOwnMember = async (
  deps: Deps,
  viewer: Viewer,
  changes: MemberChanges,
): Promise<Member> => {
  ensureMember(viewer)
  const data = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const changed = await deps.prisma.$transaction(async (prisma) => {
    if (Object.keys(data).length > 0)
      await audit({ ...deps, prisma }, viewer, { action: 'member.update', agentId: null, detail: data })
    return prisma.member.update({ where: { id: viewer.id }, data })
  })
  deps.knownViewers.forgetMember(viewer.id)
  return changed
}

/** Changes a member's role, in every process at once. For owners. Throws `conflict` for the last owner, because a workspace needs one. */
export const changeRole = async (
  deps: Db & Pick<ViewerDeps, 'clock'> & { notifier: Pick<Notifier, 'publish'> },
  viewer: Viewer,
  memberId: string,
  role: MemberRole,
): Promise<Member> => {
  ensureOwner(viewer)
  const { workspaceId } = viewer
  const changed = await deps.prisma.$transaction(async (prisma) => {
    // Locked, because two owners who demote each other concurrently would leave none.
    await prisma.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
    await ensureStillOwner(prisma, viewer)
    const member = await prisma.member.findFirst({ where: { id: memberId, workspaceId } })
    if (!member) throw notFound('member')
    if (member.role === role) return member
    const owners = await prisma.member.count({ where: { workspaceId, role: 'owner' } })
    if (role !== 'owner' && owners === 1)
      throw new AppError('conflict', 'The last owner of a workspace cannot become a member.')
    await audit({ ...deps, prisma }, viewer, {
      action: 'member.role',
      agentId: null,
      detail: { member: memberId, email: member.email, role },
    })
    return prisma.member.update({ where: { id: memberId }, data: { role } })
  })
  deps.notifier.publish(RIGHTS_CHANGED, workspaceId)
  return changed
}
