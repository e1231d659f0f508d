import { type Page, pageOf, readMoment, writeCursor } from '../core/cursor.ts'
import type { Db } from '../db/client.ts'
import type { AuditEntry, Prisma } from '../db/generated/prisma/client.ts'
import type { Action } from './audit.ts'
import { ensureMember } from './member.ts'
import type { Viewer } from './viewer.ts'

/** Returns an entry in its public form. */
export const presentAudit = ({
  id,
  action,
  agentId,
  actorKind,
  actorId,
  actorName,
  tokenId,
  detail,
  createdAt,
}: AuditEntry) => ({
  id,
  action: action as Action,
  agentId,
  actor: { kind: actorKind, id: actorId, name: actorName, tokenId },
  detail: detail as Record<string, unknown>,
  createdAt: createdAt.toISOString(),
})

/** Returns the cursor of an entry in the list. */
export const auditCursor = ({ createdAt, id }: AuditEntry): string => writeCursor(createdAt.getTime(), id)

const behind = (cursor: string): Prisma.AuditEntryWhereInput => {
  const [createdAt, id] = readMoment(cursor)
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }] }
}

/** Which entries a list shows. The agent and the actor may have been deleted since. */
export interface AuditFilter {
  agentId?: string | undefined
  action?: Action | undefined
  /** The member or agent who did it. */
  actorId?: string | undefined
  since?: Date | undefined
  until?: Date | undefined
}

/** Returns a page of the workspace's audit log, newest first. For members. */
export const listAudit = async (
  { prisma }: Db,
  viewer: Viewer,
  { agentId, action, actorId, since, until }: AuditFilter,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntry>> => {
  ensureMember(viewer)
  const filter: Prisma.AuditEntryWhereInput = {
    ...(agentId ? { agentId } : {}),
    ...(action ? { action } : {}),
    ...(actorId ? { actorId } : {}),
    ...(since || until
      ? { AND: [{ createdAt: { ...(since && { gte: since }), ...(until && { lte: until }) } }] }
      : {}),
  }
  const found = await prisma.auditEntry.findMany({
    where: { workspaceId: viewer.workspaceId, ...filter, ...(cursor === undefined ? {} : behind(cursor)) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  return pageOf(found, limit, auditCursor)
}
