import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Viewer } from './viewer.ts'

/** Something that may be asked about later. `detail` never holds a value or a token. */
export interface Audited {
  action: 'secret.reveal' | 'token.create' | 'token.revoke'
  agentId: string | null
  detail: Prisma.InputJsonObject
}

/** Writes who did what, when. Resolves once that is committed. */
export const audit = async (
  { prisma, clock }: Db & { clock: Clock },
  viewer: Viewer,
  { action, agentId, detail }: Audited,
): Promise<void> => {
  await prisma.auditEntry.create({
    data: {
      workspaceId: viewer.workspaceId,
      agentId,
      actorKind: viewer.kind,
      actorId: viewer.id,
      tokenId: viewer.tokenId,
      action,
      detail,
      createdAt: clock.now(),
    },
  })
}
