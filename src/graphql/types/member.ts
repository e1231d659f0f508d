import { recipient, tokenName } from '../../core/rules.ts'
import { inviteMember, revokeInvitation } from '../../workspace/invitation.ts'
import { removeMember } from '../../workspace/member.ts'
import { createOwnToken, revokeOwnToken } from '../../workspace/member-token.ts'
import { builder, forMembers } from '../builder.ts'
import { checked, given } from '../input.ts'
import { MemberRole } from './enums.ts'
import { Token } from './token.ts'
import { Workspace } from './workspace.ts'

const Member = builder.prismaObject('Member', {
  description: 'A person in the workspace.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The email address, in lower case.' }),
    name: t.exposeString('name', { nullable: true, description: 'The name, if one is known.' }),
    role: t.expose('role', { type: MemberRole, description: 'What they are in the workspace.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When they joined.' }),
  }),
})

const Invitation = builder.prismaObject('Invitation', {
  description: 'A person who was asked to join and has not yet.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'Whom it was sent to.' }),
    role: t.expose('role', { type: MemberRole, description: 'What they will be.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When its link stops working.' }),
  }),
})

builder.prismaObjectFields(Workspace, (t) => ({
  members: t.relation('members', {
    type: Member,
    ...forMembers,
    description: 'Its people, oldest first. For members.',
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
  invitations: t.relation('invitations', {
    type: Invitation,
    ...forMembers,
    description: 'Who was invited and has not joined yet, oldest first. For members.',
    query: { where: { acceptedAt: null }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
}))

const InviteMemberInput = builder.inputType('InviteMemberInput', {
  description: 'A person to invite.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The email address that the link is mailed to.' }),
    role: t.field({ type: MemberRole, description: 'What they will be: `member` when left out. Only an owner invites owners.' }),
  }),
})

const InviteMemberPayload = builder.objectRef<{ id: string; url: string }>('InviteMemberPayload').implement({
  description: 'What became of `inviteMember`.',
  fields: (t) => ({
    invitation: t.prismaField({
      type: Invitation,
      description: 'The invitation.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.invitation.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    url: t.exposeString('url', { description: 'The link, which is mailed too. Shown this once; it works once, for 7 days.' }),
  }),
})

const RevokeInvitationInput = builder.inputType('RevokeInvitationInput', {
  description: 'The invitation to take back.',
  fields: (t) => ({ invitationId: t.field({ type: 'UUID', required: true, description: 'The invitation.' }) }),
})

const RevokeInvitationPayload = builder.objectRef<{ invitationId: string }>('RevokeInvitationPayload').implement({
  description: 'What became of `revokeInvitation`.',
  fields: (t) => ({ invitationId: t.expose('invitationId', { type: 'UUID', description: 'The id of what no longer invites anybody.' }) }),
})

const RemoveMemberInput = builder.inputType('RemoveMemberInput', {
  description: 'The member to take out of the workspace.',
  fields: (t) => ({ memberId: t.field({ type: 'UUID', required: true, description: 'The member.' }) }),
})

const RemoveMemberPayload = builder.objectRef<{ memberId: string }>('RemoveMemberPayload').implement({
  description: 'What became of `removeMember`.',
  fields: (t) => ({ memberId: t.expose('memberId', { type: 'UUID', description: 'The id of the member who is gone.' }) }),
})

const CreateOwnTokenInput = builder.inputType('CreateOwnTokenInput', {
  description: 'A new token of the member who asks.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it shall end by itself; left out: never.' }),
  }),
})

const CreateOwnTokenPayload = builder.objectRef<{ token: string; id: string }>('CreateOwnTokenPayload').implement({
  description: 'What became of `createOwnToken`.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token itself. Shown this once; the service keeps only its hash.' }),
    record: t.prismaField({
      type: Token,
      description: 'What is kept of it.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.token.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

const RevokeOwnTokenInput = builder.inputType('RevokeOwnTokenInput', {
  description: 'The token to revoke.',
  fields: (t) => ({ tokenId: t.field({ type: 'UUID', required: true, description: 'A token of the member who asks.' }) }),
})

const RevokeOwnTokenPayload = builder.objectRef<{ tokenId: string }>('RevokeOwnTokenPayload').implement({
  description: 'What became of `revokeOwnToken`.',
  fields: (t) => ({ tokenId: t.expose('tokenId', { type: 'UUID', description: 'The id of the token that counts for nothing now.' }) }),
})

builder.mutationFields((t) => ({
  inviteMember: t.field({
    type: InviteMemberPayload,
    nullable: true,
    description: 'Invites a person by email. Inviting the same address again replaces the earlier link. For members.',
    args: { input: t.arg({ type: InviteMemberInput, required: true, description: 'The person.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { invitation, url } = await inviteMember(deps, viewer, { ...checked({ email: recipient }, input), role: given(input.role) })
      return { id: invitation.id, url }
    },
  }),
  revokeInvitation: t.field({
    type: RevokeInvitationPayload,
    nullable: true,
    description: 'Takes an invitation back: its link works no longer. For members.',
    args: { input: t.arg({ type: RevokeInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: async (_root, { input: { invitationId } }, { deps, viewer }) => {
      await revokeInvitation(deps, viewer, invitationId)
      return { invitationId }
    },
  }),
  removeMember: t.field({
    type: RemoveMemberPayload,
    nullable: true,
    description: 'Takes a person out of the workspace. Their tokens are revoked, and what those hold open is closed. For owners.',
    args: { input: t.arg({ type: RemoveMemberInput, required: true, description: 'The member.' }) },
    resolve: async (_root, { input: { memberId } }, { deps, viewer }) => {
      await removeMember(deps, viewer, memberId)
      return { memberId }
    },
  }),
  createOwnToken: t.field({
    type: CreateOwnTokenPayload,
    nullable: true,
    description: 'Makes another token of the member who asks.',
    args: { input: t.arg({ type: CreateOwnTokenInput, required: true, description: 'The new token.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      createOwnToken(deps, viewer, { ...checked({ name: tokenName }, input), expiresAt: input.expiresAt }),
  }),
  revokeOwnToken: t.field({
    type: RevokeOwnTokenPayload,
    nullable: true,
    description: 'Revokes a token of the member who asks and closes what it holds open.',
    args: { input: t.arg({ type: RevokeOwnTokenInput, required: true, description: 'The token.' }) },
    resolve: async (_root, { input: { tokenId } }, { deps, viewer }) => {
      await revokeOwnToken(deps, viewer, tokenId)
      return { tokenId }
    },
  }),
}))
