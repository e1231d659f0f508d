import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'

/**
 * Makes every process read anew what decides whether the agent's messages may leave: a statement that stores one fits
 * one version of that only. Part of the transaction that changes it. It is 0 as long as the agent has had no secrets.
 */
export const changeGuard = async (
  { agent }: Pick<Prisma.TransactionClient, 'agent'>,
  id: string,
  changes: { guardHoldsUntil?: Date } = {},
): Promise<void> => {
  await agent.updateMany({ where: { id }, data: { guardVersion: { increment: 1 }, ...changes } })
}

/** Finds agents with secrets that a process of an earlier release has set: it does not change the version. */
const UNGUARDED = `
  select distinct s.agent_id as id from secret s join agent a on a.id = s.agent_id where a.guard_version = 0 limit 1000`

/** Guards the agents whose first secrets were set by a process of an earlier release. Idempotent. Returns their number. */
export const guardAgents = async ({ pool, prisma }: Db): Promise<number> => {
  const { rows } = await pool.query<{ id: string }>(UNGUARDED)
  const unguarded = { id: { in: rows.map(({ id }) => id) }, guardVersion: 0 }
  if (rows.length === 0) return 0
  return (await prisma.agent.updateMany({ where: unguarded, data: { guardVersion: 1 } })).count
}
