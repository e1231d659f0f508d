import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { ShowOnce } from '../parts/dialog/show-once.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const INVITE = graphql(`
  mutation InviteMember($input: InviteMemberInput!) { inviteMember(input: $input) { url invitation { id email } } }
`)

/** Invites a person, then shows the link, which the service keeps no copy of. */
export const Invite = ({ onClose }: { onClose(): void }) => {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<'member' | 'owner'>('member')
  const [url, setUrl] = useState<string | null>(null)
  const { run, busy, failure } = useAction(INVITE, { quiet: true, changes: { topic: 'all' } })
  const { may } = useViewer()
  const submit = async () => {
    const made = await run({ input: { email: email.trim(), role } })
    if (made?.inviteMember) setUrl(made.inviteMember.url)
  }
  if (url)
    return (
      <ShowOnce
        title={text.invited}
        hint={text.invitedHint(email)}
        value={url}
        what={text.link}
        onClose={onClose}
      />
    )
  return (
    <FormDialog title={text.invite} label={text.submit} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.email}
        error={failure?.message}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        type="email"
        autoComplete="off"
        autoFocus
        required
      />
      {may.inviteOwners && (
        <Select
          label={text.role}
          hint={text.roleHint}
          options={{ member: text.roles.member, owner: text.roles.owner }}
          chosen={role}
          onChoose={setRole}
        />
      )}
    </FormDialog>
  )
}
