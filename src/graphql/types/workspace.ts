import { keepDays, keepRefusedDays, workspaceName } from '../../core/rules.ts'
import type { Plan as PlanRow, Workspace as WorkspaceRow } from '../../db/generated/prisma/client.ts'
import { updateWorkspace } from '../../workspace/settings.ts'
import { type Usage, usageOf } from '../../workspace/usage.ts'
import { builder, forMembers } from '../builder.ts'
import { checked, given } from '../input.ts'
import { PhoneNumber } from './phone-number.ts'

/** What plans limit, under the API's names. */
const LIMITED: Record<keyof Usage, { limit: string; usage: string }> = {
  agents: { limit: 'Agents.', usage: 'Agents.' },
  members: { limit: 'Members.', usage: 'Members.' },
  ownDomains: { limit: "The workspace's own domains.", usage: "The workspace's own domains." },
  webhooks: { limit: 'Webhooks across all agents.', usage: 'Webhooks across all agents.' },
  sendsPerDay: { limit: 'Messages sent in 24 hours.', usage: 'Messages sent in the last 24 hours.' },
  storedMessages: {
    limit: 'Stored messages, not counting refused ones.',
    usage: 'Stored messages, not counting refused ones.',
  },
  phoneNumbers: { limit: 'Phone numbers.', usage: 'Phone numbers.' },
}
const limited = Object.keys(LIMITED) as (keyof Usage)[]

const PlanLimits = builder.objectRef<Record<keyof Usage, number | null>>('PlanLimits').implement({
  description: 'The limits of a plan. Null means no limit.',
  fields: (t) =>
    Object.fromEntries(
      limited.map((name) => [
        name,
        t.int({ nullable: true, description: LIMITED[name].limit, resolve: (limits) => limits[name] }),
      ]),
    ),
})

const PlanUsage = builder.objectRef<Usage>('PlanUsage').implement({
  description: "A workspace's current usage of the quantities that plans limit.",
  fields: (t) =>
    Object.fromEntries(
      limited.map((name) => [
        name,
        t.int({ description: LIMITED[name].usage, resolve: (usage) => usage[name] }),
      ]),
    ),
})

const Plan = builder.objectRef<PlanRow & { workspaceId: string }>('Plan').implement({
  description: "A workspace's plan: what it includes and the current usage.",
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its name.' }),
    limits: t.field({ type: PlanLimits, description: 'The limits of the plan.', resolve: (plan) => plan }),
    usage: t.field({
      type: PlanUsage,
      complexity: 10,
      description: "The workspace's current usage.",
      resolve: ({ workspaceId }, _args, { deps }) => usageOf(deps, workspaceId),
    }),
    changeAddress: t.exposeBoolean('changeAddress', {
      description: 'Whether the email address that the service assigns to an agent can be changed.',
    }),
  }),
})

type SettingsRow = Pick<
  WorkspaceRow,
  | 'agentsMaySetAccess'
  | 'agentsMayCreateAgents'
  | 'requirePasskeys'
  | 'keepRefusedDays'
  | 'keepMessagesDays'
  | 'keepRawDays'
>

const Settings = builder.objectRef<SettingsRow>('WorkspaceSettings').implement({
  description: 'What agents may do on their own, and how long messages are kept.',
  fields: (t) => ({
    agentsMaySetAccess: t.exposeBoolean('agentsMaySetAccess', {
      description: 'Whether agents may set who can send messages on their channels.',
    }),
    agentsMayCreateAgents: t.exposeBoolean('agentsMayCreateAgents', {
      description: 'Whether agents may create agents.',
    }),
    requirePasskeys: t.exposeBoolean('requirePasskeys', {
      description: 'Whether members need a passkey to sign in.',
    }),
    keepRefusedDays: t.exposeInt('keepRefusedDays', {
      description: 'Days after which refused messages are deleted.',
    }),
    keepMessagesDays: t.exposeInt('keepMessagesDays', {
      nullable: true,
      description: 'Days after which all other messages are deleted; null means never.',
    }),
    keepRawDays: t.exposeInt('keepRawDays', {
      nullable: true,
      description: 'Days after which the originals of received emails are deleted; null means never.',
    }),
  }),
})

export const Workspace = builder.prismaObject('Workspace', {
  description: 'A tenant with its members and agents, isolated from all others.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    deletesAt: t.expose('deleteAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it will be deleted, as an owner has asked; null if it is not.',
    }),
    settings: t.field({
      type: Settings,
      select: {
        agentsMaySetAccess: true,
        agentsMayCreateAgents: true,
        requirePasskeys: true,
        keepRefusedDays: true,
        keepMessagesDays: true,
        keepRawDays: true,
      },
      description: 'What agents may do on their own, and how long messages are kept.',
      resolve: (workspace) => workspace,
    }),
    plan: t.field({
      type: Plan,
      select: { id: true, plan: true },
      description: 'The plan and its current usage.',
      resolve: ({ id, plan }) => ({ ...plan, workspaceId: id }),
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

const UpdateWorkspaceInput = builder.inputType('UpdateWorkspaceInput', {
  description: 'The changes to the workspace. Fields left out are not changed.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    agentsMaySetAccess: t.boolean({
      description: 'Whether agents may set who can send messages on their channels.',
    }),
    agentsMayCreateAgents: t.boolean({ description: 'Whether agents may create agents.' }),
    requirePasskeys: t.boolean({
      description:
        'Whether members need a passkey to sign in. When it is switched on, sessions without one only allow to register one, or to sign in with it.',
    }),
    keepRefusedDays: t.int({ description: 'Days after which refused messages are deleted: 1 to 365.' }),
    keepMessagesDays: t.int({
      description: 'Days after which all other messages are deleted: 1 to 36500; null means never.',
    }),
    keepRawDays: t.int({
      description:
        'Days after which the originals of received emails are deleted: 1 to 36500; null means never.',
    }),
  }),
})

/** The payload of a mutation of the workspace. */
export const workspacePayload = (mutation: string, description: string) =>
  builder.objectRef<{ id: string }>(`${mutation}Payload`).implement({
    description: `Result of \`${mutation.charAt(0).toLowerCase()}${mutation.slice(1)}\`.`,
    fields: (t) => ({
      workspace: t.prismaField({
        type: Workspace,
        description,
        resolve: (query, { id }, _args, { deps }) =>
          deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id } }),
      }),
    }),
  })

const UpdateWorkspacePayload = workspacePayload('UpdateWorkspace', 'The updated workspace.')

builder.mutationField('updateWorkspace', (t) =>
  t.field({
    type: UpdateWorkspacePayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Changes the workspace's name, what agents may do on their own, how members sign in, or how long messages are kept. The name is for members, all else for owners.",
    args: { input: t.arg({ type: UpdateWorkspaceInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { agentsMaySetAccess, agentsMayCreateAgents, requirePasskeys } = input
      const { keepMessagesDays, keepRawDays } = input
      const { workspace } = await updateWorkspace(deps, viewer, {
        ...{ keepMessagesDays, keepRawDays },
        ...checked(
          { name: workspaceName, keepRefusedDays, keepMessagesDays: keepDays, keepRawDays: keepDays },
          input,
        ),
        agentsMaySetAccess: given(agentsMaySetAccess),
        agentsMayCreateAgents: given(agentsMayCreateAgents),
        requirePasskeys: given(requirePasskeys),
      })
      return workspace
    },
  }),
)
