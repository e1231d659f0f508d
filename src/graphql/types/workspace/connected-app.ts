import { ConnectedApp as CONNECTED_APP, disconnectApp } from '../../../api/workspace/connected-app.ts'
import { type ConnectedApp as AppView, listApps } from '../../../auth/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { described, exposed, fieldOf, removal } from '../../builder/rendered.ts'
import { Workspace } from './workspace.ts'

const { agent, member, scopes, createdAt, lastUsedAt, expiresAt, ...client } = CONNECTED_APP.fields

const ConnectedApp = builder.objectRef<AppView>('ConnectedApp').implement({
  description: CONNECTED_APP.sentence,
  fields: (t) => ({
    ...exposed(t, client),
    agentId: t.field({ ...fieldOf(agent.shape.id), resolve: (app) => app.agent.id }),
    agentName: t.field({ ...fieldOf(agent.shape.name), resolve: (app) => app.agent.name }),
    memberId: t.field({ ...fieldOf(member.shape.id), resolve: (app) => app.member.id }),
    memberEmail: t.field({
      ...described(member.shape.email),
      type: 'EmailAddress',
      resolve: (app) => app.member.email,
    }),
    ...exposed(t, { scopes, createdAt, lastUsedAt, expiresAt }),
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

removal(disconnectApp, 'The app to disconnect.', { appId: 'The id of the disconnected app.' })
