import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { toInput } from '../parts/form/local-time.ts'
import { say } from '../parts/toast.ts'
import type { WebhookState } from './query.ts'
import { text } from './strings.ts'

const REPLAY = graphql(`
  mutation ReplayWebhook($input: ReplayWebhookInput!) { replayWebhook(input: $input) { events } }
`)

const DAY_MS = 86_400_000
/** Events are kept for seven days. */
const KEPT_MS = 7 * DAY_MS

interface ReplayProps {
  webhooks: readonly Pick<WebhookState, 'agentId' | 'id' | 'name' | 'url'>[]
  onClose(): void
}

/** Sends the events since a time again, to one or several webhooks. */
export const Replay = ({ webhooks, onClose }: ReplayProps) => {
  const [since, setSince] = useState(() => toInput(new Date(Date.now() - DAY_MS)))
  const { run, busy, failure } = useAction(REPLAY, { quiet: true })
  const submit = async () => {
    let events = 0
    for (const { agentId, id } of webhooks) {
      const input = { agentId, webhookId: id, since: new Date(since).toISOString() }
      const done = await run({ input })
      announce([{ topic: 'webhooks', agentId }])
      if (!done?.replayWebhook) return
      events += done.replayWebhook.events
    }
    say({ kind: 'done', text: text.resent(events) })
    onClose()
  }
  return (
    <FormDialog title={text.replayTitle} label={text.replay} onClose={onClose} onSubmit={submit} busy={busy}>
      {webhooks.length > 1 && (
        <ul className="replayed">
          {webhooks.map(({ id, name, url }) => (
            <li key={id}>{name ?? url}</li>
          ))}
        </ul>
      )}
      <Field
        label={text.replayFrom}
        hint={text.replayHint}
        error={failure?.message}
        value={since}
        onChange={(event) => setSince(event.target.value)}
        type="datetime-local"
        min={toInput(new Date(Date.now() - KEPT_MS))}
        autoFocus
        required
      />
    </FormDialog>
  )
}
