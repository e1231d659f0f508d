import type { ProofClaim } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { newIdentityLink, redeemIdentityLink } from '../workspace/identity-link.ts'
import { ensureMember } from '../workspace/member.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { listSenders } from './open-setup.ts'
import { findAgent } from './reach.ts'

export interface LinkTelegramDeps extends Db {
  clock: Clock
}

/** Telegram's link that opens a bot and, at a tap on Start, sends it the code. */
export const startLink = (address: string, code: string): string => `https://t.me/${address.slice(1)}?start=${code}`

/**
 * A link by which the member who asks proves that a Telegram account is theirs: it opens one of the workspace's bots, and a tap on Start
 * does the rest. With an agent it is the agent's bot, and the account joins its list. For an hour, once. Throws `conflict` where there is
 * no bot.
 */
export const linkTelegram = async (
  deps: LinkTelegramDeps,
  viewer: Viewer,
  { agentId }: { agentId?: string | undefined },
): Promise<{ url: string; expiresAt: Date }> => {
  ensureMember(viewer)
  if (agentId !== undefined) await findAgent(deps, viewer, agentId)
  const where = { workspaceId: viewer.workspaceId, channel: 'telegram', ...(agentId === undefined ? {} : { agentId }) } as const
  const bot = await deps.prisma.address.findFirst({ where, orderBy: [{ primary: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }] })
  if (!bot) throw new AppError('conflict', `The ${agentId ? 'agent' : 'workspace'} has no Telegram bot to prove it to: set one up first.`)
  const { code, expiresAt } = await newIdentityLink(deps, { memberId: viewer.id, agentId: agentId ?? null })
  return { url: startLink(bot.value, code), expiresAt }
}

/** Takes what somebody sent to a bot for the code of such a link. Resolves with what the bot shall answer, or null when it is none. */
export const proveTelegram = async (deps: LinkTelegramDeps, { channel, to, from, code }: ProofClaim): Promise<string | null> => {
  const bot = await deps.prisma.address.findUnique({ where: { channel_value: { channel, value: to } } })
  const proven = bot && (await redeemIdentityLink(deps, bot.workspaceId, code, from))
  if (!proven) return null
  const { member, agentId } = proven
  if (agentId) await listSenders(deps.prisma, { channel, agent: { id: agentId } }, [from])
  return `This Telegram account is known as ${member.email} now.`
}
