import { useState } from 'react'
import type { Failure } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { TextField } from '../parts/form/field.tsx'
import type { Webhook } from './query.ts'
import { text } from './strings.ts'

const CHANGE = graphql(`
  mutation FormatWebhook($input: UpdateWebhookInput!) { updateWebhook(input: $input) { webhook { id headers body } } }
`)

type Format = Pick<Webhook, 'headers' | 'body'>

const linesOf = (headers: Record<string, unknown>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Reads lines such as `Authorization: Bearer …`; null if one has no colon. */
const readHeaders = (typed: string): Record<string, string> | null => {
  const lines = typed.split('\n').filter((line) => line.trim() !== '')
  if (lines.some((line) => !line.includes(':'))) return null
  const entries = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const
  })
  return Object.fromEntries(entries)
}

/** Reads a template; undefined if it is no JSON object. */
const readBody = (json: string): Format['body'] | undefined => {
  if (json.trim() === '') return null
  try {
    const body: unknown = JSON.parse(json)
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Format['body'])
      : undefined
  } catch {
    return undefined
  }
}

/** What is typed of the headers and the body of a webhook's requests. */
export const useFormat = (saved: Format) => {
  const [headers, setHeaders] = useState(() => linesOf(saved.headers))
  const [body, setBody] = useState(() => (saved.body === null ? '' : JSON.stringify(saved.body, null, 2)))
  const [wrong, setWrong] = useState<{ headers?: string; body?: string }>({})
  /** Returns what was typed; null if it cannot be sent, which the fields then say. */
  const read = (): Format | null => {
    const given = { headers: readHeaders(headers), body: readBody(body) }
    setWrong({
      ...(given.headers === null && { headers: text.headersWrong }),
      ...(given.body === undefined && { body: text.bodyWrong }),
    })
    return given.headers === null || given.body === undefined
      ? null
      : { headers: given.headers, body: given.body }
  }
  return { headers, setHeaders, body, setBody, wrong, isWrong: Object.keys(wrong).length > 0, read }
}

interface FieldsProps {
  format: ReturnType<typeof useFormat>
  failure: Failure | null
}

/** The part of a failure's field that a form shows: `headers.X-Key` is about the headers. */
export const subjectOf = (failure: Failure | null): string | undefined => failure?.field?.split('.')[0]

export const FormatFields = ({ format, failure }: FieldsProps) => {
  const errorOf = (field: 'headers' | 'body') =>
    format.wrong[field] ?? (subjectOf(failure) === field ? failure?.message : undefined)
  return (
    <>
      <TextField
        label={text.ownHeaders}
        hint={text.ownHeadersHint}
        error={errorOf('headers')}
        value={format.headers}
        onChange={(event) => format.setHeaders(event.target.value)}
        placeholder="Authorization: Bearer 0123456789"
        rows={2}
        autoComplete="off"
        spellCheck={false}
      />
      <TextField
        label={text.body}
        hint={text.bodyHint}
        error={errorOf('body')}
        value={format.body}
        onChange={(event) => format.setBody(event.target.value)}
        placeholder={'{"text": "Mail from {{data.from}}: {{data.message.subject}}"}'}
        rows={5}
        autoComplete="off"
        spellCheck={false}
      />
    </>
  )
}

/** Changes the headers and the body of a webhook's requests. */
export const ChangeFormat = ({ webhook, onClose }: { webhook: Webhook; onClose(): void }) => {
  const { id: webhookId, agentId } = webhook
  const format = useFormat(webhook)
  const { run, busy, failure } = useAction(CHANGE, { quiet: true, changes: { topic: 'webhooks', agentId } })
  const submit = async () => {
    const given = format.read()
    if (given && (await run({ input: { agentId, webhookId, ...given } }))) onClose()
  }
  return (
    <FormDialog wide title={text.format} label={text.save} onClose={onClose} onSubmit={submit} busy={busy}>
      <FormatFields format={format} failure={failure} />
    </FormDialog>
  )
}
