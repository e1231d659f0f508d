import { Plan as PLAN, updateWorkspace, Workspace as WORKSPACE } from '../../../api/workspace/workspace.ts'
import type { Plan as PlanRow } from '../../../db/generated/prisma/client.ts'
import { presentCompanySignIn, usageOf } from '../../../workspace/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { described, exposed, fieldOf, mutation } from '../../builder/rendered.ts'
import { PhoneNumber } from './phone-number.ts'

const { key, changeAddress, limits, usage } = PLAN.fields

const Plan = builder.objectRef<PlanRow & { workspaceId: string }>('Plan').implement({
  description: PLAN.sentence,
  fields: (t) => ({
    ...exposed(t, { key, changeAddress }),
    limits: t.field({ ...fieldOf(limits), resolve: (plan) => plan }),
    usage: t.field({
      ...fieldOf(usage),
      complexity: 10,
      resolve: ({ workspaceId }, _args, { deps }) => usageOf(deps, workspaceId),
    }),
  }),
})

const { plan, settings, deletesAt, ...columns } = WORKSPACE.fields

export const Workspace = builder.prismaObject('Workspace', {
  description: WORKSPACE.sentence,
  select: { id: true },
  fields: (t) => ({
    ...exposed(t, columns),
    deletesAt: t.expose('deleteAt', { type: 'DateTime', ...described(deletesAt), nullable: true }),
    settings: t.field({
      ...fieldOf(settings),
      select: {
        agentsMaySetAccess: true,
        agentsMayCreateAgents: true,
        requirePasskeys: true,
        signIn: true,
        keepRefusedDays: true,
        keepMessagesDays: true,
        keepRawDays: true,
      },
      resolve: (workspace, _args, { deps }) => ({
        ...workspace,
        signIn: presentCompanySignIn(deps, workspace.signIn),
      }),
    }),
    plan: t.field({
      type: Plan,
      select: { id: true, plan: true },
      ...described(plan),
      resolve: (workspace) => ({ ...workspace.plan, workspaceId: workspace.id }),
    }),
    phoneNumbers: t.relation('phoneNumbers', {
      type: PhoneNumber,
      ...forMembers,
      description: 'The pool of phone numbers. Members only.',
      query: { where: { providerId: { not: '' } }, orderBy: { value: 'asc' } },
    }),
  }),
})

builder.queryField('workspace', (t) =>
  t.prismaField({
    type: Workspace,
    description: 'The workspace of the caller.',
    resolve: (query, _root, _args, { deps, viewer }) =>
      deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id: viewer.workspaceId } }),
  }),
)

mutation(updateWorkspace, 'The changes to the workspace. Fields left out are not changed.', (t) => ({
  workspace: t.prismaField({
    type: Workspace,
    description: 'The updated workspace.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id } }),
  }),
}))
