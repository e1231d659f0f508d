import { type FormEvent, useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { text as partsText } from '../parts/strings.ts'
import type { Address } from './addresses.tsx'
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
  const { run, busy, failure } = useAction(CHANGE, { quiet: true })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!(await run({ input: { agentId, addressId: address.id, value: value.trim() } }))) return
    announce([{ topic: 'agents', agentId }])
    onClose()
  }
  return (
    <Dialog
      title={text.changeTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{partsText.cancel}</Button>
          <Button kind="primary" submit form="change-address" busy={busy}>
            {text.save}
          </Button>
        </>
      }
    >
      <form id="change-address" className="form" onSubmit={(event) => void submit(event)}>
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
      </form>
    </Dialog>
  )
}
