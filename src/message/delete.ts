import { findAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { define, raw, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { within } from '../db/transaction.ts'
import { audit, noteChange, type Viewer } from '../workspace/index.ts'
import { deleteOld, OLD } from './stored/deletion.ts'
import { removeSends } from './stored/send-job.ts'

export interface DeleteDeps extends Db {
  clock: Clock
}

/** The messages are locked in the order of their ids, so that two requests cannot deadlock. */
const DELETE = {
  name: 'delete messages',
  ...composedOf(sql`
    with
    ${define(OLD)} as materialized (
      select id, agent_id from message where agent_id = $1 and id = any($2::uuid[]) order by id for update
    ),${deleteOld(raw('$1'))}
    select id from gone`),
}

/**
 * In a statement of its own, so that the one that deletes sees notes that were added while it waited for the lock, and
 * before the sends, as where a send is cancelled or settled: these would deadlock otherwise.
 */
const LOCK = {
  name: 'lock messages to delete',
  text: 'select id from message where agent_id = $1 and id = any($2::uuid[]) order by id for update',
}

/**
 * Before the messages: the search index locks messages that it takes from there, in an order of its own.
 */
const UNQUEUE = {
  name: 'delete unindexed messages',
  text: 'delete from unindexed_message where agent_id = $1 and message_id = any($2::uuid[])',
}

/** Deletes all of the messages, or none if `ensureAll`, called with the ids of those that exist, throws. */
const remove = async (
  deps: DeleteDeps,
  viewer: Viewer,
  { agentId, ids }: { agentId: string; ids: readonly string[] },
  ensureAll: (found: ReadonlySet<string>) => void,
): Promise<void> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  await deps.prisma.$transaction(async (prisma) => {
    const { pool } = within(prisma)
    await pool.query({ ...UNQUEUE, values: [agentId, ids] })
    await pool.query({ ...LOCK, values: [agentId, ids] })
    await removeSends(prisma, agentId, ids)
    const { rows } = await pool.query<{ id: string }>({ ...DELETE, values: [agentId, ids] })
    ensureAll(new Set(rows.map(({ id }) => id)))
    const detail = { messages: [...ids] }
    await audit({ ...deps, prisma }, viewer, { action: 'message.delete', agentId, detail })
    await noteChange(prisma, { workspaceId, kind: 'message_changed', agentId, ids })
  })
}

/**
 * Deletes a message with its files and its original. One that waits to be sent is not sent any more, unless a
 * worker has begun. Throws `not_found`.
 */
export const deleteMessage = (
  deps: DeleteDeps,
  viewer: Viewer,
  { agentId, messageId }: { agentId: string; messageId: string },
): Promise<void> =>
  remove(deps, viewer, { agentId, ids: [messageId] }, (found) => {
    if (found.size === 0) throw notFound('message')
  })

/** Deletes messages as `deleteMessage` does: all of them, or none if it throws `invalid_input`. */
export const deleteMessages = (
  deps: DeleteDeps,
  viewer: Viewer,
  agentId: string,
  ids: readonly string[],
): Promise<void> =>
  remove(deps, viewer, { agentId, ids: [...new Set(ids)] }, (found) => {
    for (const [index, id] of ids.entries())
      if (!found.has(id)) throw invalidInput(`ids[${index}]`, 'is not a message of this agent')
  })
