import { z } from 'zod'
import { recipient, uuid } from '../../core/rules.ts'
import {
  inviteMember as invite,
  listInvitations as list,
  revokeInvitation as revoke,
} from '../../workspace/index.ts'
import { MemberRole } from '../choices.ts'
import { ID, LATER } from '../example.ts'
import { created, list as listOf, nothing, operation } from '../operation.ts'
import { email, id, resource, says, time } from '../resource.ts'

const EXAMPLE = { id: ID, email: 'bo@example.com', role: 'member', expiresAt: LATER }

export const Invitation = resource(
  'Invitation',
  'An invitation to join the workspace that has not been accepted yet.',
  {
    fields: {
      id: id('Unique identifier.'),
      email: email('The email address that it was sent to.'),
      role: says(MemberRole, 'The role that the person will have.'),
      expiresAt: time('When its link stops working.'),
    },
    example: EXAMPLE,
  },
)

export const NewInvitation = resource('NewInvitation', 'An invitation that was just sent.', {
  base: Invitation,
  fields: {
    ...Invitation.fields,
    url: says(
      z.string().meta({ format: 'uri' }),
      'The invitation link, which is also sent by email. Shown only once; it can be used once, within 7 days.',
    ),
  },
  example: { ...EXAMPLE, url: `https://messages.example.com/join/ait_${'x'.repeat(43)}` },
})

const tag = 'Members'

export const inviteMember = operation({
  name: 'inviteMember',
  says: 'Invites a person by email. The link is sent by email and returned; it can be used once, within 7 days. Inviting the same address again replaces the earlier link. Only an owner can invite owners. At most 20 invitations an hour, 3 a day to one address, and 50 open at a time. Invitations end when the inviting member is removed. Members only.',
  rest: 'POST /members/invitations',
  tag,
  scope: 'members',
  input: {
    email: says(recipient, 'The email address to which the link is sent.'),
    role: says(
      MemberRole,
      'The role that the person will have; defaults to `member`. Only an owner can invite owners.',
    ).optional(),
  },
  example: { email: 'ann@example.com' },
  fails: ['forbidden', 'plan', 'conflict'],
  output: created(NewInvitation, 'The invitation, with the link, which is shown only once.'),
  run: async (deps, viewer, input) => {
    const { invitation, url } = await invite(deps, viewer, input)
    return { ...invitation, url }
  },
})

export const listInvitations = operation({
  name: 'listInvitations',
  says: 'Lists open invitations. Members only.',
  rest: 'GET /members/invitations',
  tag,
  scope: 'members',
  input: {},
  fails: ['forbidden'],
  output: listOf(Invitation, 'Oldest first.'),
  run: (deps, viewer) => list(deps, viewer),
})

export const revokeInvitation = operation({
  name: 'revokeInvitation',
  says: 'Revokes an invitation: its link stops working. Members only.',
  rest: 'DELETE /members/invitations/{invitationId}',
  tag,
  scope: 'members',
  input: { invitationId: says(uuid, 'The invitation.') },
  fails: ['missing', 'forbidden'],
  output: nothing,
  run: (deps, viewer, { invitationId }) => revoke(deps, viewer, invitationId),
})
