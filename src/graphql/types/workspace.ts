import { workspaceName } from '../../core/rules.ts'
import type { Plan as PlanRow, Workspace as WorkspaceRow } from '../../db/generated/prisma/client.ts'
import { type Usage, usageOf } from '../../workspace/plan.ts'
import { updateWorkspace } from '../../workspace/settings.ts'
import { builder, forMembers } from '../builder.ts'
import { checked, given } from '../input.ts'
import { PhoneNumber } from './phone-number.ts'

/** What plans limit, in the contract's names. */
const LIMITED: Record<keyof Usage, { limit: string; usage: string }> = {
  agents: { limit: 'Agents.', usage: 'Agents.' },
  members: { limit: 'Members.', usage: 'Members.' },
  ownDomains: { limit: "The workspace's own domains.", usage: "The workspace's own domains." },
  webhooks: { limit: 'Webhooks of all agents.', usage: 'Webhooks of all agents.' },
  sendsPerDay: { limit: 'Messages sent in 24 hours.', usage: 'Messages sent in the last 24 hours.' },
  storedMessages: { limit: 'Messages that are kept.', usage: 'Messages that are kept.' },
  phoneNumbers: { limit: 'Phone numbers.', usage: 'Phone numbers.' },
}
const limited = Object.keys(LIMITED) as (keyof Usage)[]

const PlanLimits = builder.objectRef<Record<keyof Usage, number | null>>('PlanLimits').implement({
  description: 'How much a plan includes. Null is no limit.',
  fields: (t) =>
    Object.fromEntries(
      limited.map((name) => [name, t.int({ nullable: true, description: LIMITED[name].limit, resolve: (limits) => limits[name] })]),
    ),
})

const PlanUsage = builder.objectRef<Usage>('PlanUsage').implement({
  description: 'How much of what plans limit a workspace has.',
  fields: (t) =>
    Object.fromEntries(limited.map((name) => [name, t.int({ description: LIMITED[name].usage, resolve: (usage) => usage[name] })])),
})

const Plan = builder.objectRef<PlanRow & { workspaceId: string }>('Plan').implement({
  description: 'What a workspace may do, and how much of it is in use.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its name.' }),
    limits: t.field({ type: PlanLimits, description: 'How much it includes.', resolve: (plan) => plan }),
    usage: t.field({
      type: PlanUsage,
      complexity: 10,
      description: 'How much of it the workspace uses now.',
      resolve: ({ workspaceId }, _args, { deps }) => usageOf(deps, workspaceId),
    }),
    changeAddress: t.exposeBoolean('changeAddress', { description: 'Whether the address that the service gives an agent may be changed.' }),
  }),
})

const Settings = builder.objectRef<Pick<WorkspaceRow, 'agentsMaySetAccess' | 'agentsMayCreateAgents'>>('WorkspaceSettings').implement({
  description: 'What agents may do by themselves.',
  fields: (t) => ({
    agentsMaySetAccess: t.exposeBoolean('agentsMaySetAccess', { description: 'Whether they may set whom their channels let in.' }),
    agentsMayCreateAgents: t.exposeBoolean('agentsMayCreateAgents', { description: 'Whether they may create agents.' }),
  }),
})

export const Workspace = builder.prismaObject('Workspace', {
  description: 'A tenant: its members and agents. Nothing crosses its border.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    settings: t.field({
      type: Settings,
      select: { agentsMaySetAccess: true, agentsMayCreateAgents: true },
      description: 'What agents may do by themselves.',
      resolve: (workspace) => workspace,
    }),
    plan: t.field({
      type: Plan,
      select: { id: true, plan: true },
      description: 'What it may do, and how much of that is in use.',
      resolve: ({ id, plan }) => ({ ...plan, workspaceId: id }),
    }),
    phoneNumbers: t.relation('phoneNumbers', {
      type: PhoneNumber,
      ...forMembers,
      description: 'Its pool of phone numbers. For members.',
      query: { where: { providerId: { not: '' } }, orderBy: { value: 'asc' } },
    }),
  }),
})

builder.queryField('workspace', (t) =>
  t.prismaField({
    type: Workspace,
    description: 'The workspace of whoever asks.',
    resolve: (query, _root, _args, { deps, viewer }) =>
      deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id: viewer.workspaceId } }),
  }),
)

const UpdateWorkspaceInput = builder.inputType('UpdateWorkspaceInput', {
  description: 'What to change of the workspace; what is left out stays.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    agentsMaySetAccess: t.boolean({ description: 'Whether agents may set whom their channels let in.' }),
    agentsMayCreateAgents: t.boolean({ description: 'Whether agents may create agents.' }),
  }),
})

const UpdateWorkspacePayload = builder.objectRef<{ id: string }>('UpdateWorkspacePayload').implement({
  description: 'What became of `updateWorkspace`.',
  fields: (t) => ({
    workspace: t.prismaField({
      type: Workspace,
      description: 'The workspace as it is now.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

builder.mutationField('updateWorkspace', (t) =>
  t.field({
    type: UpdateWorkspacePayload,
    nullable: true,
    description: "Changes the workspace's name, or what agents may do by themselves. For members.",
    args: { input: t.arg({ type: UpdateWorkspaceInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentsMaySetAccess, agentsMayCreateAgents } = input
      const { workspace } = await updateWorkspace(deps, viewer, {
        ...checked({ name: workspaceName }, input),
        agentsMaySetAccess: given(agentsMaySetAccess),
        agentsMayCreateAgents: given(agentsMayCreateAgents),
      })
      return workspace
    },
  }),
)
