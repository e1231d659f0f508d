import { useState } from 'react'
import { useLocation } from 'wouter'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { ConfirmName } from '../parts/dialog/confirm-name.tsx'
import { Panel } from '../parts/panel.tsx'
import { say } from '../parts/toast.ts'
import type { Agent } from './query.ts'
import { text } from './strings.ts'

const DELETE = graphql(`
  mutation DeleteAgent($input: DeleteAgentInput!) { deleteAgent(input: $input) { agentId } }
`)

const Question = ({ agent, onClose }: { agent: Agent; onClose(): void }) => {
  const { run, busy } = useAction(DELETE)
  const [, go] = useLocation()
  const confirm = async () => {
    if (!(await run({ input: { agentId: agent.id } }))) return
    say({ kind: 'done', text: text.deleted(agent.name) })
    go('/agents')
    // Once this screen is gone, which would read the deleted agent again.
    setTimeout(() => announce([{ topic: 'agents' }]))
  }
  return (
    <ConfirmName
      title={text.deleteTitle(agent.name)}
      label={text.delete}
      name={agent.name}
      onConfirm={confirm}
      onClose={onClose}
      busy={busy}
    >
      {text.deleteHint}
    </ConfirmName>
  )
}

/** Deletes the agent, after its name was typed. */
export const DeleteAgent = ({ agent }: { agent: Agent }) => {
  const [asking, setAsking] = useState(false)
  return (
    <Panel title={text.danger}>
      <p className="hint">{text.dangerHint}</p>
      <div className="row">
        <Button kind="danger" onClick={() => setAsking(true)}>
          {text.delete}
        </Button>
      </div>
      {asking && <Question agent={agent} onClose={() => setAsking(false)} />}
    </Panel>
  )
}
