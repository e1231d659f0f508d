import { z } from 'zod'
import { memberName, uuid, viewName, viewPath } from '../../core/rules.ts'
import {
  changeRole as change,
  listMembers as list,
  removeMember as remove,
  updateOwnMember as update,
} from '../../workspace/index.ts'
import { MemberRole } from '../choices.ts'
import { ID, TIME } from '../example.ts'
import { list as listOf, nothing, one, operation } from '../operation.ts'
import { email, group, id, resource, says, text, time } from '../resource.ts'

export const Member = resource('Member', 'A person in the workspace.', {
  fields: {
    id: id('Unique identifier.'),
    email: email('The email address, in lower case.'),
    name: text('The name, if one is known.').nullable(),
    role: says(MemberRole, "The member's role in the workspace."),
    approvalMails: says(
      z.boolean(),
      'Whether messages that wait for approval are announced to them by email.',
    ),
    questionMails: says(
      z.boolean(),
      'Whether questions of agents are announced to them by email and in chats, and not only in the web application.',
    ),
    createdAt: time('When they joined.'),
  },
  example: {
    id: ID,
    email: 'ann@example.com',
    name: 'Ann Example',
    role: 'owner',
    approvalMails: false,
    questionMails: true,
    createdAt: TIME,
  },
})

const tag = 'Members'
const memberId = says(uuid, 'The member.')

export const listMembers = operation({
  name: 'listMembers',
  says: 'Lists the members of the workspace. Members only.',
  rest: 'GET /members',
  tag,
  scope: 'members',
  input: {},
  fails: ['forbidden'],
  output: listOf(Member, 'Oldest first.'),
  run: (deps, viewer) => list(deps, viewer),
})

export const updateOwnMember = operation({
  name: 'updateOwnMember',
  says: 'Changes the name or the settings of the calling member.',
  rest: 'PATCH /members/me',
  tag,
  scope: 'members',
  input: {
    name: says(memberName, 'Your name.').optional(),
    approvalMails: says(
      z.boolean(),
      'Whether messages that wait for approval are announced to you by email.',
    ).optional(),
    questionMails: says(
      z.boolean(),
      'Whether questions of agents are announced to you by email and in chats, and not only in the web application.',
    ).optional(),
  },
  example: { approvalMails: true },
  fails: ['forbidden'],
  output: one(Member, 'The member.'),
  run: (deps, viewer, changes) => update(deps, viewer, changes),
})

const view = group('SavedViewInput', 'A search of the web application to save.', {
  name: says(viewName, 'Its name.'),
  path: says(viewPath, 'Its place in the application, which begins with /inbox.'),
})

/** The same with the searches that a member saved, which only GraphQL takes: it is for the web application. */
export const updateOwnMemberAndViews = operation({
  ...updateOwnMember,
  input: {
    ...updateOwnMember.input,
    views: says(
      z.array(view).max(50, 'must contain at most 50 views'),
      'All saved searches, at most 50.',
    ).optional(),
  },
  run: (deps, viewer, changes) => update(deps, viewer, changes),
})

export const changeRole = operation({
  name: 'changeRole',
  says: "Changes a member's role. Owners only.",
  rest: 'PATCH /members/{memberId}',
  tag,
  scope: 'members',
  input: { memberId, role: says(MemberRole, 'The new role.') },
  example: { role: 'owner' },
  fails: ['missing', 'forbidden', 'conflict'],
  output: one(Member, 'The member.'),
  run: (deps, viewer, input) => change(deps, viewer, input.memberId, input.role),
})

export const removeMember = operation({
  name: 'removeMember',
  says: "Removes a member from the workspace. Their tokens are revoked, and connections open with those tokens are closed; open invitations and set-up links that they created stop working. Their email address, id and verified identities are removed from the agents' access lists. Owners only.",
  rest: 'DELETE /members/{memberId}',
  tag,
  scope: 'members',
  input: { memberId },
  fails: ['missing', 'forbidden', 'conflict'],
  output: nothing,
  run: (deps, viewer, input) => remove(deps, viewer, input.memberId),
})
