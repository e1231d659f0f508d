import type { Agent, Prisma } from '../db/generated/prisma/client.ts'
import { giveEmailAddress } from './address.ts'
import { promote } from './change-address.ts'

type Tx = Prisma.TransactionClient

/** One on the service's domain, in the place of the one that was given; the primary address stays primary if there still is one. */
const giveAnother = async (tx: Tx, agent: Agent, mailDomain: string): Promise<void> => {
  const primary = await tx.address.findFirst({ where: { agentId: agent.id, channel: 'email', primary: true } })
  if (primary) await tx.address.update({ where: { id: primary.id }, data: { primary: false } })
  await giveEmailAddress(tx, agent, mailDomain)
  if (!primary) return
  await tx.address.updateMany({ where: { agentId: agent.id, channel: 'email', given: true }, data: { primary: false } })
  await tx.address.update({ where: { id: primary.id }, data: { primary: true } })
}

/**
 * Takes from agents what they have on a domain that is somebody else's now: mail to it must not reach them any more. Who was given an
 * address there gets another one on the service's domain.
 */
export const leaveDomain = async (tx: Tx, domainId: string, mailDomain: string): Promise<void> => {
  const addresses = await tx.address.findMany({ where: { domainId }, include: { agent: true } })
  await tx.address.deleteMany({ where: { domainId } })
  for (const { agent, given, primary, ...address } of addresses) {
    if (given) await giveAnother(tx, agent, mailDomain)
    else if (primary) await promote(tx, address)
  }
}
