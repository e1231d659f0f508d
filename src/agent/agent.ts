import { v7 as newId } from 'uuid'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Address, Agent } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { createEventLog } from '../event/log.ts'
import { ensureRoom } from '../workspace/plan.ts'
import type { RateLimits } from '../workspace/rate-limits.ts'
import { TOKEN_REVOKED } from '../workspace/token.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { defaultAccess } from './access.ts'
import { giveEmailAddress } from './address.ts'
import { forgetSenders } from './known-senders.ts'
import { findAgent } from './permission.ts'
import { type ReleaseDeps, releaseAddress } from './release.ts'

export type { Agent }

export const ICONS = [
  'bot',
  'sparkles',
  'bug',
  'message-square',
  'headphones',
  'search',
  'file-text',
  'mail',
  'calendar',
  'chart-line',
  'code',
  'git-pull-request',
  'database',
  'shield',
  'megaphone',
  'rocket',
  'wrench',
  'zap',
] as const
export type Icon = (typeof ICONS)[number]

/** An agent as clients read it. */
export const presentAgent = ({ id, name, icon, createdAt }: Agent) => ({
  id,
  name,
  icon: icon as Icon,
  createdAt: createdAt.toISOString(),
})

export interface AgentDeps extends Db {
  clock: Clock
  mailDomain: string
  rates: Pick<RateLimits, 'takeAll'>
}

/**
 * The agents that a viewer may read: all of a member's workspace, oldest first; an agent's token sees its own
 * agent.
 */
export const listAgents = ({ prisma }: Db, viewer: Viewer): Promise<Agent[]> =>
  prisma.agent.findMany({
    where: { workspaceId: viewer.workspaceId, ...(viewer.kind === 'agent' ? { id: viewer.id } : {}) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })

/** The email address under which a viewer is known: what a new agent's list starts with. */
const emailOf = async ({ prisma }: Db, viewer: Viewer): Promise<string[]> => {
  if (viewer.email) return [viewer.email]
  const own = await prisma.address.findFirst({
    where: { agentId: viewer.id, channel: 'email' },
    orderBy: { primary: 'desc' },
  })
  return own ? [own.value] : []
}

/** What all agents of a workspace may create: each new one has an address for ever, and limits of its own. */
const CREATED_AN_HOUR = 60
const HOUR_MS = 3_600_000

const mayCreate = async ({ prisma, rates, clock }: AgentDeps, { kind, workspaceId }: Viewer) => {
  if (kind === 'member') return
  const { agentsMayCreateAgents } = await prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })
  if (!agentsMayCreateAgents)
    throw new AppError('forbidden', 'In this workspace only members can create agents.')
  const use = { key: `agents-by-agents:${workspaceId}`, limit: CREATED_AN_HOUR, windowMs: HOUR_MS }
  if (rates.takeAll([use]) === null) return
  const retryAfter = Math.ceil((HOUR_MS - (clock.now().getTime() % HOUR_MS)) / 1000)
  throw new AppError(
    'rate_limited',
    `A workspace's agents can create at most ${CREATED_AN_HOUR} agents an hour.`,
    { retryAfter },
  )
}

/**
 * Makes an agent with an email address on the service's domain; its creator is on its email and Message URL
 * lists. Throws `plan_limit`, and for an agent `forbidden` or `rate_limited`.
 */
export const createAgent = async (
  deps: AgentDeps,
  viewer: Viewer,
  input: { name: string; icon: Icon },
): Promise<Agent> => {
  await mayCreate(deps, viewer)
  const creatorEmail = await emailOf(deps, viewer)
  const id = newId()
  return deps.prisma.$transaction(async (tx) => {
    await ensureRoom(tx, viewer.workspaceId, 'agents')
    const agent = await tx.agent.create({
      data: {
        id,
        workspaceId: viewer.workspaceId,
        name: input.name,
        icon: input.icon,
        createdAt: deps.clock.now(),
        createdByMemberId: viewer.kind === 'member' ? viewer.id : null,
        createdByAgentId: viewer.kind === 'agent' ? viewer.id : null,
        access: { createMany: { data: defaultAccess({ email: creatorEmail, id: viewer.id }) } },
      },
    })
    await createEventLog(tx, id)
    await giveEmailAddress(tx, agent, deps.mailDomain)
    return agent
  })
}

/** Changes what is given; the rest stays. */
export const updateAgent = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  changes: { name?: string | undefined; icon?: Icon | undefined },
): Promise<Agent> => {
  await findAgent(deps, viewer, agentId)
  const { name, icon } = changes
  return deps.prisma.agent.update({
    where: { id: agentId },
    data: { ...(name === undefined ? {} : { name }), ...(icon === undefined ? {} : { icon }) },
  })
}

/**
 * Takes an agent that is to be deleted off the lists of its workspace: what lets it in must not outlive it.
 */
const forgetAgent = (
  { prisma }: Db,
  { id, workspaceId }: Agent,
  addresses: readonly Address[],
): Promise<void> =>
  prisma.$transaction(async (tx) => {
    for (const { channel, value } of addresses) await forgetSenders(tx, { workspaceId, channel }, [value])
    await forgetSenders(tx, { workspaceId, channel: 'url' }, [id])
  })

/**
 * Deletes an agent with its addresses, messages, secrets, events and jobs; its phone numbers go back to the
 * workspace's pool, and it leaves the lists of the workspace's other agents. Its tokens go too, and what they
 * hold open is closed as when they are revoked.
 */
export const deleteAgent = async (
  deps: Db & ReleaseDeps & { notifier: Notifier },
  viewer: Viewer,
  agentId: string,
): Promise<void> => {
  const agent = await findAgent(deps, viewer, agentId)
  const addresses = await deps.prisma.address.findMany({ where: { agentId } })
  await Promise.all(addresses.map((address) => releaseAddress(deps, address)))
  const tokens = await deps.prisma.token.findMany({ where: { agentId }, select: { id: true } })
  await forgetAgent(deps, agent, addresses)
  await deps.prisma.agent.deleteMany({ where: { id: agentId } })
  for (const { id } of tokens) deps.notifier.publish(TOKEN_REVOKED, id)
}
