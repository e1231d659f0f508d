import type { Clock } from '../core/clock.ts'
import { type Page, pageOf, readMoment, writeCursor } from '../core/cursor.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Metadata, MetadataChanges } from '../core/rules.ts'
import type { Db } from '../db/client.ts'
import type { Address, Agent } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { despiteDeadlocks } from '../db/transaction.ts'
import { type EventType, loggedTypes } from '../event/index.ts'
import {
  type Action,
  type Actor,
  audit,
  type EndSubscriptions,
  holdWithDescendants,
  readKeptUsage,
  revoking,
  subtractAgent,
  type Viewer,
} from '../workspace/index.ts'
import { forgetSenders } from './access/known-senders.ts'
import { AGENT_COLUMNS, findAgent } from './access/permission.ts'
import { type Limits, passOnChildren, tightenDescendants } from './access/supervision.ts'
import { type ReleaseDeps, releaseAddress } from './address/release.ts'
import { noteDeleted } from './deleted-agents.ts'
import { changeGuard } from './guard.ts'
import { changedMetadata } from './metadata.ts'
import { saveTexts, type TextChanges } from './texts.ts'

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

/** Maximum number of agents on one page. */
export const MAX_AGENTS = 1_000

export interface AgentPageRequest {
  /** `MAX_AGENTS` by default. */
  limit?: number | undefined
  cursor?: string | undefined
  /** Only agents with these values in their metadata. */
  metadata?: Metadata | undefined
}

const PAGE = {
  name: 'agents of a workspace',
  text: `select ${AGENT_COLUMNS} from agent a
          where a.workspace_id = $1::uuid and (a.created_at, a.id) > ($2::timestamptz, $3::uuid) and a.metadata @> $5::jsonb
          order by a.created_at, a.id limit $4`,
}
const hasMetadata = ({ metadata: has }: Agent, wanted: Metadata): boolean =>
  Object.entries(wanted).every(([key, value]) => (has as Metadata)[key] === value)

/** Before the first agent of any workspace. */
const START = [new Date(0), '00000000-0000-0000-0000-000000000000'] as const

/**
 * Returns a page of the agents that a viewer may read: a member reads all agents of the workspace, oldest
 * first; an agent's token reads only its own agent. Throws `invalid_input` for an invalid cursor.
 */
export const listAgents = async (
  deps: Db,
  viewer: Viewer,
  { limit = MAX_AGENTS, cursor, metadata = {} }: AgentPageRequest = {},
): Promise<Page<Agent>> => {
  const [createdAt, id] = cursor === undefined ? START : readMoment(cursor)
  if (viewer.kind === 'agent') {
    const own = cursor === undefined ? [await findAgent(deps, viewer, viewer.id)] : []
    return { items: own.filter((agent) => hasMetadata(agent, metadata)), nextCursor: null }
  }
  const values = [viewer.workspaceId, createdAt, id, limit + 1, JSON.stringify(metadata)]
  const { rows } = await deps.pool.query<Agent>({ ...PAGE, values })
  return pageOf(rows, limit, (agent) => writeCursor(agent.createdAt.getTime(), agent.id))
}

/** Returns the number of agents that a viewer may read. */
export const countAgents = async (deps: Db & { clock: Clock }, viewer: Viewer): Promise<number> =>
  viewer.kind === 'agent' ? 1 : (await readKeptUsage(deps, viewer.workspaceId)).agents

type Settings = Omit<
  Agent,
  | 'id'
  | 'workspaceId'
  | 'icon'
  | 'eventTypes'
  | 'metadata'
  | 'createdByMemberId'
  | 'createdByAgentId'
  | 'createdAt'
  | 'guardVersion'
  | 'guardHoldsUntil'
>

export type AgentChanges = TextChanges & { [Name in keyof Settings]?: Settings[Name] | undefined } & {
  icon?: Icon | undefined
  /** Types of events that the log contains from now on, besides `message.received`. */
  eventTypes?: readonly EventType[] | undefined
  metadata?: MetadataChanges | undefined
}

const givenOf = (changes: object) =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))

/** The changes that only members may make. */
const limitsOf = ({
  approval,
  instructors,
  manipulated,
  secretsInMessages,
  wakesPerHour,
  wakesPerThreadDay,
}: AgentChanges): Limits =>
  givenOf({ approval, instructors, manipulated, secretsInMessages, wakesPerHour, wakesPerThreadDay })

/** The changes by their actions in the audit log. */
const actionsOf = (
  { approval, ...others }: Omit<AgentChanges, keyof TextChanges | 'metadata'>,
  texts: object = {},
) => {
  const changes = {
    'agent.approval': givenOf({ approval }),
    'agent.update': { ...givenOf(others), ...texts },
  }
  return Object.entries(changes).filter(([, detail]) => Object.keys(detail).length > 0) as [Action, object][]
}

/**
 * Changes the given fields. Limits become those of the agents that it created too, unless theirs are tighter. Throws
 * `forbidden` when an agent changes a setting that only members may change.
 */
export const updateAgent = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  agentId: string,
  { signature, templates, metadata, ...changes }: AgentChanges,
): Promise<Agent> => {
  await findAgent(deps, viewer, agentId)
  const limits = limitsOf(changes)
  const limited = Object.keys(limits)
  if (limited.length > 0 && viewer.kind !== 'member')
    throw new AppError('forbidden', `Only a member can change ${limited.join(' and ')}.`)
  const eventTypes = changes.eventTypes && loggedTypes(changes.eventTypes)
  return deps.prisma.$transaction(async (prisma) => {
    const data = {
      ...givenOf(changes),
      ...givenOf({ eventTypes }),
      ...(await changedMetadata(prisma, agentId, metadata)),
    }
    const agent = await prisma.agent.update({ where: { id: agentId }, data })
    if (changes.secretsInMessages) await changeGuard(prisma, agentId)
    const texts = {
      ...(await saveTexts(prisma, agentId, { signature, templates })),
      // Not the values, as of other texts.
      ...(metadata ? { metadata: Object.keys(metadata) } : {}),
    }
    for (const [action, detail] of actionsOf({ ...changes, eventTypes }, texts))
      await audit({ ...deps, prisma }, viewer, { action, agentId, detail: { ...detail } })
    const followed = limited.length > 0 ? await tightenDescendants(prisma, agentId, limits) : []
    for (const id of followed)
      for (const [action, detail] of actionsOf(limits))
        await audit({ ...deps, prisma }, viewer, {
          action,
          agentId: id,
          detail: { ...detail, from: agentId },
        })
    return agent
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

/** Deletes the agent under its log, so that nobody adds an event or a subscription meanwhile. */
const deleteWithTokens = (
  deps: Db & { clock: Clock; notifier: Notifier; endSubscriptions: EndSubscriptions },
  actor: Actor,
  agent: Agent,
) =>
  revoking(deps, async (tx) => {
    const { id: agentId, name } = agent
    await tx.$queryRaw`select 1 from event_log where agent_id = ${agentId}::uuid for update`
    // Nor does anybody make it a token.
    await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for update`
    const tokens = await tx.token.findMany({ where: { agentId }, select: { id: true } })
    const tokenIds = await holdWithDescendants(
      tx,
      tokens.map(({ id }) => id),
    )
    await deps.endSubscriptions(tx, { agentId, tokenIds })
    await subtractAgent(tx, agentId)
    await passOnChildren(tx, agentId)
    const { count } = await tx.agent.deleteMany({ where: { id: agentId } })
    if (count === 0) throw notFound('agent') // by another request, just now
    await noteDeleted(tx, agent, deps.clock.now())
    await audit({ ...deps, prisma: tx }, actor, { action: 'agent.delete', agentId, detail: { name } })
    return { ended: tokenIds }
  })

export interface DeletionDeps extends Db, ReleaseDeps {
  clock: Clock
  notifier: Notifier
  endSubscriptions: EndSubscriptions
  /** Deletes a batch of what the agent has left. Never throws. */
  removeAtOnce(agentId: string): Promise<void>
}

/** Deletes an agent as `deleteAgent` does, for an actor who may do it. */
export const removeAgent = async (deps: DeletionDeps, actor: Actor, agent: Agent): Promise<void> => {
  const addresses = await deps.prisma.address.findMany({ where: { agentId: agent.id } })
  await Promise.all(addresses.map((address) => releaseAddress(deps, address)))
  await forgetAgent(deps, agent, addresses)
  // Requests lock a row of the agent and then the agent; its deletion locks the agent and then all of its rows.
  await despiteDeadlocks(deps, () => deleteWithTokens(deps, actor, agent))
  await deps.removeAtOnce(agent.id)
}

/**
 * Deletes an agent with its addresses, messages, secrets, events and jobs. Its phone numbers return to the
 * workspace's pool, and it is removed from the lists of the workspace's other agents. Its tokens are deleted
 * too, which closes their open streams as a revocation does. All of it is gone for everybody when this resolves;
 * the rows of its messages, events and jobs are deleted later if there are many.
 */
export const deleteAgent = async (deps: DeletionDeps, viewer: Viewer, agentId: string): Promise<void> =>
  removeAgent(deps, viewer, await findAgent(deps, viewer, agentId))
