import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { text } from './strings.ts'

const ADD = graphql(`
  mutation AddDomain($input: AddDomainInput!) { addDomain(input: $input) { created domain { id } } }
`)

export const AddDomain = ({ onClose }: { onClose(): void }) => {
  const [name, setName] = useState('')
  const { run, busy, failure } = useAction(ADD, { quiet: true, changes: { topic: 'all' } })
  const submit = async () => {
    if (await run({ input: { name: name.trim() } })) onClose()
  }
  return (
    <FormDialog title={text.add} label={text.submit} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.name}
        hint={text.nameHint}
        error={failure?.message}
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
      />
    </FormDialog>
  )
}
