import { useState } from 'react'
import { IconButton } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { TagIcon, XIcon } from '../parts/icons.tsx'
import { useKeys } from '../shell/keys.ts'
import { text } from './strings.ts'

interface LabelsProps {
  labels: readonly string[]
  /** Resolves to whether it was done. */
  onAdd(label: string): Promise<boolean>
  onRemove(label: string): void
}

const AddLabel = ({ onAdd, onClose }: { onAdd: LabelsProps['onAdd']; onClose(): void }) => {
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

/** The labels of a thread: those of its messages. */
export const Labels = ({ labels, onAdd, onRemove }: LabelsProps) => {
  const [adding, setAdding] = useState(false)
  useKeys([{ keys: 'l', label: text.keys.label, group: 'thread', run: () => setAdding(true) }])
  return (
    <>
      <ul className="labels" aria-label={text.labels}>
        {labels.map((label) => (
          <li key={label} className="badge neutral">
            {label}
            <button type="button" aria-label={text.removeLabel(label)} onClick={() => onRemove(label)}>
              <XIcon size={12} />
            </button>
          </li>
        ))}
      </ul>
      <IconButton icon={TagIcon} label={text.addLabel} hint="l" onClick={() => setAdding(true)} />
      {adding && <AddLabel onAdd={onAdd} onClose={() => setAdding(false)} />}
    </>
  )
}
