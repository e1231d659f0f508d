import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Channel } from '../db/generated/prisma/enums.ts'

type Tx = Pick<Prisma.TransactionClient, '$queryRaw' | '$executeRaw'>

/** Lists of one channel, of all agents of a workspace. */
interface Lists {
  workspaceId: string
  channel: Channel
}

/**
 * Makes others who change the lists of this workspace's agents in the same way wait until the transaction
 * commits. To be called before anything else is locked, so that two of them can't deadlock.
 */
export const lockLists = async (tx: Pick<Tx, '$queryRaw'>, workspaceId: string): Promise<void> => {
  await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${`lists:${workspaceId}`}, 0))) as locked`
}

/** Puts `by` in the place of the senders that are gone; null takes them off. */
const replaceSenders = async (
  tx: Tx,
  { workspaceId, channel }: Lists,
  gone: readonly string[],
  by: string | null,
): Promise<void> => {
  await lockLists(tx, workspaceId)
  await tx.$executeRaw`
    update access a set senders = array(
        select sender from (select case when s = any(${gone}::text[]) then ${by}::text else s end as sender, n
                              from unnest(a.senders) with ordinality as u(s, n)) kept
         where sender is not null group by sender order by min(n))
      from agent g
     where g.workspace_id = ${workspaceId}::uuid and a.agent_id = g.id and a.channel = ${channel}::"Channel" and a.senders && ${gone}::text[]`
}

/**
 * Takes agents (by their addresses; on Message URLs by their ids) off the lists of their workspace, before
 * they lose those: whoever has such an address next is not who was let in.
 */
export const forgetSenders = (tx: Tx, lists: Lists, gone: readonly string[]): Promise<void> =>
  replaceSenders(tx, lists, gone, null)

/** Lists that let an agent in under one address let it in under its new one. */
export const renameSender = (tx: Tx, lists: Lists, from: string, to: string): Promise<void> =>
  replaceSenders(tx, lists, [from], to)
