import { useState } from 'react'
import { IconButton } from '../parts/button.tsx'
import { LabelDialog } from '../parts/dialog/label-dialog.tsx'
import { TagIcon, XIcon } from '../parts/icons.tsx'
import { text as partsText } from '../parts/strings.ts'
import { useKeys } from '../screen/keys.ts'
import { text } from './strings.ts'

interface LabelsProps {
  labels: readonly string[]
  /** Resolves to whether it was done. */
  onAdd(label: string): Promise<boolean>
  onRemove(label: string): void
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
      <IconButton icon={TagIcon} label={partsText.addLabel} hint="l" onClick={() => setAdding(true)} />
      {adding && <LabelDialog onAdd={onAdd} onClose={() => setAdding(false)} />}
    </>
  )
}
