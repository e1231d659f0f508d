import {
  Invitation as INVITATION,
  inviteMember,
  NewInvitation,
  revokeInvitation,
} from '../../../api/workspace/invitation.ts'
import {
  changeRole,
  Member as MEMBER,
  removeMember,
  updateOwnMemberAndViews,
} from '../../../api/workspace/member.ts'
import { createOwnToken, revokeOwnToken } from '../../../api/workspace/own-token.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { exposed, fromResult, mutation, removal } from '../../builder/rendered.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { creationOfToken } from './token.ts'
import { Workspace } from './workspace.ts'

const Member = builder.prismaObject('Member', {
  description: MEMBER.sentence,
  select: { id: true },
  fields: (t) => exposed(t, MEMBER.fields),
})

const Invitation = builder.prismaObject('Invitation', {
  description: INVITATION.sentence,
  select: { id: true },
  fields: (t) => exposed(t, INVITATION.fields),
})

builder.prismaObjectFields(Workspace, (t) => ({
  members: t.relation('members', {
    type: Member,
    ...forMembers,
    description: 'The members, oldest first. Members only.',
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
  invitations: t.relation('invitations', {
    type: Invitation,
    ...forMembers,
    description: 'Open invitations, oldest first. Members only.',
    query: { where: { acceptedAt: null }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
}))

/** Reads the member that a mutation returned, with what is selected of it. */
const memberOf = (
  query: object,
  { result: { id } }: { result: { id: string } },
  _args: object,
  { deps }: GraphqlContext,
) => deps.prisma.member.findUniqueOrThrow({ ...query, where: { id } })

mutation(inviteMember, 'The person to invite.', (t) => ({
  invitation: t.prismaField({
    type: Invitation,
    description: 'The invitation.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.invitation.findUniqueOrThrow({ ...query, where: { id } }),
  }),
  ...fromResult(t, { url: NewInvitation.fields.url }),
}))

removal(revokeInvitation, 'The invitation to revoke.', { invitationId: 'The id of the revoked invitation.' })

removal(removeMember, 'The member to remove from the workspace.', {
  memberId: 'The id of the removed member.',
})

mutation(
  updateOwnMemberAndViews,
  'What to change of the calling member. Fields left out are not changed.',
  (t) => ({
    member: t.prismaField({ type: Member, description: 'The member.', resolve: memberOf }),
  }),
)

mutation(changeRole, 'The member and their new role.', (t) => ({
  member: t.prismaField({ type: Member, description: 'The member.', resolve: memberOf }),
}))

creationOfToken(createOwnToken)

removal(revokeOwnToken, 'The token to revoke.', { tokenId: 'The id of the revoked token.' })
