import { AppError, notFound } from '../../core/errors.ts'
import { createDbBatch, type DbBatch } from '../../db/batch.ts'
import { type Db, isUnavailable } from '../../db/client.ts'
import { type Agent, Prisma } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/index.ts'

/**
 * Operations of a viewer on an agent: `manage` (members and the agent itself), `be` (connect, reveal secrets:
 * only the agent itself), `mint` (create its tokens: members and the agent that created it), `write` (to its
 * Message URL: everyone in the workspace).
 */
export type AgentPermission = 'manage' | 'be' | 'mint' | 'write'

const FORBIDDEN: Record<Exclude<AgentPermission, 'write'>, string> = {
  manage: 'This token belongs to another agent.',
  be: "Only the agent's own token can do this.",
  mint: 'Only a member, or the agent that created this one, can make its tokens.',
}

/** What of a viewer decides permissions. */
export type Caller = Pick<Viewer, 'kind' | 'id' | 'workspaceId'>

/** The columns of an agent that decide permissions. */
export type AgentRef = Pick<Agent, 'id' | 'workspaceId' | 'createdByAgentId'>

const isPermitted = (viewer: Caller, agent: AgentRef, reach: Exclude<AgentPermission, 'write'>): boolean => {
  if (viewer.kind === 'member') return reach !== 'be'
  return reach === 'mint'
    ? agent.createdByAgentId === viewer.id && agent.id !== viewer.id
    : agent.id === viewer.id
}

/**
 * Returns the agent if the viewer has the permission `reach`. Throws `not_found` for another workspace's
 * agent, in the same words as for one that does not exist, and `forbidden` inside the workspace.
 */
export const authorizeAgent = <Found extends AgentRef>(
  viewer: Caller,
  agent: Found | null,
  reach: AgentPermission = 'manage',
): Found => {
  if (!agent || agent.workspaceId !== viewer.workspaceId) throw notFound('agent')
  if (reach !== 'write' && !isPermitted(viewer, agent, reach))
    throw new AppError('forbidden', FORBIDDEN[reach])
  return agent
}

/** `wakesPerHour` → `a.wakes_per_hour as "wakesPerHour"` */
const selected = (name: string): string =>
  `a.${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${name}"`

/** Selects agents `a`, as Prisma returns them. */
export const AGENT_COLUMNS: string = Object.values(Prisma.AgentScalarFieldEnum).map(selected).join(', ')

const BY_ID = { name: 'agent by id', text: `select ${AGENT_COLUMNS} from agent a where a.id = $1` }

/**
 * Finds the agent for a viewer with the permission `reach`; throws as `authorizeAgent` does. A prepared
 * statement, because most operations begin with it.
 */
export const findAgent = async (
  { pool }: Db,
  viewer: Caller,
  agentId: string,
  reach: AgentPermission = 'manage',
): Promise<Agent> => {
  const { rows } = await pool.query<Agent>({ ...BY_ID, values: [agentId] })
  return authorizeAgent(viewer, rows[0] ?? null, reach)
}

/** Each by its key, with one plan for any number: see docs/decisions.md#kept-plans. */
const EACH_BY_ID = {
  name: 'each agent by id',
  text: `select ${AGENT_COLUMNS} from unnest((select $1::uuid[])) as k(id) cross join lateral (select * from agent where id = k.id limit 1) a`,
}

/** Collects reads of single agents: concurrent ones share a round trip. See docs/decisions.md#batched-reads. */
export type AgentReads = DbBatch<string, Agent | null>

export const createAgentReads = (root: Db): AgentReads =>
  createDbBatch<string, Agent | null>(
    root,
    async ({ pool }, ids) => {
      const { rows } = await pool.query<Agent>({ ...EACH_BY_ID, values: [ids] })
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => {
        const row = found.get(id)
        return row ? { ...row } : null // each caller's own
      })
    },
    { most: 16, parallel: 4, patienceMs: 5, isUnavailable },
  )

/** Finds the agent as `findAgent` does, together with those that are read at the same time. */
export const findAgentTogether = async (
  deps: Db & { agentReads: AgentReads },
  viewer: Caller,
  agentId: string,
): Promise<Agent> => authorizeAgent(viewer, await deps.agentReads.add(deps, agentId))

/**
 * Returns whether an agent was deleted: its messages may still be stored, and what refers to them without a
 * viewer, such as a link or a bounce, must not find them.
 */
export const isDeleted = async ({ prisma }: Pick<Db, 'prisma'>, agentId: string): Promise<boolean> =>
  (await prisma.agent.count({ where: { id: agentId } })) === 0

const BY_IDS = {
  name: 'agents by id',
  text: `select ${AGENT_COLUMNS} from agent a where a.id = any($1::uuid[])`,
}

/** Finds agents that the viewer may manage, in the order of their ids; throws as `authorizeAgent` does. */
export const findAgents = async ({ pool }: Db, viewer: Caller, ids: readonly string[]): Promise<Agent[]> => {
  const { rows } = await pool.query<Agent>({ ...BY_IDS, values: [ids] })
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => authorizeAgent(viewer, found.get(id) ?? null))
}
