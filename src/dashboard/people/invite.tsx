import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const INVITE = graphql(`
  mutation InviteMember($input: InviteMemberInput!) { inviteMember(input: $input) { url invitation { id email } } }
`)

const Invited = ({ email, url, onClose }: { email: string; url: string; onClose(): void }) => (
  <Dialog
    wide
    title={text.invited}
    onClose={onClose}
    actions={
      <Button kind="primary" onClick={onClose}>
        {text.done}
      </Button>
    }
  >
    <p>{text.invitedHint(email)}</p>
    <p>
      <Copyable value={url} what={text.link} />
    </p>
  </Dialog>
)

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
  if (url) return <Invited email={email} url={url} onClose={onClose} />
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
          value={role}
          onChange={(event) => setRole(event.target.value as typeof role)}
        >
          <option value="member">{text.roles.member}</option>
          <option value="owner">{text.roles.owner}</option>
        </Select>
      )}
    </FormDialog>
  )
}
