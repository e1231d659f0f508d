import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import type { Address } from './query.ts'
import { text } from './strings.ts'

const CHANGE = graphql(`
  mutation ChangeAddress($input: ChangeAddressInput!) { changeAddress(input: $input) { address { id value } } }
`)

interface ChangeAddressProps {
  agentId: string
  address: Address
  onClose(): void
}

/** Replaces the email address that the service assigned. */
export const ChangeAddress = ({ agentId, address, onClose }: ChangeAddressProps) => {
  const [value, setValue] = useState(address.value)
  const { run, busy, failure } = useAction(CHANGE, { quiet: true, changes: { topic: 'agents', agentId } })
  const submit = async () => {
    if (await run({ input: { agentId, addressId: address.id, value: value.trim() } })) onClose()
  }
  return (
    <FormDialog title={text.changeTitle} label={text.save} onClose={onClose} onSubmit={submit} busy={busy}>
      <Field
        label={text.newAddress}
        hint={text.newAddressHint}
        error={failure?.message}
        value={value}
        onChange={(event) => setValue(event.target.value)}
        type="email"
        autoComplete="off"
        autoFocus
        required
      />
    </FormDialog>
  )
}
