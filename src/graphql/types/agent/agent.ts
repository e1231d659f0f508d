import { type Agent as AgentRow, findAgent, findAgentTogether, MAX_AGENTS } from '../../../agent/index.ts'
import {
  Agent as AGENT,
  AGENT_FILTER,
  createAgent,
  deleteAgent,
  MANAGED,
  OPEN,
  updateAgent,
} from '../../../api/agent/agent.ts'
import { invalidInput, notFound } from '../../../core/errors.ts'
import type { Prisma } from '../../../db/generated/prisma/client.ts'
import type { Viewer } from '../../../workspace/index.ts'
import { builder } from '../../builder/builder.ts'
import { argsOf, exposed, mutation, removal, valuesOf } from '../../builder/rendered.ts'

/**
 * Condition for agents that a viewer may read: a member all of the workspace's, an agent's token only its
 * own.
 */
const readableBy = (viewer: Viewer): Prisma.AgentWhereInput => ({
  workspaceId: viewer.workspaceId,
  ...(viewer.kind === 'agent' ? { id: viewer.id } : {}),
})

/**
 * Fields that an agent's token may see of another agent (one that it has just created). All others require
 * `manage`.
 */
const open = { skipTypeScopes: true } as const

export const Agent = builder.prismaObject('Agent', {
  description: AGENT.sentence,
  authScopes: ({ id }) => ({ manage: id }),
  fields: (t) => ({
    ...exposed(t, OPEN, open),
    ...exposed(t, MANAGED),
    messageUrl: t.string({
      ...open,
      description: "The agent's Message URL, to which the workspace's members and agents can send messages.",
      resolve: ({ id }, _args, { deps }) => `${deps.messageUrlBase()}/a/${id}`,
    }),
  }),
})

/** The agents after this one, oldest first. `gte` lets the index find them. */
const afterAgent = ({ id, createdAt }: AgentRow): Prisma.AgentWhereInput => ({
  createdAt: { gte: createdAt },
  OR: [{ createdAt: { gt: createdAt } }, { id: { gt: id } }],
})

/** The agents with these values in their metadata. */
const withMetadata = (wanted: Readonly<Record<string, string>> = {}): Prisma.AgentWhereInput[] =>
  Object.entries(wanted).map(([key, value]) => ({ metadata: { path: [key], equals: value } }))

/** Number of agents that a query without `first` is assumed to return. */
const ASSUMED = 50

builder.queryFields((t) => ({
  agents: t.prismaField({
    type: [Agent],
    complexity: ({ first }) => ({ multiplier: first ?? ASSUMED }),
    description: `The agents that the token can read, oldest first: with a member's token all agents of the workspace, with an agent's token only that agent. At most ${MAX_AGENTS} at a time.`,
    args: {
      first: t.arg.int({
        description: `Number of agents to return: 1 to ${MAX_AGENTS}; defaults to ${MAX_AGENTS}.`,
      }),
      after: t.arg({
        type: 'UUID',
        description: 'Return agents after the agent with this id, the last one of the previous page.',
      }),
      ...argsOf(AGENT_FILTER),
    },
    resolve: async (query, _root, { first, after, ...filter }, { deps, viewer }) => {
      const take = first ?? MAX_AGENTS
      if (take < 1 || take > MAX_AGENTS)
        throw invalidInput('first', `must be a whole number from 1 to ${MAX_AGENTS}`)
      const start = after ? afterAgent(await findAgent(deps, viewer, after)) : {}
      return deps.prisma.agent.findMany({
        ...query,
        where: {
          AND: [readableBy(viewer), start, ...withMetadata(valuesOf(AGENT_FILTER, filter).metadata)],
        },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take,
      })
    },
  }),
  agent: t.prismaField({
    type: Agent,
    description: 'One agent.',
    args: { id: t.arg({ type: 'UUID', required: true, description: "The agent's id." }) },
    resolve: async (query, _root, { id }, { deps, viewer }) => {
      if (!query.include) return findAgentTogether(deps, viewer, id) // no relations selected: a prepared statement
      const agent = await deps.prisma.agent.findFirst({
        ...query,
        where: { AND: [{ id }, readableBy(viewer)] },
      })
      if (agent) return agent
      await findAgent(deps, viewer, id) // throws the same error as REST
      throw notFound('agent')
    },
  }),
}))

mutation(createAgent, 'The new agent.', (t) => ({
  agent: t.field({ type: Agent, description: 'The new agent.', resolve: ({ result }) => result }),
}))

mutation(updateAgent, 'The changes to an agent. Fields left out are not changed.', (t) => ({
  agent: t.field({ type: Agent, description: 'The updated agent.', resolve: ({ result }) => result }),
}))

removal(deleteAgent, 'The agent to delete.', { agentId: 'The id of the deleted agent.' })
