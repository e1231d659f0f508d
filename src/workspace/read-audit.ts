import { type Page, pageOf, readMoment, writeCursor } from '../core/cursor.ts'
import type { Db } from '../db/client.ts'
import type { Prisma, AuditEntry as Row } from '../db/generated/prisma/client.ts'
import { ACTIONS, type Action } from './change/audit.ts'
import { ensureMember } from './member/member.ts'
import type { Viewer } from './token/viewer.ts'

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
}: Row) => ({
  id,
  action: action as Action,
  agentId,
  actor: { kind: actorKind, id: actorId, name: actorName, tokenId },
  detail: detail as Record<string, unknown>,
  createdAt,
})

export type AuditEntry = ReturnType<typeof presentAudit>

/** Returns the cursor of an entry in the list. */
export const auditCursor = ({ createdAt, id }: Pick<Row, 'createdAt' | 'id'>): string =>
  writeCursor(createdAt.getTime(), id)

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

/** Names the members of entries that have no name because they are older: as they are called now, if they still are members. */
const withNames = async ({ prisma }: Db, entries: Row[]): Promise<Row[]> => {
  const unnamed = entries.flatMap(({ actorKind, actorId, actorName }) =>
    actorKind === 'member' && actorId !== null && actorName === null ? [actorId] : [],
  )
  if (unnamed.length === 0) return entries
  const members = await prisma.member.findMany({
    where: { id: { in: [...new Set(unnamed)] } },
    select: { id: true, name: true, email: true },
  })
  const names = new Map(members.map(({ id, name, email }) => [id, name ?? email]))
  return entries.map((entry) => ({
    ...entry,
    actorName: entry.actorName ?? names.get(entry.actorId ?? '') ?? null,
  }))
}

/**
 * Returns a page of the workspace's audit log, newest first. For members. Actions that a newer version recorded, which
 * runs or ran on the same database, are left out: clients of this one know no name for them.
 */
export const listAudit = async (
  db: Db,
  viewer: Viewer,
  { agentId, action, actorId, since, until }: AuditFilter,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<AuditEntry>> => {
  ensureMember(viewer)
  const filter: Prisma.AuditEntryWhereInput = {
    ...(agentId ? { agentId } : {}),
    action: action ?? { in: [...ACTIONS] },
    ...(actorId ? { actorId } : {}),
    ...(since || until
      ? { AND: [{ createdAt: { ...(since && { gte: since }), ...(until && { lte: until }) } }] }
      : {}),
  }
  const found = await db.prisma.auditEntry.findMany({
    where: { workspaceId: viewer.workspaceId, ...filter, ...(cursor === undefined ? {} : behind(cursor)) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  return pageOf((await withNames(db, found)).map(presentAudit), limit, auditCursor)
}
