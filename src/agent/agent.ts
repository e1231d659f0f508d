import { v7 as newId } from 'uuid'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Agent } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { ensureRoom } from '../workspace/plan.ts'
import { TOKEN_REVOKED } from '../workspace/token.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { defaultAccess } from './access.ts'
import { giveEmailAddress } from './address.ts'
import { findAgent } from './reach.ts'
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
export const presentAgent = ({ id, name, icon, createdAt }: Agent) => ({ id, name, icon: icon as Icon, createdAt: createdAt.toISOString() })

export interface AgentDeps extends Db {
  clock: Clock
  mailDomain: string
}

/** The agents that a viewer may read: all of a member's workspace, oldest first; an agent's token sees its own agent. */
export const listAgents = ({ prisma }: Db, viewer: Viewer): Promise<Agent[]> =>
  prisma.agent.findMany({
    where: { workspaceId: viewer.workspaceId, ...(viewer.kind === 'agent' ? { id: viewer.id } : {}) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })

/** The email address under which a viewer is known: what a new agent's list starts with. */
const emailOf = async ({ prisma }: Db, viewer: Viewer): Promise<string[]> => {
  if (viewer.email) return [viewer.email]
  const own = await prisma.address.findFirst({ where: { agentId: viewer.id, channel: 'email' }, orderBy: { primary: 'desc' } })
  return own ? [own.value] : []
}

const mayCreate = async ({ prisma }: Db, viewer: Viewer) => {
  if (viewer.kind === 'member') return
  const { agentsMayCreateAgents } = await prisma.workspace.findUniqueOrThrow({ where: { id: viewer.workspaceId } })
  if (!agentsMayCreateAgents) throw new AppError('forbidden', 'In this workspace only members create agents.')
}

/** Makes an agent with an email address on the service's domain; its creator is on its email and Message URL lists. */
export const createAgent = async (deps: AgentDeps, viewer: Viewer, input: { name: string; icon: Icon }): Promise<Agent> => {
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
        eventLog: { create: {} },
        access: { createMany: { data: defaultAccess(creatorEmail, viewer.id) } },
      },
    })
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
 * Deletes an agent with its addresses, messages, secrets, events and jobs; its phone numbers go back to the workspace's pool. Its tokens
 * go too, and what they hold open is closed as when they are revoked.
 */
export const deleteAgent = async (deps: Db & ReleaseDeps & { notifier: Notifier }, viewer: Viewer, agentId: string): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const addresses = await deps.prisma.address.findMany({ where: { agentId } })
  await Promise.all(addresses.map((address) => releaseAddress(deps, address)))
  const tokens = await deps.prisma.token.findMany({ where: { agentId }, select: { id: true } })
  await deps.prisma.agent.deleteMany({ where: { id: agentId } })
  for (const { id } of tokens) deps.notifier.publish(TOKEN_REVOKED, id)
}
