import { useState } from 'react'
import { Field } from '../form/field.tsx'
import { text } from '../strings.ts'
import { FormDialog } from './form-dialog.tsx'

interface LabelDialogProps {
  /** Resolves to whether it was done. */
  onAdd(label: string): Promise<boolean>
  onClose(): void
}

/** Asks for a label to add. */
export const LabelDialog = ({ onAdd, onClose }: LabelDialogProps) => {
  const [label, setLabel] = useState('')
  const submit = async () => {
    if (await onAdd(label.trim())) onClose()
  }
  return (
    <FormDialog title={text.addLabel} label={text.addLabel} onClose={onClose} onSubmit={submit}>
      <Field
        label={text.newLabel}
        value={label}
        onChange={({ target }) => setLabel(target.value)}
        maxLength={64}
        required
        autoFocus
        autoComplete="off"
      />
    </FormDialog>
  )
}
