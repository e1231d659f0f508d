import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { EventChoice, RECEIVED } from '../parts/form/event-choice.tsx'
import { Field } from '../parts/form/field.tsx'
import { FormatFields, subjectOf, useFormat } from './format.tsx'
import { ShowSecret } from './secret.tsx'
import { text } from './strings.ts'

const ADD = graphql(`
  mutation AddWebhook($input: AddWebhookInput!) { addWebhook(input: $input) { created secret webhook { id } } }
`)

type Added = NonNullable<ResultOf<typeof ADD>['addWebhook']>

/** Adds a webhook, then shows its secret. */
export const AddWebhook = ({ agentId, onClose }: { agentId: string; onClose(): void }) => {
  const [url, setUrl] = useState('')
  const [name, setName] = useState('')
  const [events, setEvents] = useState<readonly string[]>([RECEIVED])
  const format = useFormat({ headers: {}, body: null })
  const [added, setAdded] = useState<Added | null>(null)
  const { run, busy, failure } = useAction(ADD, { quiet: true, changes: { topic: 'webhooks', agentId } })
  const isFormat = ['headers', 'body'].includes(subjectOf(failure) ?? '')
  const submit = async () => {
    const given = format.read()
    if (!given) return
    const input = { agentId, url: url.trim(), name: name.trim() || null, events: [...events], ...given }
    const made = await run({ input })
    if (made?.addWebhook) setAdded(made.addWebhook)
  }
  if (added)
    return (
      <ShowSecret
        secret={added.secret}
        hint={added.created ? text.secretHint : text.existing}
        onClose={onClose}
      />
    )
  return (
    <FormDialog title={text.add} label={text.submit} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.url}
        hint={text.urlHint}
        error={isFormat ? undefined : failure?.message}
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        type="url"
        placeholder="https://example.com/webhooks"
        autoComplete="off"
        autoFocus
        required
      />
      <Field
        label={text.name}
        hint={text.nameHint}
        value={name}
        onChange={(event) => setName(event.target.value)}
        maxLength={100}
        autoComplete="off"
      />
      <EventChoice label={text.events} hint={text.eventsHint} chosen={events} onChoose={setEvents} />
      <details open={isFormat || format.isWrong}>
        <summary>{text.format}</summary>
        <div className="form">
          <FormatFields format={format} failure={failure} />
        </div>
      </details>
    </FormDialog>
  )
}
