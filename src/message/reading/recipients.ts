import type { Recipient } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { type ReadDeps, readMessage } from './read.ts'

/**
 * How far a message came with each of its recipients, in the order of their addresses; empty for a received
 * one.
 */
export const listRecipients = async (
  deps: ReadDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<Recipient[]> => {
  await readMessage(deps, viewer, agentId, messageId)
  return deps.prisma.recipient.findMany({ where: { messageId }, orderBy: { address: 'asc' } })
}

/** A recipient as clients read it. */
export const presentRecipient = ({ address, status, detail, updatedAt }: Recipient) => ({
  address,
  status,
  detail,
  updatedAt: updatedAt.toISOString(),
})
