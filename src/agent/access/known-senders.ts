import { Prisma } from '../../db/generated/prisma/client.ts'
import type { Channel } from '../../db/generated/prisma/enums.ts'

type Tx = Pick<Prisma.TransactionClient, '$queryRaw' | '$executeRaw'>

const SENDERS = Prisma.raw('senders')
/** Those of `senders` that a member listed: an address that an agent changes to keeps the trust of the old one. */
const MEMBER_SENDERS = Prisma.raw('member_senders')
const BLOCKED = Prisma.raw('blocked')

/** Access lists of one channel, for all agents of a workspace. */
interface Lists {
  workspaceId: string
  channel: Channel
}

/**
 * Makes concurrent changes to the lists of this workspace's agents wait until the transaction commits. Must
 * be called before anything else is locked, so that two of them cannot deadlock.
 */
export const lockLists = async (tx: Pick<Tx, '$queryRaw'>, workspaceId: string): Promise<void> => {
  await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${`lists:${workspaceId}`}, 0))) as locked`
}

/**
 * Replaces the `gone` senders with `by` on both lists; null removes them from those that admit them. A blocked
 * address stays blocked, whoever has it.
 */
const replaceSenders = async (
  tx: Tx,
  { workspaceId, channel }: Lists,
  gone: readonly string[],
  by: string | null,
): Promise<void> => {
  await lockLists(tx, workspaceId)
  for (const list of by === null ? [SENDERS, MEMBER_SENDERS] : [SENDERS, MEMBER_SENDERS, BLOCKED])
    await tx.$executeRaw`
    update access a set ${list} = array(
        select sender from (select case when s = any(${gone}::text[]) then ${by}::text else s end as sender, n
                              from unnest(a.${list}) with ordinality as u(s, n)) kept
         where sender is not null group by sender order by min(n))
      from agent g
     where g.workspace_id = ${workspaceId}::uuid and a.agent_id = g.id and a.channel = ${channel}::"Channel" and a.${list} && ${gone}::text[]`
}

/**
 * Removes senders (addresses, or ids for Message URLs) from the lists of their workspace, before they lose
 * those addresses: the next owner of such an address must not be admitted in their place.
 */
export const forgetSenders = (tx: Tx, lists: Lists, gone: readonly string[]): Promise<void> =>
  replaceSenders(tx, lists, gone, null)

/** Replaces an agent's old address with its new one on the lists that admit or block it. */
export const renameSender = (tx: Tx, lists: Lists, from: string, to: string): Promise<void> =>
  replaceSenders(tx, lists, [from], to)
