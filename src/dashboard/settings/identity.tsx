import type { FormEvent } from 'react'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/form/field.tsx'
import { IconChoice } from '../parts/form/icon-choice.tsx'
import { useEdits } from '../parts/form/use-edits.ts'
import type { Agent } from './query.ts'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

/** The agent's name and icon. */
export const Identity = ({ agent }: { agent: Agent }) => {
  const { fields, edit, isEdited } = useEdits({ name: agent.name, icon: agent.icon })
  const { update, busy, failure } = useUpdate(agent.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void update(fields)
  }
  return (
    <section className="panel">
      <h2>{text.identity}</h2>
      <form className="panel-content" onSubmit={submit}>
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
      </form>
    </section>
  )
}
