import { findAgent } from '../../agent/index.ts'
import type { Clock } from '../../core/clock.ts'
import { type Page, readMoment } from '../../core/cursor.ts'
import type { Db } from '../../db/client.ts'
import type { Viewer } from '../../workspace/index.ts'
import { messageCursor } from './find.ts'
import { readThreads, type Thread } from './thread.ts'
import { readThreadPlaces, type ThreadPage } from './thread-places.ts'

type Filter = Omit<ThreadPage, 'limit' | 'before' | 'now'>

/** Lists a page of an agent's threads, most recent activity first. */
export const listThreads = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  agentId: string,
  { filter, limit, cursor }: { filter: Filter; limit: number; cursor?: string | undefined },
): Promise<Page<Thread>> => {
  await findAgent(deps, viewer, agentId)
  const [createdAt, id] = cursor === undefined ? [] : readMoment(cursor)
  const before = createdAt && id !== undefined ? { createdAt, id } : undefined
  const request = { ...filter, before, limit: limit + 1, now: deps.clock.now() }
  const [list] = await readThreadPlaces(deps, [{ agentId }], request)
  const { places, end } = list!
  const shown = places.slice(0, limit)
  const threads = await readThreads(deps, shown)
  const last = shown.at(-1)
  const next = places.length > limit && last ? { id: last.messageId, createdAt: last.createdAt } : end
  return {
    items: threads.flatMap((thread) => thread ?? []),
    nextCursor: next ? messageCursor(next) : null,
  }
}
