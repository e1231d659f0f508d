import { AppError, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Agent } from '../db/generated/prisma/client.ts'
import type { Viewer } from '../workspace/viewer.ts'

/**
 * What a viewer wants to do to an agent: `manage` (members and the agent itself), `be` (connect, reveal: the agent itself only),
 * `mint` (make its tokens: members and the agent that created it), `write` (to its Message URL: everybody of the workspace).
 */
export type Reach = 'manage' | 'be' | 'mint' | 'write'

const FORBIDDEN: Record<Exclude<Reach, 'write'>, string> = {
  manage: "This token is another agent's.",
  be: "Only the agent's own token can do this.",
  mint: 'Only a member, or the agent that created this one, can make its tokens.',
}

const reaches = (viewer: Viewer, agent: Agent, reach: Exclude<Reach, 'write'>): boolean => {
  if (viewer.kind === 'member') return reach !== 'be'
  return reach === 'mint' ? agent.createdByAgentId === viewer.id && agent.id !== viewer.id : agent.id === viewer.id
}

const BY_ID = {
  name: 'agent by id',
  text: 'select id, workspace_id, name, icon, created_by_member_id, created_by_agent_id, created_at from agent where id = $1',
}

interface AgentRow {
  id: string
  workspace_id: string
  name: string
  icon: string
  created_by_member_id: string | null
  created_by_agent_id: string | null
  created_at: Date
}

const readAgent = async ({ pool }: Db, agentId: string): Promise<Agent | null> => {
  const { rows } = await pool.query<AgentRow>({ ...BY_ID, values: [agentId] })
  const row = rows[0]
  return row
    ? {
        id: row.id,
        workspaceId: row.workspace_id,
        name: row.name,
        icon: row.icon,
        createdByMemberId: row.created_by_member_id,
        createdByAgentId: row.created_by_agent_id,
        createdAt: row.created_at,
      }
    : null
}

/**
 * The agent, for a viewer who may do what `reach` says. Throws `not_found` for what is another workspace's, in the same words as for
 * what does not exist, and `forbidden` inside the workspace. Every operation on an agent begins with it: hence the prepared statement.
 */
export const findAgent = async (db: Db, viewer: Viewer, agentId: string, reach: Reach = 'manage'): Promise<Agent> => {
  const agent = await readAgent(db, agentId)
  if (!agent || agent.workspaceId !== viewer.workspaceId) throw notFound('agent')
  if (reach !== 'write' && !reaches(viewer, agent, reach)) throw new AppError('forbidden', FORBIDDEN[reach])
  return agent
}
