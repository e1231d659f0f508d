import { readCursor, writeCursor } from '../../core/cursor.ts'
import { invalidInput } from '../../core/errors.ts'
import { type ChangePosition, ensureMember, isSnapshot, readChangePosition } from '../../workspace/index.ts'
import type { GraphqlContext } from '../context/context.ts'
import type { Item, WorkspaceChanges } from '../feed/item.ts'
import { openFor, streamOf } from './follow.ts'

/** Returns a position as clients keep it. */
export const writePosition = ({ at, snapshot }: ChangePosition): string => writeCursor(at, snapshot)

const invalid = () => invalidInput('after', 'must be the position of an earlier result of this subscription')

const readPosition = async ({ deps }: GraphqlContext, after: string): Promise<ChangePosition> => {
  let parts: (string | number)[]
  try {
    parts = readCursor(after, 2)
  } catch {
    throw invalid()
  }
  const [at, snapshot] = parts
  if (typeof at !== 'number' || typeof snapshot !== 'string' || !(await isSnapshot(deps, snapshot)))
    throw invalid()
  return { at, snapshot }
}

/**
 * Follows what changes in the viewer's workspace, for members. The first result comes at once and tells the
 * position. A slow reader holds no memory but its position.
 */
export const followWorkspace = async (
  context: GraphqlContext,
  after: string | null | undefined,
): Promise<AsyncGenerator<Item, void, void>> => {
  const { deps, viewer, workspaces } = context
  ensureMember(viewer)
  const position = await (after ? readPosition(context, after) : readChangePosition(deps))
  const subscription = await openFor(context, { agentId: null, connectionId: null })
  const follower = workspaces.follow(viewer.workspaceId, position)
  const release = () => workspaces.unfollow(follower)
  subscription.onEnd(release)
  async function* items(): AsyncGenerator<Item, void, void> {
    for (;;) {
      const changes: WorkspaceChanges | null = await workspaces.next(follower)
      if (!changes) break
      yield changes
    }
    if (subscription.reason) yield { failure: subscription.reason }
  }
  return streamOf(context, subscription, items(), release)
}
