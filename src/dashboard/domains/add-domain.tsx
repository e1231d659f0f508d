import { type FormEvent, useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { text as partsText } from '../parts/strings.ts'
import { text } from './strings.ts'

const ADD = graphql(`
  mutation AddDomain($input: AddDomainInput!) { addDomain(input: $input) { created domain { id } } }
`)

export const AddDomain = ({ onClose }: { onClose(): void }) => {
  const [name, setName] = useState('')
  const { run, busy, failure } = useAction(ADD, { quiet: true })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!(await run({ input: { name: name.trim() } }))) return
    announce([{ topic: 'all' }])
    onClose()
  }
  return (
    <Dialog
      title={text.add}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{partsText.cancel}</Button>
          <Button kind="primary" submit form="add-domain" busy={busy}>
            {text.submit}
          </Button>
        </>
      }
    >
      <form id="add-domain" className="form" onSubmit={(event) => void submit(event)}>
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
      </form>
    </Dialog>
  )
}
