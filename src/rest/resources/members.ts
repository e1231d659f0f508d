import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { presentToken } from '../../agent/token.ts'
import { memberName, recipient, timestamp, tokenName } from '../../core/rules.ts'
import { MemberRole } from '../../db/generated/prisma/enums.ts'
import {
  inviteMember,
  listInvitations,
  presentInvitation,
  revokeInvitation,
} from '../../workspace/invitation.ts'
import { listMembers, presentMember, removeMember } from '../../workspace/member.ts'
import { changeRole as changeMemberRole, updateOwnMember } from '../../workspace/member-settings.ts'
import { createOwnToken, listOwnTokens, revokeOwnToken } from '../../workspace/member-token.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { ID, id, LATER, TIME, time } from '../views.ts'
import { NewTokenView, TokenView } from './tokens.ts'

const MemberView = z
  .object({
    id,
    email: z.string(),
    name: z.string().nullable(),
    role: z.enum(MemberRole),
    approvalMails: z
      .boolean()
      .openapi({ description: 'Whether messages that wait for approval are announced to them by email' }),
    createdAt: time,
  })
  .openapi('Member', {
    example: {
      id: ID,
      email: 'ann@example.com',
      name: 'Ann Example',
      role: 'owner',
      approvalMails: false,
      createdAt: TIME,
    },
  })

const INVITATION = { id: ID, email: 'bo@example.com', role: 'member', expiresAt: LATER } as const

const InvitationView = z
  .object({ id, email: z.string(), role: z.enum(MemberRole), expiresAt: time })
  .openapi('Invitation', { example: INVITATION })

const NewInvitationView = InvitationView.extend({
  url: z.string().openapi({
    format: 'uri',
    description: 'The invitation link, which was also sent by email; it can be used once',
  }),
}).openapi('NewInvitation', {
  example: { ...INVITATION, url: `https://messages.example.com/join/ait_${'x'.repeat(43)}` },
})

const tags = ['Members']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/members',
  operationId: 'listMembers',
  summary: 'List the members of the workspace (members only)',
  tags,
  security,
  responses: { 200: ok('Oldest first', z.array(MemberView)), ...failures('forbidden') },
})

const updateOwn = createRoute({
  method: 'patch',
  path: '/members/me',
  operationId: 'updateOwnMember',
  summary:
    'Update your own name, or whether you get mails about messages that wait for approval (members only)',
  tags,
  security,
  request: body(
    z
      .strictObject({ name: memberName.optional(), approvalMails: z.boolean().optional() })
      .openapi({ example: { approvalMails: true } }),
  ),
  responses: { 200: ok('The member', MemberView), ...failures('body', 'forbidden') },
})

const changeRole = createRoute({
  method: 'patch',
  path: '/members/{memberId}',
  operationId: 'changeRole',
  summary: "Change a member's role (owners only)",
  tags,
  security,
  request: {
    params: ids('memberId'),
    ...body(z.strictObject({ role: z.enum(MemberRole) }).openapi({ example: { role: 'owner' } })),
  },
  responses: { 200: ok('The member', MemberView), ...failures('body', 'missing', 'forbidden', 'conflict') },
})

const remove = createRoute({
  method: 'delete',
  path: '/members/{memberId}',
  operationId: 'removeMember',
  summary: 'Remove a member from the workspace (owners only)',
  description:
    "The member's tokens are revoked and connections open with those tokens are closed; open invitations and set-up links that the member created stop working. The member's email address, id and verified identities are removed from the agents' access lists.",
  tags,
  security,
  request: { params: ids('memberId') },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden', 'conflict') },
})

const invite = createRoute({
  method: 'post',
  path: '/members/invitations',
  operationId: 'inviteMember',
  summary: 'Invite a person by email (members only)',
  description:
    'The link is sent by email and returned; it can be used once, within 7 days. Inviting the same address again replaces the earlier link. Only an owner can invite owners. At most 20 invitations an hour, 3 a day to one address, and 50 open at a time. Invitations end when the inviting member is removed.',
  tags,
  security,
  request: body(
    z
      .strictObject({
        email: recipient,
        role: z.enum(MemberRole).optional().openapi({ description: 'Defaults to `member`' }),
      })
      .openapi({ example: { email: 'ann@example.com' } }),
  ),
  responses: {
    201: ok('The invitation, with the link, which is shown only once', NewInvitationView),
    ...failures('body', 'forbidden', 'plan', 'conflict'),
  },
})

const invitations = createRoute({
  method: 'get',
  path: '/members/invitations',
  operationId: 'listInvitations',
  summary: 'List open invitations (members only)',
  tags,
  security,
  responses: { 200: ok('Oldest first', z.array(InvitationView)), ...failures('forbidden') },
})

const revokeInvite = createRoute({
  method: 'delete',
  path: '/members/invitations/{invitationId}',
  operationId: 'revokeInvitation',
  summary: 'Revoke an invitation (members only)',
  tags,
  security,
  request: { params: ids('invitationId') },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden') },
})

const createToken = createRoute({
  method: 'post',
  path: '/tokens',
  operationId: 'createOwnToken',
  summary: 'Create another token for the calling member',
  tags: ['Tokens'],
  security,
  request: body(
    z
      .strictObject({ name: tokenName.nullish(), expiresAt: timestamp.nullish() })
      .openapi({ example: { name: 'laptop' } }),
  ),
  responses: {
    201: ok('The token, whose value is shown only once', NewTokenView),
    ...failures('body', 'forbidden', 'conflict'),
  },
})

const listTokens = createRoute({
  method: 'get',
  path: '/tokens',
  operationId: 'listOwnTokens',
  summary: 'List the tokens of the calling member',
  tags: ['Tokens'],
  security,
  responses: { 200: ok('Oldest first', z.array(TokenView)), ...failures('forbidden') },
})

const revokeToken = createRoute({
  method: 'delete',
  path: '/tokens/{tokenId}',
  operationId: 'revokeOwnToken',
  summary: 'Revoke a token of the calling member',
  tags: ['Tokens'],
  security,
  request: { params: ids('tokenId') },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden') },
})

const tokenRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(createToken, async (c) => {
    const { token, ...row } = await createOwnToken(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json({ ...presentToken(row), token }, 201)
  })
  app.openapi(listTokens, async (c) =>
    c.json((await listOwnTokens(c.var.deps, c.var.viewer)).map(presentToken), 200),
  )
  app.openapi(revokeToken, async (c) => {
    await revokeOwnToken(c.var.deps, c.var.viewer, c.req.valid('param').tokenId)
    return c.body(null, 204)
  })
}

export const memberRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) =>
    c.json((await listMembers(c.var.deps, c.var.viewer)).map(presentMember), 200),
  )
  app.openapi(invite, async (c) => {
    const { invitation, url } = await inviteMember(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json({ ...presentInvitation(invitation), url }, 201)
  })
  app.openapi(invitations, async (c) =>
    c.json((await listInvitations(c.var.deps, c.var.viewer)).map(presentInvitation), 200),
  )
  app.openapi(revokeInvite, async (c) => {
    await revokeInvitation(c.var.deps, c.var.viewer, c.req.valid('param').invitationId)
    return c.body(null, 204)
  })
  app.openapi(updateOwn, async (c) =>
    c.json(presentMember(await updateOwnMember(c.var.deps, c.var.viewer, c.req.valid('json'))), 200),
  )
  app.openapi(changeRole, async (c) => {
    const { memberId } = c.req.valid('param')
    const { role } = c.req.valid('json')
    return c.json(presentMember(await changeMemberRole(c.var.deps, c.var.viewer, memberId, role)), 200)
  })
  app.openapi(remove, async (c) => {
    await removeMember(c.var.deps, c.var.viewer, c.req.valid('param').memberId)
    return c.body(null, 204)
  })
  tokenRoutes(app)
}
