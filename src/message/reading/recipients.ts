import type { Recipient } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/index.ts'
import { type ReadDeps, readMessage } from './read.ts'

/** Returns the status of each recipient of a message, ordered by address; empty for a received message. */
export const listRecipients = async (
  deps: ReadDeps,
  viewer: Viewer,
  agentId: string,
  messageId: string,
): Promise<Recipient[]> => {
  await readMessage(deps, viewer, agentId, messageId)
  return deps.prisma.recipient.findMany({ where: { messageId, agentId }, orderBy: { address: 'asc' } })
}
