import { withoutTag } from '../../core/address/email-address.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'

/**
 * Reserves an address on the service's own domain for a workspace, in the transaction that assigns it to one
 * of its agents. Returns false when another workspace has reserved it.
 */
export const reserveFor = async (
  tx: Pick<Prisma.TransactionClient, 'givenAddress'>,
  workspaceId: string,
  value: string,
): Promise<boolean> => {
  const reserved = { value, workspaceId }
  await tx.givenAddress.createMany({ data: reserved, skipDuplicates: true })
  return (await tx.givenAddress.count({ where: reserved })) > 0
}

/**
 * Returns whether an address on the service's own domain can never belong to this workspace. It cannot when
 * an agent of another workspace has or ever had it, because mail for that agent may still arrive and lists
 * may still trust it. Nor can it when it is such an address with a plus-tag (mail to `ann+x@` reaches
 * `ann@`), or a member's address: its proven mail would count as that member's.
 */
export const isUnavailableTo = async (
  { prisma }: { prisma: Pick<Prisma.TransactionClient, 'givenAddress' | 'member'> },
  workspaceId: string,
  value: string,
): Promise<boolean> => {
  const named = { in: [value, withoutTag(value)] }
  const given = await prisma.givenAddress.count({
    where: { value: named, workspaceId: { not: workspaceId } },
  })
  return given > 0 || (await prisma.member.count({ where: { email: value } })) > 0
}
