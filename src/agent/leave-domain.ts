import type { Agent, Prisma } from '../db/generated/prisma/client.ts'
import { giveEmailAddress } from './address.ts'
import { promote } from './change-address.ts'
import { forgetSenders, lockLists, renameSender } from './known-senders.ts'

type Tx = Prisma.TransactionClient

/**
 * One on the service's domain, in the place of the one that was given; the primary address stays primary if
 * there still is one.
 */
const giveAnother = async (tx: Tx, agent: Agent, mailDomain: string): Promise<string> => {
  const primary = await tx.address.findFirst({
    where: { agentId: agent.id, channel: 'email', primary: true },
  })
  if (primary) await tx.address.update({ where: { id: primary.id }, data: { primary: false } })
  const value = await giveEmailAddress(tx, agent, mailDomain)
  if (!primary) return value
  await tx.address.updateMany({
    where: { agentId: agent.id, channel: 'email', given: true },
    data: { primary: false },
  })
  await tx.address.update({ where: { id: primary.id }, data: { primary: true } })
  return value
}

/**
 * Takes from agents what they have on a domain that is somebody else's now: mail to it must not reach them
 * any more, and mail from it must not pass for theirs on any list of their workspace. Who was given an
 * address there gets another one on the service's domain.
 */
export const leaveDomain = async (tx: Tx, domainId: string, mailDomain: string): Promise<void> => {
  const { workspaceId } = await tx.domain.findUniqueOrThrow({
    where: { id: domainId },
    select: { workspaceId: true },
  })
  await lockLists(tx, workspaceId)
  const addresses = await tx.address.findMany({ where: { domainId }, include: { agent: true } })
  await tx.address.deleteMany({ where: { domainId } })
  for (const { agent, given, primary, ...address } of addresses) {
    if (given) await renameSender(tx, address, address.value, await giveAnother(tx, agent, mailDomain))
    else await forgetSenders(tx, address, [address.value])
    if (!given && primary) await promote(tx, address)
  }
}
