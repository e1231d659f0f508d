import { useState } from 'react'
import { useLocation } from 'wouter'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { AGENT_ICONS, AgentIcon, type AgentIconName } from '../parts/agent-icon.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { text as partsText } from '../parts/strings.ts'
import './agents.css'
import { text } from './strings.ts'

const CREATE = graphql(`
  mutation CreateAgent($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } } }
`)

const IconChoice = ({ chosen, onChoose }: { chosen: AgentIconName; onChoose(icon: AgentIconName): void }) => (
  <fieldset className="icon-choice">
    <legend>{text.icon}</legend>
    <div>
      {AGENT_ICONS.map((icon) => (
        <label key={icon} title={icon.replaceAll('_', ' ')}>
          <input
            type="radio"
            name="icon"
            className="unseen"
            aria-label={icon.replaceAll('_', ' ')}
            checked={icon === chosen}
            onChange={() => onChoose(icon)}
          />
          <AgentIcon name={icon} size={18} />
        </label>
      ))}
    </div>
  </fieldset>
)

/** Makes an agent, and opens it. */
export const NewAgent = ({ onClose }: { onClose(): void }) => {
  const [name, setName] = useState('')
  const [icon, setIcon] = useState<AgentIconName>('bot')
  const { run, busy, failure } = useAction(CREATE, { quiet: true })
  const [, go] = useLocation()
  const submit = async () => {
    const made = await run({ input: { name, icon } })
    if (!made?.createAgent) return
    announce([{ topic: 'agents' }])
    onClose()
    go(`/agents/${made.createAgent.agent.id}`)
  }
  return (
    <Dialog
      title={text.create}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{partsText.cancel}</Button>
          <Button kind="primary" submit form="new-agent" busy={busy}>
            {text.submit}
          </Button>
        </>
      }
    >
      <form
        id="new-agent"
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <Field
          label={text.name}
          hint={text.nameHint}
          error={failure?.message}
          value={name}
          onChange={(event) => setName(event.target.value)}
          maxLength={100}
          autoComplete="off"
          required
          autoFocus
        />
        <IconChoice chosen={icon} onChoose={setIcon} />
      </form>
    </Dialog>
  )
}
