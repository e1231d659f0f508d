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
  tokenId,
  detail,
  createdAt,
}: AuditEntry) => ({
  id,
  action: action as Action,
  agentId,
  actor: { kind: actorKind, id: actorId, tokenId },
  detail: detail as Record<string, unknown>,
  createdAt: createdAt.toISOString(),
})

/** Returns the cursor of an entry in the list. */
export const auditCursor = ({ createdAt, id }: AuditEntry): string => writeCursor(createdAt.getTime(), id)

const behind = (cursor: string): Prisma.AuditEntryWhereInput => {
  const [createdAt, id] = readMoment(cursor)
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: id } }] }
}

/**
 * Returns a page of the workspace's audit log, newest first: of everything, or of one agent, which may have
 * been deleted. For members.
 */
export const listAudit = async (
  { prisma }: Db,
  viewer: Viewer,
  { agentId, action }: { agentId?: string | undefined; action?: Action | undefined },
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntry>> => {
  ensureMember(viewer)
  const filter = { ...(agentId ? { agentId } : {}), ...(action ? { action } : {}) }
  const found = await prisma.auditEntry.findMany({
    where: { workspaceId: viewer.workspaceId, ...filter, ...(cursor === undefined ? {} : behind(cursor)) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  return pageOf(found, limit, auditCursor)
}
