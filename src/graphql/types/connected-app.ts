import { type ConnectedApp as AppView, disconnectApp, listApps } from '../../auth/oauth/connected-app.ts'
import { builder, forMembers } from '../builder.ts'
import { Workspace } from './workspace.ts'

const ConnectedApp = builder.objectRef<AppView>('ConnectedApp').implement({
  description:
    'An app that a member has connected to an agent: an OAuth client, such as a hosted MCP client, that acts as the agent at `/mcp`.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    name: t.exposeString('name', { description: 'The name that the app gave itself.' }),
    host: t.exposeString('host', { description: 'The host that the app is reached at.' }),
    clientId: t.exposeString('clientId', { description: 'The OAuth client.' }),
    agentId: t.expose('agentId', { type: 'UUID', description: 'The agent that the app acts as.' }),
    agentName: t.exposeString('agentName', { description: 'The name of the agent.' }),
    memberId: t.expose('memberId', {
      type: 'UUID',
      description: 'The member who connected it. It ends when they are removed.',
    }),
    memberEmail: t.expose('memberEmail', {
      type: 'EmailAddress',
      description: 'The email address of the member.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was connected.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When a member must connect it again.',
    }),
  }),
})

builder.prismaObjectField(Workspace, 'connectedApps', (t) =>
  t.field({
    type: [ConnectedApp],
    ...forMembers,
    description: 'The apps that members have connected to agents, oldest first. Members only.',
    resolve: (_workspace, _args, { deps, viewer }) => listApps(deps, viewer),
  }),
)

const DisconnectAppInput = builder.inputType('DisconnectAppInput', {
  description: 'The app to disconnect.',
  fields: (t) => ({
    appId: t.field({ type: 'UUID', required: true, description: 'The id of the connected app.' }),
  }),
})

const DisconnectAppPayload = builder.objectRef<{ appId: string }>('DisconnectAppPayload').implement({
  description: 'Result of `disconnectApp`.',
  fields: (t) => ({
    appId: t.expose('appId', { type: 'UUID', description: 'The id of the disconnected app.' }),
  }),
})

builder.mutationField('disconnectApp', (t) =>
  t.field({
    type: DisconnectAppPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Disconnects an app: its tokens are revoked, its open streams are closed, and its event subscriptions end. Members only.',
    args: { input: t.arg({ type: DisconnectAppInput, required: true, description: 'The app.' }) },
    resolve: async (_root, { input: { appId } }, { deps, viewer }) => {
      await disconnectApp(deps, viewer, appId)
      return { appId }
    },
  }),
)
