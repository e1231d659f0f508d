import type { Clock } from '../../core/clock.ts'
import { AppError, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Member, Prisma } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { rawIn } from '../../db/transaction.ts'
import { audit } from '../change/audit.ts'
import { holdWithDescendants } from '../token/family.ts'
import { revoking } from '../token/revoke.ts'
import type { EndSubscriptions } from '../token/token.ts'
import type { Viewer } from '../token/viewer.ts'

export interface MemberDeps extends Db {
  clock: Clock
  notifier: Notifier
  /** Removes a member from the lists of the workspace's agents. */
  forgetMember(tx: Prisma.TransactionClient, member: Member): Promise<void>
  endSubscriptions: EndSubscriptions
}

/** Throws `forbidden` for an agent, naming what it cannot do. */
export const ensureMember = (viewer: Pick<Viewer, 'kind'>, act = 'do this'): void => {
  if (viewer.kind !== 'member') throw new AppError('forbidden', `Only a member can ${act}.`)
}

/** Throws `forbidden` for everyone but the workspace's owners. */
export const ensureOwner = (viewer: Viewer): void => {
  if (viewer.role !== 'owner') throw new AppError('forbidden', 'Only an owner of the workspace can do this.')
}

/**
 * Throws `unauthorized` for a member who has been removed since the request was authenticated, and `forbidden` for one
 * who is no longer an owner. The workspace must be locked, as it is when a role is changed.
 */
export const ensureStillOwner = async (
  { member }: Pick<Prisma.TransactionClient, 'member'>,
  viewer: Viewer,
): Promise<void> => {
  const found = await member.findUnique({ where: { id: viewer.id }, select: { role: true } })
  if (!found) throw new AppError('unauthorized', 'This token is not valid.')
  ensureOwner({ ...viewer, role: found.role })
}

const HOLD = composedOf(sql`select 1 from member where id = $1::uuid for key share`)

/**
 * Prevents a member from being removed until the transaction, which inserts something of theirs, ends. Throws
 * `unauthorized` when they have been removed.
 */
export const holdMember = async (
  tx: Pick<Prisma.TransactionClient, '$queryRawUnsafe'>,
  memberId: string,
): Promise<void> => {
  const { rows } = await rawIn(tx).query({ ...HOLD, values: [memberId] })
  if (rows.length === 0) throw new AppError('unauthorized', 'You are no longer a member of this workspace.')
}

/** Returns the members of the workspace, oldest first. For members. */
export const listMembers = async ({ prisma }: Db, viewer: Viewer): Promise<Member[]> => {
  ensureMember(viewer)
  return prisma.member.findMany({
    where: { workspaceId: viewer.workspaceId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
}

/**
 * Removes a member from the workspace: their tokens, those made with these, and sessions are no longer valid, open streams of these are
 * closed in every process, and the subscriptions made with them end; so do the apps that they connected. Their
 * invitations, their links and their entries in the agents' access lists are deleted too. For owners. Throws
 * `conflict` for the last owner, because a workspace needs one.
 */
export const removeMember = async (deps: MemberDeps, viewer: Viewer, memberId: string): Promise<void> => {
  ensureOwner(viewer)
  const { workspaceId } = viewer
  await revoking(deps, async (prisma) => {
    const removed = await prisma.member.findFirst({ where: { id: memberId, workspaceId } })
    if (removed) await deps.forgetMember(prisma, removed)
    // Locked, because two owners who remove each other concurrently would leave none.
    await prisma.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
    await ensureStillOwner(prisma, viewer)
    // Locked, so that nobody creates another token for the member from here on.
    await prisma.$queryRaw`select 1 from member where id = ${memberId}::uuid for update`
    const member = await prisma.member.findFirst({
      where: { id: memberId, workspaceId },
      include: { tokens: { select: { id: true } }, connectedApps: { select: { tokenId: true } } },
    })
    if (!member) throw notFound('member')
    const isLastOwner =
      member.role === 'owner' && (await prisma.member.count({ where: { workspaceId, role: 'owner' } })) === 1
    if (isLastOwner) throw new AppError('conflict', 'The last owner of a workspace cannot be removed.')
    const apps = member.connectedApps.map(({ tokenId }) => tokenId)
    const own = [...member.tokens.map(({ id }) => id), ...apps]
    const tokenIds = await holdWithDescendants(prisma, own)
    await deps.endSubscriptions(prisma, { tokenIds })
    await prisma.token.deleteMany({ where: { id: { in: apps } } })
    await prisma.member.delete({ where: { id: memberId } })
    await audit({ ...deps, prisma }, viewer, {
      action: 'member.remove',
      agentId: null,
      detail: { member: memberId, email: member.email },
    })
    return { ended: tokenIds }
  })
}
