import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/form/field.tsx'
import { Switch } from '../parts/form/switch.tsx'
import { useEdits } from '../parts/form/use-edits.ts'
import { switchNotifications, useNotificationState } from '../parts/notifications.ts'
import { Panel } from '../parts/panel.tsx'
import { say } from '../parts/toast.ts'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

const UPDATE = graphql(`
  mutation UpdateOwnMember($input: UpdateOwnMemberInput!) { updateOwnMember(input: $input) { member { id } } }
`)

/** The member's own name, and what they are told by mail. */
export const Profile = ({ viewer }: { viewer: Viewer }) => {
  const { fields, edit, isEdited } = useEdits({ name: viewer.name ?? '' })
  const { run, busy, failure } = useAction(UPDATE, { quiet: true, changes: { topic: 'all' } })
  const update = async (input: { name?: string; approvalMails?: boolean; questionMails?: boolean }) => {
    if (!(await run({ input }))) return false
    say({ kind: 'done', text: text.saved })
    return true
  }
  const notifications = useNotificationState()
  const member = viewer.workspace.members.find(({ id }) => id === viewer.id)
  return (
    <Panel title={text.you} onSubmit={() => update(fields)}>
      <Field label={text.email} value={viewer.email ?? ''} readOnly />
      <Field
        label={text.name}
        error={failure?.message}
        value={fields.name}
        onChange={(event) => edit('name', event.target.value)}
        maxLength={100}
        autoComplete="name"
        required
      />
      <div className="row">
        <Button submit busy={busy} disabled={!isEdited}>
          {text.save}
        </Button>
      </div>
      <Switch
        label={text.approvalMails}
        hint={text.approvalMailsHint}
        on={member?.approvalMails ?? false}
        onSwitch={(on) => update({ approvalMails: on })}
      />
      <Switch
        label={text.questionMails}
        hint={text.questionMailsHint}
        on={member?.questionMails ?? true}
        onSwitch={(on) => update({ questionMails: on })}
      />
      <Switch
        label={text.notifications}
        hint={text.notificationsHint[notifications]}
        on={notifications === 'on'}
        disabled={notifications === 'denied' || notifications === 'unsupported'}
        onSwitch={switchNotifications}
      />
    </Panel>
  )
}
