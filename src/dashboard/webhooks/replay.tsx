import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { say } from '../parts/toast.ts'
import { text } from './strings.ts'

const REPLAY = graphql(`
  mutation ReplayWebhook($input: ReplayWebhookInput!) { replayWebhook(input: $input) { events } }
`)

interface ReplayProps {
  agentId: string
  webhookId: string
  onClose(): void
}

/** Sends the events after one of them again. */
export const Replay = ({ agentId, webhookId, onClose }: ReplayProps) => {
  const [after, setAfter] = useState('0')
  const { run, busy, failure } = useAction(REPLAY, { quiet: true })
  const submit = async () => {
    const done = await run({ input: { agentId, webhookId, after: Number(after) } })
    if (!done?.replayWebhook) return
    announce([{ topic: 'webhooks', agentId }])
    say({ kind: 'done', text: text.resent(done.replayWebhook.events) })
    onClose()
  }
  return (
    <FormDialog title={text.replayTitle} label={text.replay} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.replayFrom}
        hint={text.replayHint}
        error={failure?.message}
        value={after}
        onChange={(event) => setAfter(event.target.value)}
        type="number"
        min={0}
        autoFocus
        required
      />
    </FormDialog>
  )
}
