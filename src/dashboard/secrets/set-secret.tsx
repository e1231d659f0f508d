import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field, TextField } from '../parts/form/field.tsx'
import { say } from '../parts/toast.ts'
import { text } from './strings.ts'

const SET = graphql(`
  mutation SetSecret($input: SetSecretInput!) { setSecret(input: $input) { guarded secret { name } } }
`)

interface SetSecretProps {
  agentId: string
  /** The secret to replace; empty for a new one. */
  name: string
  onClose(): void
}

/** Sets a secret. Its value leaves the page with the request, and does not come back. */
export const SetSecret = ({ agentId, name: given, onClose }: SetSecretProps) => {
  const [name, setName] = useState(given)
  const [value, setValue] = useState('')
  const { run, busy, failure } = useAction(SET, { quiet: true, changes: { topic: 'agents', agentId } })
  const errorOf = (field: string) => (failure?.field === field ? failure.message : undefined)
  const submit = async () => {
    const done = await run({ input: { agentId, name, value } })
    if (!done) return
    say({ kind: 'done', text: done.setSecret?.guarded === false ? text.unguarded(name) : text.saved(name) })
    onClose()
  }
  return (
    <FormDialog title={text.set} label={text.submit} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.name}
        hint={text.nameHint}
        error={errorOf('name')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        readOnly={given !== ''}
        autoFocus={given === ''}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        required
      />
      <TextField
        label={text.value}
        hint={text.valueHint}
        error={errorOf('value') ?? (failure?.field ? undefined : failure?.message)}
        value={value}
        onChange={(event) => setValue(event.target.value)}
        autoFocus={given !== ''}
        autoComplete="off"
        spellCheck={false}
        required
      />
    </FormDialog>
  )
}
