import type { Channels } from '../../channel/channel.ts'
import type { ProofClaim } from '../../core/channel/inbound.ts'
import { CHANNELS, type LinkChannel } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import { ensureMember, newIdentityLink, redeemIdentityLink, type Viewer } from '../../workspace/index.ts'
import { findAgent } from '../access/permission.ts'
import { listSenders } from './redeem-link.ts'

export interface LinkIdentityDeps extends Db {
  clock: Clock
  channels: Channels
}

/**
 * Creates a link with which the calling member verifies their account on the channel: it opens one of the
 * workspace's addresses there, and a tap sends it the code. With an agent, it opens the agent's address, and
 * the account is added to the agent's list. It works once, for an hour. Throws `conflict` when there is no
 * such address.
 */
export const linkIdentity = async (
  deps: LinkIdentityDeps,
  viewer: Viewer,
  channel: LinkChannel,
  { agentId }: { agentId?: string | undefined },
): Promise<{ url: string; expiresAt: Date }> => {
  ensureMember(viewer)
  if (agentId !== undefined) await findAgent(deps, viewer, agentId)
  const where = { workspaceId: viewer.workspaceId, channel, ...(agentId === undefined ? {} : { agentId }) }
  const address = await deps.prisma.address.findFirst({
    where,
    orderBy: [{ primary: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }],
  })
  const toOpen = deps.channels[channel]?.proofLink
  if (!address || !toOpen) throw nothingToOpen(channel, agentId)
  const { value } = address
  const owner = { memberId: viewer.id, agentId: agentId ?? null }
  const { code, expiresAt } = await newIdentityLink(deps, { ...owner, address: value })
  return { url: toOpen(value, code), expiresAt }
}

const nothingToOpen = (channel: LinkChannel, agentId: string | undefined) => {
  const { one } = CHANNELS[channel].address
  return new AppError(
    'conflict',
    `The ${agentId ? 'agent' : 'workspace'} has no ${one} to verify it with: set one up first.`,
  )
}

/**
 * Redeems the code of such a link, sent to an address. Resolves with the text of the reply, or null when it
 * is not a valid code.
 */
export const proveIdentity = async (
  deps: LinkIdentityDeps,
  { channel, to, from, code }: ProofClaim,
): Promise<string | null> => {
  const address = await deps.prisma.address.findUnique({ where: { channel_value: { channel, value: to } } })
  const proven = address && (await redeemIdentityLink(deps, address, code, { channel, value: from }))
  if (!proven) return null
  const { member, agentId } = proven
  if (agentId) await listSenders(deps.prisma, { channel, member, agent: { id: agentId } }, [from])
  return `This ${CHANNELS[channel].name} account is now linked to ${member.email}.`
}
