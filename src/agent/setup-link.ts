import { randomInt } from 'node:crypto'
import type { ChannelKind } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import { hashToken, newToken } from '../workspace/token.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { slugOf } from './address.ts'
import { findAgent } from './reach.ts'

export interface SetupLinkDeps extends Db {
  clock: Clock
  /** Where people reach the service, as it is known once HTTP listens. */
  publicUrl(): string
}

const VALID_MS = 3_600_000

const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
/** Telegram's usernames have 5 to 32 characters; a bot's ends in `bot`. */
const LONGEST_NAME = 18

/** A username for an agent's bot that nobody has and nobody guesses: the bot that is made under it belongs to the link that suggested it. */
const suggestUsername = (agentName: string): string => {
  const slug = slugOf(agentName).replaceAll('-', '_').slice(0, LONGEST_NAME).replace(/_+$/, '')
  const start = /^[a-z]/.test(slug) ? slug : `agent_${slug}`.slice(0, LONGEST_NAME).replace(/_+$/, '')
  const random = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${start}_${random}_bot`
}

/**
 * A link where a member creates an address for the agent with its provider. It works once, for an hour; only its hash is kept.
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
      suggestion: channel === 'telegram' ? suggestUsername(agent.name) : null,
      tokenHash: Uint8Array.from(hashToken(token)),
      createdAt: now,
      expiresAt: new Date(now.getTime() + VALID_MS),
    },
  })
  return { url: `${deps.publicUrl()}/setup/${token}` }
}
