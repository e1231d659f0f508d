import { words } from '../parts/words.ts'

/** The words of the screen with the workspace's members. */
export const text = words('people', {
  members: 'Members',
  list: 'Members of the workspace',
  columns: { person: 'Person', role: 'Role', joined: 'Joined', sessions: 'Signed in', actions: 'Change' },
  you: 'you',
  roles: { owner: 'Owner', member: 'Member' },
  roleOf: (name: string) => `Role of ${name}`,
  remove: 'Remove',
  removeTitle: (name: string) => `Remove ${name}?`,
  removeHint:
    'Their tokens and sessions end at once, apps that they connected too, and they are taken off the agents’ lists.',
  signOut: 'Sign out everywhere',
  signedOut: (name: string, count: number) =>
    count === 1 ? `${name} was signed out of one browser.` : `${name} was signed out of ${count} browsers.`,
  invite: 'Invite someone',
  email: 'Email address',
  role: 'Role',
  roleHint: 'Owners can also remove members and change the workspace.',
  submit: 'Send invitation',
  invited: 'Invitation sent',
  invitedHint: (email: string) =>
    `If the service can send mail, ${email} receives this link by email. You can also share it yourself. It works once, within seven days.`,
  link: 'the link',
  invitations: 'Open invitations',
  noInvitations: 'Nobody is invited at the moment.',
  invitationList: 'Invitations that have not been accepted yet',
  expires: 'Works until',
  revoke: 'Revoke',
})
