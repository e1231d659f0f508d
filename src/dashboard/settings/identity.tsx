import { type FormEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { IconChoice } from '../parts/icon-choice.tsx'
import type { Agent } from './query.ts'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

/** The agent's name and icon. */
export const Identity = ({ agent }: { agent: Agent }) => {
  const [name, setName] = useState(agent.name)
  const [icon, setIcon] = useState(agent.icon)
  const { update, busy, failure } = useUpdate(agent.id)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void update({ name, icon })
  }
  return (
    <section className="panel">
      <h2>{text.identity}</h2>
      <form className="panel-content" onSubmit={submit}>
        <Field
          label={text.name}
          error={failure?.message}
          value={name}
          onChange={(event) => setName(event.target.value)}
          maxLength={100}
          autoComplete="off"
          required
        />
        <IconChoice chosen={icon} onChoose={setIcon} />
        <div className="row">
          <Button submit busy={busy} disabled={name === agent.name && icon === agent.icon}>
            {text.save}
          </Button>
        </div>
      </form>
    </section>
  )
}
