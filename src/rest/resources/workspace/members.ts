import type { OpenAPIHono } from '@hono/zod-openapi'
import { inviteMember, listInvitations, revokeInvitation } from '../../../api/workspace/invitation.ts'
import { changeRole, listMembers, removeMember, updateOwnMember } from '../../../api/workspace/member.ts'
import { createOwnToken, listOwnTokens, revokeOwnToken } from '../../../api/workspace/own-token.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const memberRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listMembers)
  route(app, inviteMember)
  route(app, listInvitations)
  route(app, revokeInvitation)
  route(app, updateOwnMember) // before the routes of one member, since `me` is no id
  route(app, changeRole)
  route(app, removeMember)
  route(app, createOwnToken)
  route(app, listOwnTokens)
  route(app, revokeOwnToken)
}
