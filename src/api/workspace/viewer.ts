import { z } from 'zod'
import { MemberRole, TokenScope, ViewerKind } from '../choices.ts'
import { ID, OTHER } from '../example.ts'
import { one, operation } from '../operation.ts'
import { detail, email, id, part, resource, says, text, time } from '../resource.ts'

const ViewerWorkspace = detail('ViewerWorkspace', "The caller's workspace.", {
  id: id('Unique identifier.'),
  name: text('Its name.'),
})

export const Viewer = resource(
  'Viewer',
  'The caller: the member or the agent whose token was sent with the request.',
  {
    fields: {
      kind: says(ViewerKind, 'Whether the caller is a member or an agent.'),
      id: id("The member's or the agent's id."),
      name: text("The member's or the agent's name.").nullable(),
      email: email("A member's email address; null for an agent.").nullable(),
      role: says(MemberRole, "A member's role; null for an agent.").nullable(),
      tokenId: id('The id of the token that was sent with the request.'),
      expiresAt: time('When that token expires; null if it never does.').nullable(),
      scopes: says(
        z.array(TokenScope),
        'What that token may be used for; null means everything that the caller may do.',
      ).nullable(),
      workspace: part(ViewerWorkspace),
    },
    example: {
      ...{ kind: 'member', id: ID, name: 'Ann Example', email: 'ann@example.com', role: 'owner' },
      ...{ tokenId: OTHER, expiresAt: null, scopes: ['messages:read', 'events'] },
      workspace: { id: OTHER, name: 'Acme' },
    },
  },
)

export const readViewer = operation({
  name: 'readViewer',
  says: 'Returns who the token belongs to, and what it may be used for. Every token may ask for this.',
  rest: 'GET /viewer',
  tag: 'Tokens',
  scope: 'any',
  input: {},
  fails: [],
  output: one(Viewer, 'The caller.'),
  run: async (deps, viewer) => ({
    ...viewer,
    workspace: await deps.prisma.workspace.findUniqueOrThrow({ where: { id: viewer.workspaceId } }),
  }),
})
