import { CHANNELS, type ChannelKind } from '../../core/channels.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Address, Agent, Prisma } from '../../db/generated/prisma/client.ts'
import { audit, ensureNotMoving, hashToken, type LinkState, linkState } from '../../workspace/index.ts'

/**
 * Common to the set-ups of all channels: redeeming a link once, adding an address to the agent, and adding
 * the member to its list.
 */

export interface OpenSetupDeps extends Db {
  clock: Clock
}

/** Purpose of an open link. */
export interface Setup {
  channel: ChannelKind
  agent: Pick<Agent, 'id' | 'name' | 'workspaceId' | 'approval'>
  /** Name that the channel suggested for the address. */
  suggestion: string | null
  /** Member who created the link; null when the agent did. */
  member: { id: string; email: string } | null
}

/** Maximum number of addresses per agent and channel. More would be collecting names. @limit Agents */
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

/** Returns what a set-up link is for and whether it can still be used. */
export const findSetup = async (
  { prisma, clock }: OpenSetupDeps,
  token: string,
): Promise<{ state: Exclude<LinkState, 'open'>; setup: Setup | null } | { state: 'open'; setup: Setup }> => {
  const link = await prisma.setupLink.findUnique({ where: { tokenHash: hashOf(token) }, include })
  const state = linkState(link, clock.now())
  const setup = link && setupOf(link)
  if (setup) await ensureNotMoving({ prisma }, setup.agent.workspaceId)
  return state === 'open' && setup ? { state, setup } : { state: state as Exclude<LinkState, 'open'>, setup }
}

/** Time limit of the transaction in milliseconds: it may include calls to a provider. */
const WORK_MS = 25_000

/**
 * Redeems a link (its token or id) and runs `work` in one transaction, with the agent locked. Returns null
 * when the link is not valid or no longer valid. When `work` throws, the link stays unused.
 */
export const redeem = async <Result>(
  { prisma, clock }: OpenSetupDeps,
  link: string | { id: string },
  work: (tx: Prisma.TransactionClient, setup: Setup) => Promise<Result>,
): Promise<Result | null> => {
  const now = clock.now()
  const which = typeof link === 'string' ? { tokenHash: hashOf(link) } : link
  const use = async (tx: Prisma.TransactionClient) => {
    // A concurrent second use waits here, and then finds the link used.
    const { count } = await tx.setupLink.updateMany({
      where: { ...which, usedAt: null, expiresAt: { gt: now } },
      data: { usedAt: now },
    })
    if (count === 0) return null
    const setup = setupOf(await tx.setupLink.findUniqueOrThrow({ where: which, include }))
    await ensureNotMoving({ prisma: tx }, setup.agent.workspaceId)
    await tx.$queryRaw`select 1 from agent where id = ${setup.agent.id}::uuid for no key update`
    return work(tx, setup)
  }
  return prisma.$transaction(use, { timeout: WORK_MS })
}

/**
 * Time in milliseconds for which a link is reserved, longer than any use takes. After a crash, the
 * reservation expires.
 */
const BUSY_MS = 60_000

/** Reserves a link while `work` spends money on it. Throws `conflict` while it is reserved. */
export const withLinkReserved = async <Result>(
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
 * Adds an address to the agent. It becomes the primary one if the agent has no other on the channel. Throws
 * `conflict` beyond the limit.
 */
export const joinAddress = async (
  tx: Prisma.TransactionClient,
  { channel, agent, member }: Setup,
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
  const { workspaceId } = agent
  const who = member ? { kind: 'member' as const, ...member } : { kind: 'agent' as const, ...agent }
  await audit(
    { prisma: tx, clock: { now: () => address.createdAt } },
    { ...who, workspaceId, tokenId: null },
    { action: 'address.add', agentId: agent.id, detail: { channel, address: address.value } },
  )
  return tx.address.create({
    data: { workspaceId, agentId: agent.id, channel, primary, ...address },
  })
}

/** Returns the addresses that the link's member verified on its channel. */
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
 * Returns whether a link may add unproven senders to the list. A link that an agent created may not when only members
 * can set access or what the agent sends needs approval.
 */
export const mayListUnproven = async (
  tx: Pick<Prisma.TransactionClient, 'workspace'>,
  { agent, member }: Setup,
): Promise<boolean> => {
  if (member) return true
  if (agent.approval !== 'none') return false
  return (await tx.workspace.findUniqueOrThrow({ where: { id: agent.workspaceId } })).agentsMaySetAccess
}

/** Adds senders to the list of the set-up's channel, unless it already contains them. */
export const listSenders = async (
  tx: Pick<Prisma.TransactionClient, '$executeRaw'>,
  { channel, agent, member }: Pick<Setup, 'channel' | 'member'> & { agent: { id: string } },
  senders: readonly string[],
): Promise<void> => {
  for (const sender of senders) {
    await tx.$executeRaw`
      update access set senders = case when ${sender} = any(senders) then senders else array_append(senders, ${sender}) end,
             member_senders = case when ${member === null} or ${sender} = any(member_senders) then member_senders
                                   else array_append(member_senders, ${sender}) end
       where agent_id = ${agent.id}::uuid and channel = ${channel}::"Channel"`
  }
}
