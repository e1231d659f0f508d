import type { Member, Prisma } from '../db/generated/prisma/client.ts'
import { forgetSenders, lockLists } from './known-senders.ts'

/**
 * Takes a member who is to be removed off the lists of the workspace's agents: under their email address, the
 * numbers and accounts that they proved to be theirs, and on Message URLs their id. What lets them in must
 * not outlive their membership. To be called before the transaction locks anything.
 */
export const forgetMember = async (
  tx: Prisma.TransactionClient,
  { id, workspaceId, email }: Member,
): Promise<void> => {
  await lockLists(tx, workspaceId)
  const proven = await tx.memberIdentity.findMany({ where: { memberId: id } })
  await forgetSenders(tx, { workspaceId, channel: 'email' }, [email])
  await forgetSenders(tx, { workspaceId, channel: 'url' }, [id])
  for (const { channel, value } of proven) await forgetSenders(tx, { workspaceId, channel }, [value])
}
