import type { Prisma } from '../db/generated/prisma/client.ts'

/** An email address without its plus-tag: mail to `ann+x@` reaches `ann@`, unless somebody has just that. */
export const untagged = (address: string): string => {
  const [tag, at] = [address.indexOf('+'), address.lastIndexOf('@')]
  return tag < 0 || at < tag ? address : address.slice(0, tag) + address.slice(at)
}

/**
 * Whether an address on the service's own domain can never be this workspace's. It can't when an agent of
 * another workspace has it, or ever had it: mail for that agent may still come, and lists may still trust it.
 * Nor when it is the address without its plus-tag that another's agent has (mail to `ann+x@` reaches `ann@`),
 * or that of a person: its proven mail would count as a member's.
 */
export const isKept = async (
  { prisma }: { prisma: Pick<Prisma.TransactionClient, 'givenAddress' | 'member'> },
  workspaceId: string,
  value: string,
): Promise<boolean> => {
  const named = { in: [value, untagged(value)] }
  const given = await prisma.givenAddress.count({
    where: { value: named, workspaceId: { not: workspaceId } },
  })
  return given > 0 || (await prisma.member.count({ where: { email: value } })) > 0
}
