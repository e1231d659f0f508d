import { v7 as newId } from 'uuid'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Address, Agent } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { createEventLog } from '../event/log.ts'
import { ensureRoom } from '../workspace/plan.ts'
import type { RateLimits } from '../workspace/rate-limits.ts'
import { type EndSubscriptions, TOKEN_REVOKED } from '../workspace/token.ts'
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

/** Returns an agent in its public form. */
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
 * Returns the agents that a viewer may read: a member reads all agents of the workspace, oldest first; an
 * agent's token reads only its own agent.
 */
export const listAgents = ({ prisma }: Db, viewer: Viewer): Promise<Agent[]> =>
  prisma.agent.findMany({
    where: { workspaceId: viewer.workspaceId, ...(viewer.kind === 'agent' ? { id: viewer.id } : {}) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })

/** Returns the viewer's email address, the first entry of a new agent's list. */
const emailOf = async ({ prisma }: Db, viewer: Viewer): Promise<string[]> => {
  if (viewer.email) return [viewer.email]
  const own = await prisma.address.findFirst({
    where: { agentId: viewer.id, channel: 'email' },
    orderBy: { primary: 'desc' },
  })
  return own ? [own.value] : []
}

/**
 * Maximum number of agents that all agents of a workspace together may create in an hour. Each new agent
 * takes an address permanently and has rate limits of its own.
 */
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
 * Creates an agent with an email address on the service's domain. Its creator is on its email and Message URL
 * lists. Throws `plan_limit`, and for an agent also `forbidden` or `rate_limited`.
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

/** Changes the given fields. */
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
 * Removes an agent that is about to be deleted from the lists of its workspace, so that the entries that
 * admit it do not outlive it.
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

/** How long a deletion may take, with all that goes with the agent, and wait for a connection. */
const DELETION = { timeout: 35_000, maxWait: 5_000 }

/**
 * Deletes the agent under its log, so that nobody adds an event or a subscription meanwhile. Returns the ids
 * of its tokens.
 */
const deleteWithTokens = (
  { prisma, endSubscriptions }: Db & { endSubscriptions: EndSubscriptions },
  agentId: string,
): Promise<string[]> =>
  prisma.$transaction(async (tx) => {
    await tx.$queryRaw`select 1 from event_log where agent_id = ${agentId}::uuid for update`
    // Nor does anybody make it a token.
    await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for update`
    const tokens = await tx.token.findMany({ where: { agentId }, select: { id: true } })
    const tokenIds = tokens.map(({ id }) => id)
    await endSubscriptions(tx, { agentId, tokenIds })
    await tx.agent.deleteMany({ where: { id: agentId } })
    return tokenIds
  }, DELETION)

/**
 * Deletes an agent with its addresses, messages, secrets, events and jobs. Its phone numbers return to the
 * workspace's pool, and it is removed from the lists of the workspace's other agents. Its tokens are deleted
 * too, which closes their open streams as a revocation does.
 */
export const deleteAgent = async (
  deps: Db & ReleaseDeps & { notifier: Notifier; endSubscriptions: EndSubscriptions },
  viewer: Viewer,
  agentId: string,
): Promise<void> => {
  const agent = await findAgent(deps, viewer, agentId)
  const addresses = await deps.prisma.address.findMany({ where: { agentId } })
  await Promise.all(addresses.map((address) => releaseAddress(deps, address)))
  await forgetAgent(deps, agent, addresses)
  for (const id of await deleteWithTokens(deps, agentId)) deps.notifier.publish(TOKEN_REVOKED, id)
}
