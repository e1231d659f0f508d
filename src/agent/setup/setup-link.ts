import type { Channels } from '../../channel/channel.ts'
import type { ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../db/client.ts'
import { hashToken, newToken } from '../../workspace/token.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { findAgent } from '../permission.ts'

export interface SetupLinkDeps extends Db {
  clock: Clock
  channels: Channels
  /** Public URL of the service, known once HTTP listens. */
  publicUrl(): string
}

const VALID_MS = 3_600_000

/**
 * Creates a link with which a member sets up an address for the agent. It works once, for an hour; only its
 * hash is stored.
 */
export const createSetupLink = async (
  deps: SetupLinkDeps,
  viewer: Viewer,
  agentId: string,
  channel: ChannelKind,
): Promise<{ url: string }> => {
  const agent = await findAgent(deps, viewer, agentId)
  const token = newToken('setup')
  const now = deps.clock.now()
  await deps.prisma.setupLink.create({
    data: {
      agentId,
      memberId: viewer.kind === 'member' ? viewer.id : null,
      channel,
      suggestion: deps.channels[channel]?.suggest?.(agent.name) ?? null,
      tokenHash: Uint8Array.from(hashToken(token)),
      createdAt: now,
      expiresAt: new Date(now.getTime() + VALID_MS),
    },
  })
  return { url: `${deps.publicUrl()}/setup/${token}` }
}
