import { useState } from 'react'
import { useLocation } from 'wouter'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import type { AgentIconName } from '../parts/agent-icon.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { IconChoice } from '../parts/icon-choice.tsx'
import { text as partsText } from '../parts/strings.ts'
import './agents.css'
import { text } from './strings.ts'

const CREATE = graphql(`
  mutation CreateAgent($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } } }
`)

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
