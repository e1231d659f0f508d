import { useState } from 'react'
import { useLocation } from 'wouter'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { text as partsText } from '../parts/strings.ts'
import { say } from '../parts/toast.ts'
import type { Agent } from './settings.tsx'
import { text } from './strings.ts'

const DELETE = graphql(`
  mutation DeleteAgent($input: DeleteAgentInput!) { deleteAgent(input: $input) { agentId } }
`)

const Question = ({ agent, onClose }: { agent: Agent; onClose(): void }) => {
  const [typed, setTyped] = useState('')
  const { run, busy } = useAction(DELETE)
  const [, go] = useLocation()
  const remove = async () => {
    if (!(await run({ input: { agentId: agent.id } }))) return
    say({ kind: 'done', text: text.deleted(agent.name) })
    go('/agents')
    // Once this screen is gone, which would read the deleted agent again.
    setTimeout(() => announce([{ topic: 'agents' }]))
  }
  return (
    <Dialog
      title={text.deleteTitle(agent.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{partsText.cancel}</Button>
          <Button kind="danger" submit form="delete-agent" busy={busy} disabled={typed !== agent.name}>
            {text.delete}
          </Button>
        </>
      }
    >
      <p>{text.deleteHint}</p>
      <form
        id="delete-agent"
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed === agent.name) void remove()
        }}
      >
        <Field
          label={text.typeName(agent.name)}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          autoComplete="off"
          autoFocus
        />
      </form>
    </Dialog>
  )
}

/** Deletes the agent, after its name was typed. */
export const DeleteAgent = ({ agent }: { agent: Agent }) => {
  const [asking, setAsking] = useState(false)
  return (
    <section className="panel">
      <h2>{text.danger}</h2>
      <div className="panel-content">
        <p className="hint">{text.dangerHint}</p>
        <div className="row">
          <Button kind="danger" onClick={() => setAsking(true)}>
            {text.delete}
          </Button>
        </div>
      </div>
      {asking && <Question agent={agent} onClose={() => setAsking(false)} />}
    </section>
  )
}
