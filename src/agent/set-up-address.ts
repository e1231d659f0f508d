import type { ChannelKind } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import { hashToken, type LinkState, linkState } from '../workspace/token.ts'
import { checkOwnAddress, ensureFree, type OwnAddressDeps, untilTaken } from './own-address.ts'

export interface SetUpDeps extends OwnAddressDeps {
  clock: Clock
}

/** What an open link's page shows. */
export interface Setup {
  channel: ChannelKind
  agentName: string
  /** The domains that an email address can be on: the service's first, then the workspace's verified ones. */
  domains: string[]
}

/** More on one channel than this are somebody collecting names. */
const MOST_PER_AGENT = 10

const hashOf = (token: string) => Uint8Array.from(hashToken(token))

/** What a set-up link is for, and whether it can still be used. */
export const findSetup = async (
  { prisma, clock, mailDomain }: SetUpDeps,
  token: string,
): Promise<{ state: Exclude<LinkState, 'open'> } | { state: 'open'; setup: Setup }> => {
  const link = await prisma.setupLink.findUnique({ where: { tokenHash: hashOf(token) }, include: { agent: true } })
  const state = linkState(link, clock.now())
  if (state !== 'open' || !link) return { state: state as Exclude<LinkState, 'open'> }
  const own = await prisma.domain.findMany({
    where: { workspaceId: link.agent.workspaceId, state: 'verified' },
    orderBy: { name: 'asc' },
    select: { name: true },
  })
  const domains = [mailDomain, ...own.map(({ name }) => name)]
  return { state, setup: { channel: link.channel as ChannelKind, agentName: link.agent.name, domains } }
}

/** The member of the link can wake the agent from the address: onto the channel's list, unless it names them already. */
const list = async (tx: Prisma.TransactionClient, agentId: string, email: string): Promise<void> => {
  await tx.$executeRaw`
    update access set senders = array_append(senders, ${email})
     where agent_id = ${agentId}::uuid and channel = 'email' and not (${email} = any(senders))`
}

/**
 * Gives the agent of a set-up link for email one more address, once. It becomes the one that new messages go out from when the agent has
 * none. Null when the link can't be used (any more). Throws `invalid_input` or `conflict` for an address that the agent can't have: the
 * link stays good.
 */
export const setUpEmailAddress = async (deps: SetUpDeps, token: string, address: string): Promise<{ value: string } | null> => {
  const now = deps.clock.now()
  const tokenHash = hashOf(token)
  const found = await deps.prisma.setupLink.findUnique({ where: { tokenHash }, include: { agent: true, member: true } })
  if (found?.channel !== 'email') return null
  const { agent, member } = found
  const { value, domainId } = await checkOwnAddress(deps, agent.workspaceId, address)
  const create = async (tx: Prisma.TransactionClient) => {
    // Of two at once the second waits here, and then finds it used.
    const { count } = await tx.setupLink.updateMany({ where: { tokenHash, usedAt: null, expiresAt: { gt: now } }, data: { usedAt: now } })
    if (count === 0) return null
    await tx.$queryRaw`select 1 from agent where id = ${agent.id}::uuid for no key update`
    await ensureFree({ prisma: tx }, value)
    const others = await tx.address.findMany({ where: { agentId: agent.id, channel: 'email' }, select: { primary: true } })
    if (others.length >= MOST_PER_AGENT) throw new AppError('conflict', `An agent has at most ${MOST_PER_AGENT} email addresses.`)
    const primary = !others.some((other) => other.primary)
    const { workspaceId, id: agentId } = agent
    await tx.address.create({ data: { workspaceId, agentId, channel: 'email', value, domainId, primary, createdAt: now } })
    if (member) await list(tx, agent.id, member.email)
    return { value }
  }
  return untilTaken(value, () => deps.prisma.$transaction(create))
}
