import { type ReactNode, useState } from 'react'
import { Field } from '../form/field.tsx'
import { text } from '../strings.ts'
import { FormDialog } from './form-dialog.tsx'

interface ConfirmNameProps {
  title: string
  /** What the button does, as a verb: Delete agent. */
  label: string
  /** What must be typed. */
  name: string
  onConfirm(): Promise<void>
  onClose(): void
  busy: boolean
  /** What will happen. */
  children: ReactNode
}

/** Asks for the name of what is about to be destroyed, so that it is not done by one click too many. */
export const ConfirmName = ({ name, onConfirm, children, ...rest }: ConfirmNameProps) => {
  const [typed, setTyped] = useState('')
  const matches = typed === name
  const submit = async () => {
    if (matches) await onConfirm()
  }
  return (
    <FormDialog {...rest} onSubmit={submit} disabled={!matches} danger>
      <p>{children}</p>
      <Field
        label={text.typeName(name)}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        autoComplete="off"
        autoFocus
      />
    </FormDialog>
  )
}
