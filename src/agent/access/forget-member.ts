import type { Member, Prisma } from '../../db/generated/prisma/client.ts'
import { forgetSenders, lockLists } from './known-senders.ts'

/**
 * Removes a member who is about to be removed from the workspace from the lists of its agents: their email
 * address, the numbers and accounts that they verified and, for Message URLs, their id. The entries that
 * admit them must not outlive their membership. Must be called before the transaction locks anything.
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
