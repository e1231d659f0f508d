import { useState } from 'react'
import { useLocation } from 'wouter'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import type { AgentIconName } from '../parts/agent-icon.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { IconChoice } from '../parts/form/icon-choice.tsx'
import './agents.css'
import { text } from './strings.ts'

const CREATE = graphql(`
  mutation CreateAgent($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } } }
`)

/** Creates an agent, and opens it. */
export const NewAgent = ({ onClose }: { onClose(): void }) => {
  const [name, setName] = useState('')
  const [icon, setIcon] = useState<AgentIconName>('bot')
  const { run, busy, failure } = useAction(CREATE, { quiet: true, changes: { topic: 'agents' } })
  const [, go] = useLocation()
  const submit = async () => {
    const made = await run({ input: { name, icon } })
    if (!made?.createAgent) return
    onClose()
    go(`/agents/${made.createAgent.agent.id}`)
  }
  return (
    <FormDialog title={text.create} label={text.submit} onClose={onClose} onSubmit={submit} busy={busy}>
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
    </FormDialog>
  )
}
