import { type FormEvent, useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { text as partsText } from '../parts/strings.ts'
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
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const done = await run({ input: { agentId, webhookId, after: Number(after) } })
    if (!done?.replayWebhook) return
    announce([{ topic: 'webhooks', agentId }])
    say({ kind: 'done', text: text.resent(done.replayWebhook.events) })
    onClose()
  }
  return (
    <Dialog
      title={text.replayTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{partsText.cancel}</Button>
          <Button kind="primary" submit form="replay" busy={busy}>
            {text.replay}
          </Button>
        </>
      }
    >
      <form id="replay" className="form" onSubmit={(event) => void submit(event)}>
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
      </form>
    </Dialog>
  )
}
