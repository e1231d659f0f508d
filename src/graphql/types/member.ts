import { memberName, recipient, savedViews, tokenName } from '../../core/rules.ts'
import { inviteMember, revokeInvitation } from '../../workspace/invitation.ts'
import { removeMember } from '../../workspace/member.ts'
import { changeRole, updateOwnMember } from '../../workspace/member-settings.ts'
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
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The email address, in lower case.' }),
    name: t.exposeString('name', { nullable: true, description: 'The name, if one is known.' }),
    role: t.expose('role', { type: MemberRole, description: "The member's role in the workspace." }),
    approvalMails: t.exposeBoolean('approvalMails', {
      description: 'Whether messages that wait for approval are announced to them by email.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When they joined.' }),
  }),
})

const Invitation = builder.prismaObject('Invitation', {
  description: 'An invitation to join the workspace that has not been accepted yet.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    email: t.expose('email', { type: 'EmailAddress', description: 'The email address that it was sent to.' }),
    role: t.expose('role', { type: MemberRole, description: 'The role that the person will have.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When its link stops working.' }),
  }),
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

const InviteMemberInput = builder.inputType('InviteMemberInput', {
  description: 'A person to invite.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'The email address to which the link is sent.' }),
    role: t.field({
      type: MemberRole,
      description:
        'The role that the person will have; defaults to `member`. Only an owner can invite owners.',
    }),
  }),
})

const InviteMemberPayload = builder.objectRef<{ id: string; url: string }>('InviteMemberPayload').implement({
  description: 'Result of `inviteMember`.',
  fields: (t) => ({
    invitation: t.prismaField({
      type: Invitation,
      description: 'The invitation.',
      resolve: (query, { id }, _args, { deps }) =>
        deps.prisma.invitation.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    url: t.exposeString('url', {
      description:
        'The invitation link, which is also sent by email. Shown only once; it can be used once, within 7 days.',
    }),
  }),
})

const RevokeInvitationInput = builder.inputType('RevokeInvitationInput', {
  description: 'The invitation to revoke.',
  fields: (t) => ({
    invitationId: t.field({ type: 'UUID', required: true, description: 'The invitation.' }),
  }),
})

const RevokeInvitationPayload = builder
  .objectRef<{ invitationId: string }>('RevokeInvitationPayload')
  .implement({
    description: 'Result of `revokeInvitation`.',
    fields: (t) => ({
      invitationId: t.expose('invitationId', {
        type: 'UUID',
        description: 'The id of the revoked invitation.',
      }),
    }),
  })

const RemoveMemberInput = builder.inputType('RemoveMemberInput', {
  description: 'The member to remove from the workspace.',
  fields: (t) => ({ memberId: t.field({ type: 'UUID', required: true, description: 'The member.' }) }),
})

const RemoveMemberPayload = builder.objectRef<{ memberId: string }>('RemoveMemberPayload').implement({
  description: 'Result of `removeMember`.',
  fields: (t) => ({
    memberId: t.expose('memberId', { type: 'UUID', description: 'The id of the removed member.' }),
  }),
})

const SavedViewInput = builder.inputType('SavedViewInput', {
  description: 'A search of the web application to save.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 60 characters, not blank.' }),
    path: t.string({
      required: true,
      description: 'Its place in the application: at most 500 characters, begins with /inbox.',
    }),
  }),
})

const UpdateOwnMemberInput = builder.inputType('UpdateOwnMemberInput', {
  description: 'What to change of the calling member. Fields left out are not changed.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    approvalMails: t.boolean({
      description: 'Whether messages that wait for approval are announced to you by email.',
    }),
    views: t.field({ type: [SavedViewInput], description: 'All saved searches, at most 50.' }),
  }),
})

const ChangeRoleInput = builder.inputType('ChangeRoleInput', {
  description: 'A member and their new role.',
  fields: (t) => ({
    memberId: t.field({ type: 'UUID', required: true, description: 'The member.' }),
    role: t.field({ type: MemberRole, required: true, description: 'The new role.' }),
  }),
})

/** Defines the result of a mutation that returns the member. */
const memberPayload = (name: string, mutation: string) =>
  builder.objectRef<{ id: string }>(name).implement({
    description: `Result of \`${mutation}\`.`,
    fields: (t) => ({
      member: t.prismaField({
        type: Member,
        description: 'The member.',
        resolve: (query, { id }, _args, { deps }) =>
          deps.prisma.member.findUniqueOrThrow({ ...query, where: { id } }),
      }),
    }),
  })

const UpdateOwnMemberPayload = memberPayload('UpdateOwnMemberPayload', 'updateOwnMember')
const ChangeRolePayload = memberPayload('ChangeRolePayload', 'changeRole')

const CreateOwnTokenInput = builder.inputType('CreateOwnTokenInput', {
  description: 'A new token for the calling member.',
  fields: (t) => ({
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the token expires; never if left out.' }),
  }),
})

const CreateOwnTokenPayload = builder
  .objectRef<{ token: string; id: string }>('CreateOwnTokenPayload')
  .implement({
    description: 'Result of `createOwnToken`.',
    fields: (t) => ({
      token: t.exposeString('token', {
        description: 'The token. Shown only once; the service stores only its hash.',
      }),
      record: t.prismaField({
        type: Token,
        description: 'The stored record of the token.',
        resolve: (query, { id }, _args, { deps }) =>
          deps.prisma.token.findUniqueOrThrow({ ...query, where: { id } }),
      }),
    }),
  })

const RevokeOwnTokenInput = builder.inputType('RevokeOwnTokenInput', {
  description: 'The token to revoke.',
  fields: (t) => ({
    tokenId: t.field({
      type: 'UUID',
      required: true,
      description: 'The id of a token of the calling member.',
    }),
  }),
})

const RevokeOwnTokenPayload = builder.objectRef<{ tokenId: string }>('RevokeOwnTokenPayload').implement({
  description: 'Result of `revokeOwnToken`.',
  fields: (t) => ({
    tokenId: t.expose('tokenId', {
      type: 'UUID',
      description: 'The id of the revoked token.',
    }),
  }),
})

builder.mutationFields((t) => ({
  inviteMember: t.field({
    type: InviteMemberPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Invites a person by email. Inviting the same address again replaces the earlier link. At most 20 invitations an hour, 3 a day to one address, and 50 open at a time. Invitations end when the inviting member is removed. Members only.',
    args: { input: t.arg({ type: InviteMemberInput, required: true, description: 'The person.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { invitation, url } = await inviteMember(deps, viewer, {
        ...checked({ email: recipient }, input),
        role: given(input.role),
      })
      return { id: invitation.id, url }
    },
  }),
  revokeInvitation: t.field({
    type: RevokeInvitationPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Revokes an invitation: its link stops working. Members only.',
    args: { input: t.arg({ type: RevokeInvitationInput, required: true, description: 'The invitation.' }) },
    resolve: async (_root, { input: { invitationId } }, { deps, viewer }) => {
      await revokeInvitation(deps, viewer, invitationId)
      return { invitationId }
    },
  }),
  removeMember: t.field({
    type: RemoveMemberPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Removes a member from the workspace. Their tokens are revoked, connections open with those tokens are closed, and they are removed from the agents' access lists. Owners only.",
    args: { input: t.arg({ type: RemoveMemberInput, required: true, description: 'The member.' }) },
    resolve: async (_root, { input: { memberId } }, { deps, viewer }) => {
      await removeMember(deps, viewer, memberId)
      return { memberId }
    },
  }),
  updateOwnMember: t.field({
    type: UpdateOwnMemberPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Changes the name or the settings of the calling member.',
    args: { input: t.arg({ type: UpdateOwnMemberInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      updateOwnMember(deps, viewer, {
        ...checked({ name: memberName, views: savedViews }, input),
        approvalMails: given(input.approvalMails),
      }),
  }),
  changeRole: t.field({
    type: ChangeRolePayload,
    nullable: true,
    idempotency: 'ignored',
    description: "Changes a member's role. Owners only.",
    args: { input: t.arg({ type: ChangeRoleInput, required: true, description: 'The new role.' }) },
    resolve: (_root, { input: { memberId, role } }, { deps, viewer }) =>
      changeRole(deps, viewer, memberId, role),
  }),
  createOwnToken: t.field({
    type: CreateOwnTokenPayload,
    nullable: true,
    idempotency: 'once',
    description: 'Creates another token for the calling member.',
    args: { input: t.arg({ type: CreateOwnTokenInput, required: true, description: 'The new token.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      createOwnToken(deps, viewer, { ...checked({ name: tokenName }, input), expiresAt: input.expiresAt }),
  }),
  revokeOwnToken: t.field({
    type: RevokeOwnTokenPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Revokes a token of the calling member and closes the connections open with it.',
    args: { input: t.arg({ type: RevokeOwnTokenInput, required: true, description: 'The token.' }) },
    resolve: async (_root, { input: { tokenId } }, { deps, viewer }) => {
      await revokeOwnToken(deps, viewer, tokenId)
      return { tokenId }
    },
  }),
}))
