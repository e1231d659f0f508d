import type { Viewer as ViewerShape } from '../../workspace/viewer.ts'
import { builder } from '../builder.ts'
import { Agent } from './agent.ts'
import { MemberRole, ViewerKind } from './enums.ts'
import { Workspace } from './workspace.ts'

const Viewer = builder.objectRef<ViewerShape>('Viewer').implement({
  description: 'Who asks: the member or the agent whose token came with the request.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ViewerKind, description: 'Whether a member or an agent asks.' }),
    id: t.expose('id', { type: 'UUID', description: "The member's or the agent's id." }),
    name: t.exposeString('name', { nullable: true, description: "The member's or the agent's name." }),
    email: t.expose('email', { type: 'EmailAddress', nullable: true, description: "A member's email address; null for an agent." }),
    role: t.expose('role', { type: MemberRole, nullable: true, description: "A member's role; null for an agent." }),
    tokenId: t.expose('tokenId', { type: 'UUID', description: 'The id of the token that came with the request.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When that token ends; null: never.' }),
    workspace: t.prismaField({
      type: Workspace,
      description: 'The workspace that all of it happens in.',
      resolve: (query, viewer, _args, { deps }) => deps.prisma.workspace.findUniqueOrThrow({ ...query, where: { id: viewer.workspaceId } }),
    }),
    agent: t.prismaField({
      type: Agent,
      nullable: true,
      description: 'The agent that asks; null for a member.',
      resolve: (query, viewer, _args, { deps }) =>
        viewer.kind === 'agent' ? deps.prisma.agent.findUnique({ ...query, where: { id: viewer.id } }) : null,
    }),
  }),
})

builder.queryField('viewer', (t) => t.field({ type: Viewer, description: 'Who asks.', resolve: (_root, _args, { viewer }) => viewer }))
