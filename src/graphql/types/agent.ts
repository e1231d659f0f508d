import {
  type Agent as AgentRow,
  deleteAgent,
  type Icon as IconName,
  MAX_AGENTS,
  updateAgent,
  type WakeLimits,
} from '../../agent/agent.ts'
import { createAgent } from '../../agent/create.ts'
import { findAgent } from '../../agent/permission.ts'
import { invalidInput, notFound } from '../../core/errors.ts'
import { agentName, signature, templates, wakeLimit } from '../../core/rules.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { EVENT_NAMES } from '../../event/event.ts'
import { eventTypes } from '../../event/selection.ts'
import type { Viewer } from '../../workspace/viewer.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'
import { Approval, Icon, Instructors } from './enums.ts'

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
  description: 'An agent, which sends and receives messages.',
  authScopes: ({ id }) => ({ manage: id }),
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', ...open, description: 'Unique identifier.' }),
    name: t.exposeString('name', { ...open, description: 'Its name.' }),
    icon: t.field({ type: Icon, ...open, description: 'Its icon.', resolve: ({ icon }) => icon as IconName }),
    approval: t.expose('approval', {
      type: Approval,
      description: 'Which of its messages wait for the approval of a member.',
    }),
    instructors: t.expose('instructors', {
      type: Instructors,
      description: 'Whose messages may instruct it.',
    }),
    wakesPerHour: t.exposeInt('wakesPerHour', {
      nullable: true,
      description: 'How many messages may wake it in an hour; null means no limit.',
    }),
    wakesPerThreadDay: t.exposeInt('wakesPerThreadDay', {
      nullable: true,
      description: 'How many messages of one thread may wake it in 24 hours; null means no limit.',
    }),
    eventTypes: t.exposeStringList('eventTypes', {
      description: `Types of the events that its log contains, of: ${EVENT_NAMES.join(', ')}. The first one is always among them.`,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', ...open, description: 'When it was created.' }),
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
    },
    resolve: async (query, _root, { first, after }, { deps, viewer }) => {
      const take = first ?? MAX_AGENTS
      if (take < 1 || take > MAX_AGENTS)
        throw invalidInput('first', `must be a whole number from 1 to ${MAX_AGENTS}`)
      const start = after ? afterAgent(await findAgent(deps, viewer, after)) : {}
      return deps.prisma.agent.findMany({
        ...query,
        where: { AND: [readableBy(viewer), start] },
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
      if (!query.include) return findAgent(deps, viewer, id) // no relations selected: uses a prepared statement
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

const CreateAgentInput = builder.inputType('CreateAgentInput', {
  description: 'A new agent.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 100 characters, not blank.' }),
    icon: t.field({ type: Icon, required: true, description: 'One of the icons.' }),
  }),
})

const TemplateInput = builder.inputType('TemplateInput', {
  description: 'A text to answer with.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 60 characters, not blank.' }),
    text: t.string({ required: true, description: '1 to 10000 characters.' }),
  }),
})

const UpdateAgentInput = builder.inputType('UpdateAgentInput', {
  description: 'The changes to an agent. Fields left out are not changed.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    icon: t.field({ type: Icon, description: 'One of the icons.' }),
    approval: t.field({
      type: Approval,
      description:
        'Which of its messages wait for the approval of a member. Only members may change it. It holds for the agents that this one created or creates, too, as do the limits of wakes.',
    }),
    instructors: t.field({
      type: Instructors,
      description: 'Whose messages may instruct it. Members only.',
    }),
    eventTypes: t.stringList({
      description: `Types of the events that its log contains from now on, of: ${EVENT_NAMES.join(', ')}. The first one is always among them.`,
    }),
    wakesPerHour: t.int({
      description:
        'How many messages may wake it in an hour: 1 to 10000, or null for no limit. Members only.',
    }),
    wakesPerThreadDay: t.int({
      description:
        'How many messages of one thread may wake it in 24 hours: 1 to 10000, or null for no limit. Members only.',
    }),
    signature: t.string({ description: 'At most 2000 characters; null or an empty text removes it.' }),
    templates: t.field({ type: [TemplateInput], description: 'All texts to answer with, at most 50.' }),
  }),
})

const DeleteAgentInput = builder.inputType('DeleteAgentInput', {
  description: 'The agent to delete.',
  fields: (t) => ({ agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }) }),
})

/** Null removes a limit; a field left out does not change it. */
const limitsOf = (input: WakeLimits): WakeLimits => {
  const { wakesPerHour, wakesPerThreadDay } = input
  return {
    wakesPerHour,
    wakesPerThreadDay,
    ...checked({ wakesPerHour: wakeLimit, wakesPerThreadDay: wakeLimit }, input),
  }
}

const CreateAgentPayload = builder.objectRef<{ agent: AgentRow }>('CreateAgentPayload').implement({
  description: 'Result of `createAgent`.',
  fields: (t) => ({
    agent: t.field({ type: Agent, description: 'The new agent.', resolve: ({ agent }) => agent }),
  }),
})

const UpdateAgentPayload = builder.objectRef<{ agent: AgentRow }>('UpdateAgentPayload').implement({
  description: 'Result of `updateAgent`.',
  fields: (t) => ({
    agent: t.field({ type: Agent, description: 'The updated agent.', resolve: ({ agent }) => agent }),
  }),
})

const DeleteAgentPayload = builder.objectRef<{ agentId: string }>('DeleteAgentPayload').implement({
  description: 'Result of `deleteAgent`.',
  fields: (t) => ({
    agentId: t.expose('agentId', { type: 'UUID', description: 'The id of the deleted agent.' }),
  }),
})

builder.mutationFields((t) => ({
  createAgent: t.field({
    type: CreateAgentPayload,
    nullable: true,
    idempotency: 'once',
    description:
      "Creates an agent with an email address on the service's domain. Its creator is added to its email and Message URL access lists. The agents of a workspace can create at most 60 agents an hour.",
    args: { input: t.arg({ type: CreateAgentInput, required: true, description: 'The new agent.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => ({
      agent: await createAgent(deps, viewer, { ...checked({ name: agentName }, input), icon: input.icon }),
    }),
  }),
  updateAgent: t.field({
    type: UpdateAgentPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Changes an agent's name, icon or settings. Messages over a limit are refused as rate_limit, stored, and can be released.",
    args: { input: t.arg({ type: UpdateAgentInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => ({
      agent: await updateAgent(deps, viewer, input.agentId, {
        ...checked({ name: agentName, eventTypes, templates }, input),
        signature: input.signature === null ? null : checked({ signature }, input).signature,
        icon: given(input.icon),
        approval: given(input.approval),
        instructors: given(input.instructors),
        ...limitsOf(input),
      }),
    }),
  }),
  deleteAgent: t.field({
    type: DeleteAgentPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Deletes an agent with its addresses, messages and secrets.',
    args: { input: t.arg({ type: DeleteAgentInput, required: true, description: 'The agent.' }) },
    resolve: async (_root, { input: { agentId } }, { deps, viewer }) => {
      await deleteAgent(deps, viewer, agentId)
      return { agentId }
    },
  }),
}))
