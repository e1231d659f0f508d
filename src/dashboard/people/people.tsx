import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { PlusIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import { useViewer } from '../screen/viewer.tsx'
import { Invitations } from './invitations.tsx'
import { Invite } from './invite.tsx'
import './people.css'
import { text } from './strings.ts'

const PEOPLE = graphql(`
  query People {
    workspace {
      id
      members { id name email role createdAt }
      invitations { id email role expiresAt }
    }
  }
`)

const CHANGE_ROLE = graphql(`
  mutation ChangeRole($input: ChangeRoleInput!) { changeRole(input: $input) { member { id role } } }
`)
const REMOVE = graphql(`
  mutation RemoveMember($input: RemoveMemberInput!) { removeMember(input: $input) { memberId } }
`)
const SIGN_OUT = graphql(`
  mutation SignOutMember($input: RevokeSessionsInput!) { revokeSessions(input: $input) { count } }
`)

type Member = ResultOf<typeof PEOPLE>['workspace']['members'][number]
type Role = Member['role']

const nameOf = ({ name, email }: Member): string => name ?? email

const RoleChoice = ({ member }: { member: Member }) => {
  const { run, busy } = useAction(CHANGE_ROLE)
  const { role: own } = useViewer()
  if (own !== 'owner') return text.roles[member.role]
  return (
    <select
      aria-label={text.roleOf(nameOf(member))}
      value={member.role}
      disabled={busy}
      onChange={(event) => void run({ input: { memberId: member.id, role: event.target.value as Role } })}
    >
      {(Object.keys(text.roles) as Role[]).map((role) => (
        <option key={role} value={role}>
          {text.roles[role]}
        </option>
      ))}
    </select>
  )
}

const SignOut = ({ member }: { member: Member }) => {
  const { run, busy } = useAction(SIGN_OUT)
  const signOut = async () => {
    const done = await run({ input: { memberId: member.id } })
    if (done?.revokeSessions)
      say({ kind: 'done', text: text.signedOut(nameOf(member), done.revokeSessions.count) })
  }
  return (
    <Button busy={busy} onClick={() => void signOut()}>
      {text.signOut}
    </Button>
  )
}

const columnsOf = (
  ownId: string,
  mayRemove: boolean,
  onRemove: (member: Member) => void,
): Column<Member>[] => [
  {
    title: text.columns.person,
    cell: (member) => (
      <span className="person">
        <span className="row">
          {nameOf(member)} {member.id === ownId && <Badge>{text.you}</Badge>}
        </span>
        {member.name && <span className="hint">{member.email}</span>}
      </span>
    ),
  },
  { title: text.columns.role, cell: (member) => <RoleChoice member={member} /> },
  { title: text.columns.joined, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  {
    title: text.columns.actions,
    right: true,
    cell: (member) =>
      mayRemove &&
      member.id !== ownId && (
        <div className="row end">
          <SignOut member={member} />
          <Button kind="danger" onClick={() => onRemove(member)}>
            {text.remove}
          </Button>
        </div>
      ),
  },
]

const Members = ({ members }: { members: readonly Member[] }) => {
  const { id, may } = useViewer()
  const [inviting, setInviting] = useState(false)
  const [removing, setRemoving] = useState<Member | null>(null)
  const { run } = useAction(REMOVE, { changes: { topic: 'all' } })
  return (
    <section className="panel">
      <header className="row between">
        <h2>{text.members}</h2>
        {may.inviteMembers && (
          <Button kind="primary" icon={PlusIcon} onClick={() => setInviting(true)}>
            {text.invite}
          </Button>
        )}
      </header>
      <Table
        label={text.list}
        columns={columnsOf(id, may.removeMembers, setRemoving)}
        rows={members}
        keyOf={(member) => member.id}
      />
      {inviting && <Invite onClose={() => setInviting(false)} />}
      {removing && (
        <Confirm
          title={text.removeTitle(nameOf(removing))}
          label={text.remove}
          onConfirm={() => run({ input: { memberId: removing.id } })}
          onClose={() => setRemoving(null)}
        >
          <p>{text.removeHint}</p>
        </Confirm>
      )}
    </section>
  )
}

/** The people of the workspace, and those who are invited. */
export const Screen = () => (
  <Load from={useLive(PEOPLE, {}, ['members'])} lines={6}>
    {({ workspace }) => (
      <>
        <Members members={workspace.members} />
        <Invitations invitations={workspace.invitations} />
      </>
    )}
  </Load>
)
