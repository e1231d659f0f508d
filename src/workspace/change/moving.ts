import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'

/**
 * A workspace that is moving to another installation, or has moved there, is closed here: nothing is accepted or delivered for
 * it. Clients are asked to try again, and then find it in the other installation.
 */

/** Topic of notifications that a workspace is closed, or has come from another installation; the key is its id. */
export const WORKSPACE_MOVES = 'workspace_moves'

/**
 * SQL: whether the workspace with this id is closed. The table is nearly always empty, and is read once per statement, whereas
 * PostgreSQL would plan a join for many rows.
 */
export const isMoving = (workspaceId: string): string =>
  `(${workspaceId} = any(array(select workspace_id from workspace_move)))`

/** SQL: the same for the workspace of an agent, which is looked up only while one is closed. */
export const isMovingAgent = (agentId: string): string =>
  `(case when exists (select from workspace_move)
        then exists (select from agent moved where moved.id = ${agentId} and ${isMoving('moved.workspace_id')}) else false end)`

const RETRY_AFTER_S = 10

export const movingError = (): AppError =>
  new AppError('unavailable', 'This workspace is moving to another installation. Try again shortly.', {
    retryAfter: RETRY_AFTER_S,
  })

/** Throws `unavailable` for a workspace that is closed. */
export const ensureNotMoving = async (
  { prisma }: { prisma: Pick<Db['prisma'], 'workspaceMove'> },
  workspaceId: string,
): Promise<void> => {
  if ((await prisma.workspaceMove.count({ where: { workspaceId } })) > 0) throw movingError()
}
