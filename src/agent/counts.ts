import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { type DayCounts, type DayRange, daysIn, readDayCounts, type Viewer } from '../workspace/index.ts'
import { findAgent } from './access/permission.ts'

export interface CountRequest extends DayRange {
  /** Null or left out: all agents of the workspace, also those that were deleted since. For members only. */
  agentId?: string | null | undefined
}

/**
 * Returns what happened on each day (UTC) of the range; counts are kept for 400 days. Throws `invalid_input`
 * for a range that is none, and `forbidden` and `not_found` like every operation on an agent.
 */
export const countPerDay = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  { agentId = null, ...range }: CountRequest,
): Promise<DayCounts[]> => {
  if (agentId !== null) await findAgent(deps, viewer, agentId)
  else if (viewer.kind !== 'member') throw new AppError('forbidden', 'Only a member can do this.')
  return readDayCounts(deps, { workspaceId: viewer.workspaceId, agentId }, daysIn(range, deps.clock.now()))
}
