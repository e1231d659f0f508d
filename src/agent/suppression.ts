import { normalizeGiven } from '../core/address/email-address.ts'
import type { Clock } from '../core/clock.ts'
import { type Page, pageOf, readCursor, readTime, writeCursor } from '../core/cursor.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { lowerCase } from '../core/text/lower-case.ts'
import type { Db } from '../db/client.ts'
import type { Message, Prisma, Suppression } from '../db/generated/prisma/client.ts'
import { define, type Rows, rows, type Sql, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { audit, noteChange, noteNameless, type Viewer } from '../workspace/index.ts'
import { findAgent } from './access/permission.ts'

/**
 * Adds recipients to an agent's suppression list, so that nothing more is sent to them. An existing entry
 * keeps its reason. Runs inside the caller's transaction, and tells the members who watch the workspace.
 */
export const suppress = async (
  tx: Prisma.TransactionClient,
  { agentId, channel, workspaceId }: Pick<Message, 'agentId' | 'channel' | 'workspaceId'>,
  recipients: readonly { address: string; detail: string }[],
  because: Pick<Suppression, 'reason' | 'createdAt'>,
): Promise<void> => {
  const data = recipients.map(({ address, detail }) => ({
    agentId,
    channel,
    recipient: lowerCase(address),
    detail,
    ...because,
  }))
  const { count } = await tx.suppression.createMany({ data, skipDuplicates: true })
  if (count > 0) await noteChange(tx, { workspaceId, kind: 'suppression', agentId })
}

type Entries = Rows<'agent_id' | 'channel' | 'recipient' | 'reason' | 'detail' | 'created_at'>
const LISTS = rows('lists', 'agent_id', 'workspace_id')

/** The parts of a statement that suppress entries whose recipients are in lower case. */
export const suppressAll = (entries: Entries): Sql => sql`
    suppressed as (
      insert into suppression (agent_id, channel, recipient, reason, detail, created_at)
      select agent_id, channel, recipient, reason, detail, created_at from ${entries} on conflict do nothing
      returning agent_id
    ),
    ${define(LISTS)} as (select s.agent_id, a.workspace_id from suppressed s join agent a on a.id = s.agent_id),${noteNameless('suppression', LISTS)}`

/** Returns the entries of the agent's list for these (normalized) recipients. */
export const findSuppressed = (
  { prisma }: Db,
  { agentId, channel }: Pick<Suppression, 'agentId' | 'channel'>,
  recipients: readonly string[],
): Promise<Suppression[]> =>
  prisma.suppression.findMany({ where: { agentId, channel, recipient: { in: [...recipients] } } })

/** Returns the cursor of an entry in its list. */
export const suppressionCursor = ({ createdAt, recipient }: Suppression): string =>
  writeCursor(createdAt.getTime(), recipient)

const placeOf = (cursor: string): [Date, string] => {
  const [time, recipient] = readCursor(cursor, 2)
  if (typeof recipient !== 'string' || recipient.includes('\0'))
    throw invalidInput('cursor', 'is not a valid cursor for this list')
  return [readTime(time), recipient]
}

/** Returns a page of the list of each of these agents, newest first, with one statement for all of them. */
export const readSuppressions = async (
  { pool }: Db,
  agentIds: readonly string[],
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<Suppression>[]> => {
  const [createdAt, recipient] = cursor === undefined ? [null, null] : placeOf(cursor)
  const { rows } = await pool.query<Suppression>({
    name: 'suppression pages',
    ...composedOf(sql`select s.* from unnest($1::uuid[]) as a(id) cross join lateral (
             select agent_id as "agentId", channel, recipient, reason, detail, created_at as "createdAt" from suppression
              where agent_id = a.id and ($2::timestamptz is null or created_at < $2 or (created_at = $2 and recipient > $3))
              order by created_at desc, recipient limit $4) s`),
    values: [agentIds, createdAt, recipient, limit + 1],
  })
  const lists = new Map(agentIds.map((agentId) => [agentId, [] as Suppression[]]))
  for (const row of rows) lists.get(row.agentId)?.push(row)
  return agentIds.map((agentId) => pageOf(lists.get(agentId) ?? [], limit, suppressionCursor))
}

/** Returns a page of the agent's suppression list, newest first. */
export const listSuppressions = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  request: { limit: number; cursor?: string | undefined },
): Promise<Page<Suppression>> => {
  await findAgent(deps, viewer, agentId)
  const [page] = await readSuppressions(deps, [agentId], request)
  return page!
}

/**
 * Removes a recipient from the agent's list, so that messages are sent to it again. Throws `not_found` for
 * one that is not on the list, and `forbidden` for an agent when the recipient has complained.
 */
export const removeSuppression = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  agentId: string,
  recipient: string,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const entries = { agentId, recipient: normalizeGiven(recipient) }
  await deps.prisma.$transaction(async (tx) => {
    if (
      viewer.kind === 'agent' &&
      (await tx.suppression.count({ where: { ...entries, reason: 'complaint' } }))
    )
      throw new AppError(
        'forbidden',
        'The recipient has complained: only a member can remove it from the list.',
      )
    const { count } = await tx.suppression.deleteMany({ where: entries })
    if (count === 0) throw new AppError('not_found', 'This recipient is not on the suppression list.')
    const detail = { recipient: entries.recipient }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'suppression.remove', agentId, detail })
  })
}
