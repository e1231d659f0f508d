import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'

/**
 * Agents that were deleted while their messages, events and jobs may still be stored. These have no foreign key
 * to the agent, and everything that reads them looks up the agent first, so that they are gone for everybody
 * at once.
 */

/** Notes an agent, in the transaction that deletes it. */
export const noteDeleted = async (
  tx: Pick<Prisma.TransactionClient, 'deletedAgent'>,
  { id: agentId, workspaceId }: { id: string; workspaceId: string },
  deletedAt: Date,
): Promise<void> => {
  await tx.deletedAgent.create({ data: { agentId, workspaceId, deletedAt } })
}

/**
 * Time in milliseconds after which the last request that had found the agent has ended: statements are ended
 * after 30 s, and requests wait for nothing longer than a minute.
 */
const STRAGGLERS_MS = 10 * 60_000
const MAX = 100

/** Returns the ids of agents of which something may be stored, the first deleted first. */
export const findDeleted = async ({ prisma, clock }: Db & { clock: Clock }): Promise<string[]> => {
  const before = new Date(clock.now().getTime() - STRAGGLERS_MS)
  const found = await prisma.deletedAgent.findMany({
    where: { OR: [{ emptyAt: null }, { emptyAt: { lt: before } }] },
    orderBy: { deletedAt: 'asc' },
    take: MAX,
    select: { agentId: true },
  })
  return found.map(({ agentId }) => agentId)
}

/**
 * Records that nothing of the agent is stored. It is looked at once more, when no request can store anything
 * for it any more, and then forgotten.
 */
export const noteEmpty = async ({ prisma, clock }: Db & { clock: Clock }, agentId: string): Promise<void> => {
  const now = clock.now()
  const before = new Date(now.getTime() - STRAGGLERS_MS)
  await prisma.deletedAgent.deleteMany({ where: { agentId, emptyAt: { lt: before } } })
  await prisma.deletedAgent.updateMany({ where: { agentId, emptyAt: null }, data: { emptyAt: now } })
}
