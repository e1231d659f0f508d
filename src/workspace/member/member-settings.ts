import { AppError, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Member } from '../../db/generated/prisma/client.ts'
import type { MemberRole } from '../../db/generated/prisma/enums.ts'
import type { Notifier } from '../../db/notify.ts'
import { audit } from '../change/audit.ts'
import { noteChange } from '../change/change-log.ts'
import { RIGHTS_CHANGED, type Viewer, type ViewerDeps } from '../token/viewer.ts'
import { ensureMember, ensureOwner, ensureStillOwner } from './member.ts'

type Deps = Db & Pick<ViewerDeps, 'clock' | 'knownViewers'>

/** A search of the web application that a member saved. */
export interface SavedView {
  name: string
  path: string
}

export interface MemberChanges {
  name?: string | undefined
  /** Whether messages that wait for approval are announced by email. */
  approvalMails?: boolean | undefined
  /** Whether questions of agents are announced by email and in chats. */
  questionMails?: boolean | undefined
  views?: readonly SavedView[] | undefined
}

/** Returns the searches that the calling member saved. */
export const readViews = async ({ prisma }: Db, viewer: Viewer): Promise<SavedView[]> => {
  ensureMember(viewer)
  const where = { id: viewer.id }
  return (await prisma.member.findUniqueOrThrow({ where, select: { views: true } }))
    .views as unknown as SavedView[]
}

/** Changes the calling member's own name and settings. */
export const updateOwnMember = async (
  deps: Deps,
  viewer: Viewer,
  { views, ...changes }: MemberChanges,
): Promise<Member> => {
  ensureMember(viewer)
  const { workspaceId } = viewer
  const data = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const changed = await deps.prisma.$transaction(async (prisma) => {
    if (Object.keys(data).length > 0)
      await audit({ ...deps, prisma }, viewer, { action: 'member.update', agentId: null, detail: data })
    // What a member searches for is private: open pages are notified, but it is not in the audit log.
    if (views) await noteChange(prisma, { workspaceId, kind: 'member', agentId: null })
    const saved = views && { views: views.map(({ name, path }) => ({ name, path })) }
    return prisma.member.update({ where: { id: viewer.id }, data: { ...data, ...saved } })
  })
  deps.afterCommit(() => deps.knownViewers.forgetMember(viewer.id))
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
  deps.afterCommit(() => deps.notifier.publish(RIGHTS_CHANGED, workspaceId))
  return changed
}
