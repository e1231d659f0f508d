import { CHANNELS, type ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Address, Prisma } from '../../db/generated/prisma/client.ts'
import { hashToken, type LinkState, linkState } from '../../workspace/token.ts'

/**
 * What all channels' set-ups have in common: a link that works once, an address that joins the agent, a
 * member who gets on its list.
 */

export interface OpenSetupDeps extends Db {
  clock: Clock
}

/** What an open link is for. */
export interface Setup {
  channel: ChannelKind
  agent: { id: string; name: string; workspaceId: string }
  /** The name that its channel suggested for the address. */
  suggestion: string | null
  /** The member who asked for it; null when the agent did. */
  member: { id: string; email: string } | null
}

/** More on one channel than this are somebody collecting names. */
const MAX_PER_AGENT = 10

const hashOf = (token: string) => Uint8Array.from(hashToken(token))

const include = { agent: true, member: true }
const setupOf = ({
  channel,
  suggestion,
  agent,
  member,
}: Prisma.SetupLinkGetPayload<{ include: typeof include }>): Setup => ({
  channel: channel as ChannelKind,
  suggestion,
  agent,
  member,
})

/** What a set-up link is for, and whether it can still be used. */
export const findSetup = async (
  { prisma, clock }: OpenSetupDeps,
  token: string,
): Promise<{ state: Exclude<LinkState, 'open'>; setup: Setup | null } | { state: 'open'; setup: Setup }> => {
  const link = await prisma.setupLink.findUnique({ where: { tokenHash: hashOf(token) }, include })
  const state = linkState(link, clock.now())
  const setup = link && setupOf(link)
  return state === 'open' && setup ? { state, setup } : { state: state as Exclude<LinkState, 'open'>, setup }
}

/**
 * How long a link's work may take in its transaction, in milliseconds: a provider may have to be asked
 * meanwhile.
 */
const WORK_MS = 25_000

/**
 * Uses a link up and does what it is for in one transaction, with the agent locked. Null when it can't be
 * used (any more). What `work` throws leaves the link as it was. `link`: its token, or its id.
 */
export const redeem = async <Result>(
  { prisma, clock }: OpenSetupDeps,
  link: string | { id: string },
  work: (tx: Prisma.TransactionClient, setup: Setup) => Promise<Result>,
): Promise<Result | null> => {
  const now = clock.now()
  const which = typeof link === 'string' ? { tokenHash: hashOf(link) } : link
  const use = async (tx: Prisma.TransactionClient) => {
    // Of two at once the second waits here, and then finds it used.
    const { count } = await tx.setupLink.updateMany({
      where: { ...which, usedAt: null, expiresAt: { gt: now } },
      data: { usedAt: now },
    })
    if (count === 0) return null
    const setup = setupOf(await tx.setupLink.findUniqueOrThrow({ where: which, include }))
    await tx.$queryRaw`select 1 from agent where id = ${setup.agent.id}::uuid for no key update`
    return work(tx, setup)
  }
  return prisma.$transaction(use, { timeout: WORK_MS })
}

/** Longer than any use of a link takes, in milliseconds: after a crash it is free again then. */
const BUSY_MS = 60_000

/**
 * Keeps others from using a link while `work` spends money on it. Throws `conflict` while another is at it.
 */
export const alone = async <Result>(
  { prisma, clock }: OpenSetupDeps,
  token: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const tokenHash = hashOf(token)
  const now = clock.now()
  const busyUntil = new Date(now.getTime() + BUSY_MS)
  const isFree = { OR: [{ busyUntil: null }, { busyUntil: { lte: now } }] }
  const { count } = await prisma.setupLink.updateMany({
    where: { tokenHash, usedAt: null, ...isFree },
    data: { busyUntil },
  })
  if (count === 0)
    throw new AppError('conflict', 'This link is being used right now. Open it again in a minute.')
  try {
    return await work()
  } finally {
    await prisma.setupLink.updateMany({ where: { tokenHash, busyUntil }, data: { busyUntil: null } })
  }
}

/**
 * Gives the agent an address. New messages go out from it when the agent has no other on the channel. Throws
 * `conflict` past the limit.
 */
export const joinAddress = async (
  tx: Prisma.TransactionClient,
  { channel, agent }: Setup,
  address: { id?: string; value: string; domainId?: string | null; createdAt: Date },
): Promise<Address> => {
  const others = await tx.address.findMany({
    where: { agentId: agent.id, channel },
    select: { primary: true },
  })
  if (others.length >= MAX_PER_AGENT)
    throw new AppError(
      'conflict',
      `An agent can have at most ${MAX_PER_AGENT} ${CHANNELS[channel].address.many}.`,
    )
  const primary = !others.some((other) => other.primary)
  return tx.address.create({
    data: { workspaceId: agent.workspaceId, agentId: agent.id, channel, primary, ...address },
  })
}

/** What the member of a link proved to be theirs on its channel. */
export const provenAddresses = async (
  tx: Pick<Prisma.TransactionClient, 'memberIdentity'>,
  { channel, member }: Setup,
): Promise<string[]> =>
  member
    ? (await tx.memberIdentity.findMany({ where: { memberId: member.id, channel } })).map(
        ({ value }) => value,
      )
    : []

/**
 * Whether a link may put senders on the list whom nobody has proven: not one that an agent made, where only
 * members set access.
 */
export const mayListAnybody = async (
  tx: Pick<Prisma.TransactionClient, 'workspace'>,
  { agent, member }: Setup,
): Promise<boolean> => {
  if (member) return true
  return (await tx.workspace.findUniqueOrThrow({ where: { id: agent.workspaceId } })).agentsMaySetAccess
}

/** Puts senders on the list of the set-up's channel, unless it names them already. */
export const listSenders = async (
  tx: Pick<Prisma.TransactionClient, '$executeRaw'>,
  { channel, agent }: { channel: ChannelKind; agent: { id: string } },
  senders: readonly string[],
): Promise<void> => {
  for (const sender of senders) {
    await tx.$executeRaw`
      update access set senders = array_append(senders, ${sender})
       where agent_id = ${agent.id}::uuid and channel = ${channel}::"Channel" and not (${sender} = any(senders))`
  }
}
