import { type Page, pageOf, readCursor, writeCursor } from '../core/cursor.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma, Suppression } from '../db/generated/prisma/client.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { findAgent } from './reach.ts'

/** Puts recipients on an agent's list: nothing is sent to them any more. The first reason stays. Inside the caller's transaction. */
export const suppress = async (
  tx: Prisma.TransactionClient,
  { agentId, channel }: Pick<Suppression, 'agentId' | 'channel'>,
  recipients: readonly { address: string; detail: string }[],
  because: Pick<Suppression, 'reason' | 'createdAt'>,
): Promise<void> => {
  const data = recipients.map(({ address, detail }) => ({ agentId, channel, recipient: address.toLowerCase(), detail, ...because }))
  await tx.suppression.createMany({ data, skipDuplicates: true })
}

/** Who of these (normalized) recipients is on the agent's list. */
export const findSuppressed = (
  { prisma }: Db,
  { agentId, channel }: Pick<Suppression, 'agentId' | 'channel'>,
  recipients: readonly string[],
): Promise<Suppression[]> => prisma.suppression.findMany({ where: { agentId, channel, recipient: { in: [...recipients] } } })

/** The agent's suppression list, newest first, a page at a time. */
export const listSuppressions = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<Suppression>> => {
  await findAgent(deps, viewer, agentId)
  const found = await deps.prisma.suppression.findMany({
    where: { agentId, ...(cursor === undefined ? {} : behind(cursor)) },
    orderBy: [{ createdAt: 'desc' }, { recipient: 'asc' }],
    take: limit + 1,
  })
  return pageOf(found, limit, ({ createdAt, recipient }) => writeCursor(createdAt.getTime(), recipient))
}

const MOST_TIME = 8_640_000_000_000_000

const behind = (cursor: string): Prisma.SuppressionWhereInput => {
  const [time, recipient] = readCursor(cursor, 2)
  if (typeof time !== 'number' || Math.abs(time) > MOST_TIME || typeof recipient !== 'string' || recipient.includes('\0'))
    throw invalidInput('cursor', 'is not one that this list gave')
  const createdAt = new Date(time)
  return { OR: [{ createdAt: { lt: createdAt } }, { createdAt, recipient: { gt: recipient } }] }
}

/** Takes a recipient from the agent's list, so that it is written to again. Throws `not_found` for one that is not on it. */
export const removeSuppression = async (deps: Db, viewer: Viewer, agentId: string, recipient: string): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const { count } = await deps.prisma.suppression.deleteMany({ where: { agentId, recipient: recipient.toLowerCase() } })
  if (count === 0) throw new AppError('not_found', 'This recipient is not on the suppression list.')
}

/** An entry of the list as clients read it. */
export const presentSuppression = ({ channel, recipient, reason, detail, createdAt }: Suppression) => ({
  channel,
  recipient,
  reason,
  detail,
  createdAt: createdAt.toISOString(),
})
