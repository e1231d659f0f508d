import type { Agent, Prisma } from '../../db/generated/prisma/client.ts'
import { within } from '../../db/transaction.ts'
import { forgetSenders, lockLists, renameSender } from '../access/known-senders.ts'
import { giveEmailAddress } from './address.ts'
import { promote } from './change-address.ts'

type Tx = Prisma.TransactionClient

/**
 * Gives the agent another address on the service's domain in place of the one that was assigned. The primary
 * address stays primary if it still exists.
 */
const giveAnother = async (tx: Tx, agent: Agent, mailDomain: string): Promise<string> => {
  const primary = await tx.address.findFirst({
    where: { agentId: agent.id, channel: 'email', primary: true },
  })
  if (primary) await tx.address.update({ where: { id: primary.id }, data: { primary: false } })
  const value = await giveEmailAddress(within(tx), agent, mailDomain)
  if (!primary) return value
  await tx.address.updateMany({
    where: { agentId: agent.id, channel: 'email', given: true },
    data: { primary: false },
  })
  await tx.address.update({ where: { id: primary.id }, data: { primary: true } })
  return value
}

/**
 * Removes the agents' addresses on a domain that now belongs to another workspace: mail to them must no
 * longer reach the agents, and mail from them must not be accepted as the agents' on any list of their
 * workspace. An agent whose assigned address was on that domain gets another one on the service's domain.
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
