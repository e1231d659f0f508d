import type { Channels } from '../../channel/channel.ts'
import type { ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import { hashToken, newToken, type Viewer } from '../../workspace/index.ts'
import { findAgent } from '../access/permission.ts'

export interface SetupLinkDeps extends Db {
  clock: Clock
  channels: Channels
  /** Public URL of the service, known once HTTP listens. */
  publicUrl(): string
}

/** Time for which a set-up link is valid. @limit Agents */
const VALID_MS = 3_600_000
/** Maximum number of links of an agent that are valid at a time. @limit Agents */
const MAX_LINKS = 100

/**
 * Creates a link with which a member sets up an address for the agent. It works once, for an hour; only its
 * hash is stored. Throws `rate_limited` while too many are valid.
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
  // Until then its page says that it has expired.
  const forgotten = new Date(now.getTime() - 24 * VALID_MS)
  await deps.prisma.setupLink.deleteMany({ where: { agentId, expiresAt: { lt: forgotten } } })
  if ((await deps.prisma.setupLink.count({ where: { agentId, expiresAt: { gt: now } } })) >= MAX_LINKS)
    throw new AppError('rate_limited', `An agent can get at most ${MAX_LINKS} set-up links an hour.`, {
      retryAfter: 60,
    })
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
