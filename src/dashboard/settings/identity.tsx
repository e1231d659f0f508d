import { Button } from '../parts/button.tsx'
import { Field } from '../parts/form/field.tsx'
import { IconChoice } from '../parts/form/icon-choice.tsx'
import { useEdits } from '../parts/form/use-edits.ts'
import { Panel } from '../parts/panel.tsx'
import type { Agent } from './query.ts'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

/** The agent's name and icon. */
export const Identity = ({ agent }: { agent: Agent }) => {
  const { fields, edit, isEdited } = useEdits({ name: agent.name, icon: agent.icon })
  const { update, busy, failure } = useUpdate(agent.id)
  return (
    <Panel title={text.identity} onSubmit={() => update(fields)}>
      <Field
        label={text.name}
        error={failure?.message}
        value={fields.name}
        onChange={(event) => edit('name', event.target.value)}
        maxLength={100}
        autoComplete="off"
        required
      />
      <IconChoice chosen={fields.icon} onChoose={(icon) => edit('icon', icon)} />
      <div className="row">
        <Button submit busy={busy} disabled={!isEdited}>
          {text.save}
        </Button>
      </div>
    </Panel>
  )
}
