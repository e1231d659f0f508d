import { Viewer as VIEWER } from '../../../api/workspace/viewer.ts'
import { hasScope } from '../../../core/scopes.ts'
import { readViews, type SavedView, type Viewer as ViewerShape } from '../../../workspace/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { exposed } from '../../builder/rendered.ts'
import { Agent } from '../agent/agent.ts'
import { MemberIdentity } from './identity.ts'
import { Token } from './token.ts'
import { Workspace } from './workspace.ts'

interface Permissions {
  createAgents: boolean
  createTokens: boolean
  setAccess: boolean
  updateWorkspace: boolean
  manageDomains: boolean
  managePhoneNumbers: boolean
  inviteMembers: boolean
  inviteOwners: boolean
  removeMembers: boolean
  connect: boolean
  revealSecrets: boolean
}

const may = (description: string) => ({ description })

const ViewerMay = builder.objectRef<Permissions>('ViewerMay').implement({
  description:
    'What the caller may do besides reading, with the agents that `agents` returns and with the workspace.',
  fields: (t) => ({
    createAgents: t.exposeBoolean('createAgents', may('Create agents.')),
    createTokens: t.exposeBoolean('createTokens', may('Create tokens for agents.')),
    setAccess: t.exposeBoolean('setAccess', may('Set who may send messages on channels.')),
    updateWorkspace: t.exposeBoolean(
      'updateWorkspace',
      may("Change the workspace's name; only owners may change its settings."),
    ),
    manageDomains: t.exposeBoolean('manageDomains', may('Add, verify and remove domains.')),
    managePhoneNumbers: t.exposeBoolean('managePhoneNumbers', may('Rent and release phone numbers.')),
    inviteMembers: t.exposeBoolean('inviteMembers', may('Invite members and revoke invitations.')),
    inviteOwners: t.exposeBoolean('inviteOwners', may('Invite owners.')),
    removeMembers: t.exposeBoolean('removeMembers', may('Remove members from the workspace.')),
    connect: t.exposeBoolean('connect', may("Connect as the agent's client.")),
    revealSecrets: t.exposeBoolean('revealSecrets', may("Reveal the agent's secrets.")),
  }),
})

/**
 * The operations themselves enforce these rules; this exposes them so that a page can show only what is
 * permitted.
 */
const permissionsOf = (
  viewer: ViewerShape,
  {
    agentsMayCreateAgents,
    agentsMaySetAccess,
  }: { agentsMayCreateAgents: boolean; agentsMaySetAccess: boolean },
): Permissions => {
  const [member, owner] = [viewer.kind === 'member', viewer.role === 'owner']
  const [settings, billing, members] = [
    hasScope(viewer, 'settings'),
    hasScope(viewer, 'billing'),
    hasScope(viewer, 'members'),
  ]
  return {
    createAgents: settings && (member || agentsMayCreateAgents),
    createTokens: member && hasScope(viewer, 'tokens'),
    setAccess: settings && (member || agentsMaySetAccess),
    updateWorkspace: member && settings,
    manageDomains: member && billing,
    managePhoneNumbers: member && billing,
    inviteMembers: member && members,
    inviteOwners: owner && members,
    removeMembers: owner && members,
    connect: !member && hasScope(viewer, 'events'),
    revealSecrets: !member && hasScope(viewer, 'secrets:reveal'),
  }
}

const SavedViewObject = builder.objectRef<SavedView>('SavedView').implement({
  description: 'A search of the web application that a member saved.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    path: t.exposeString('path', { description: 'Its place in the application, which begins with /inbox.' }),
  }),
})

const { workspace: _, ...fields } = VIEWER.fields

export const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: VIEWER.sentence,
  fields: (t) => ({
    ...exposed(t, fields),
    may: t.field({
      type: ViewerMay,
      description: 'What the viewer may do.',
      resolve: async (viewer, _args, { deps }) =>
        permissionsOf(
          viewer,
          await deps.prisma.workspace.findUniqueOrThrow({ where: { id: viewer.workspaceId } }),
        ),
    }),
    tokens: t.prismaField({
      type: [Token],
      ...forMembers,
      description: "The member's own tokens, oldest first. Members only.",
      resolve: (query, viewer, _args, { deps }) =>
        deps.prisma.token.findMany({
          ...query,
          where: { memberId: viewer.id, session: null },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        }),
    }),
    identities: t.prismaField({
      type: [MemberIdentity],
      ...forMembers,
      description: 'The verified phone numbers and Telegram ids of the member. Members only.',
      resolve: (query, viewer, _args, { deps }) =>
        deps.prisma.memberIdentity.findMany({
          ...query,
          where: { memberId: viewer.id },
          orderBy: [{ channel: 'asc' }, { value: 'asc' }],
        }),
    }),
    views: t.field({
      type: [SavedViewObject],
      ...forMembers,
      description:
        "The member's saved searches, at most 50, in the order in which they were set. Members only.",
      resolve: (viewer, _args, { deps }) => readViews(deps, viewer),
    }),
    workspace: t.prismaField({
      type: Workspace,
      description: "The caller's workspace.",
      resolve: (query, viewer, _args, { deps }) =>
        deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id: viewer.workspaceId } }),
    }),
    agent: t.prismaField({
      type: Agent,
      nullable: true,
      description: 'The calling agent; null for a member.',
      resolve: (query, viewer, _args, { deps }) =>
        viewer.kind === 'agent' ? deps.prisma.agent.findUnique({ ...query, where: { id: viewer.id } }) : null,
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({ type: Viewer, description: 'The caller.', resolve: (_root, _args, { viewer }) => viewer }),
)
