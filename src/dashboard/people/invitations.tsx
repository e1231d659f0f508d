import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Time } from '../parts/time.tsx'
import { text } from './strings.ts'

const REVOKE = graphql(`
  mutation RevokeInvitation($input: RevokeInvitationInput!) { revokeInvitation(input: $input) { invitationId } }
`)

interface Invitation {
  id: string
  email: string
  role: keyof typeof text.roles
  expiresAt: string
}

const Revoke = ({ invitation }: { invitation: Invitation }) => {
  const { run, busy } = useAction(REVOKE, { changes: { topic: 'all' } })
  return (
    <Button kind="danger" busy={busy} onClick={() => void run({ input: { invitationId: invitation.id } })}>
      {text.revoke}
    </Button>
  )
}

const COLUMNS: readonly Column<Invitation>[] = [
  { title: text.email, cell: ({ email }) => email },
  { title: text.role, cell: ({ role }) => text.roles[role], wide: true },
  { title: text.expires, cell: ({ expiresAt }) => <Time at={expiresAt} />, wide: true },
  { title: text.revoke, right: true, cell: (invitation) => <Revoke invitation={invitation} /> },
]

/** Invitations that nobody has accepted yet. */
export const Invitations = ({ invitations }: { invitations: readonly Invitation[] }) => (
  <section className="panel">
    <h2>{text.invitations}</h2>
    {invitations.length > 0 ? (
      <Table label={text.invitationList} columns={COLUMNS} rows={invitations} keyOf={({ id }) => id} />
    ) : (
      <p className="panel-content soft">{text.noInvitations}</p>
    )}
  </section>
)
