import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { toField, toNumber } from '../parts/form/optional-number.ts'
import { useEdits } from '../parts/form/use-edits.ts'
import { Panel } from '../parts/panel.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

const FIELDS = ['keepMessagesDays', 'keepRawDays', 'keepRefusedDays'] as const
const MAX = { keepMessagesDays: 36_500, keepRawDays: 36_500, keepRefusedDays: 365 }

export type Days = { [field in (typeof FIELDS)[number]]: number | null }

const isShorter = (now: number | null, before: number | null) => now !== null && now < (before ?? Infinity)

/** How long messages are kept. Asks before it shortens a time, since that deletes messages. */
export const Keeping = ({ saved }: { saved: Days }) => {
  const { fields, edit } = useEdits(
    Object.fromEntries(FIELDS.map((field) => [field, toField(saved[field])])) as Record<keyof Days, string>,
  )
  const [confirming, setConfirming] = useState(false)
  const { update, busy, failure } = useUpdate()
  const { role } = useViewer()
  const days = Object.fromEntries(FIELDS.map((field) => [field, toNumber(fields[field])])) as unknown as Days
  const save = () => update(days)
  const submit = () => {
    if (FIELDS.some((field) => isShorter(days[field], saved[field]))) setConfirming(true)
    else void save()
  }
  return (
    <Panel title={text.keeping} onSubmit={submit}>
      <p className="hint">{text.keepingHint}</p>
      <div className="number-fields">
        {FIELDS.map((field) => (
          <Field
            key={field}
            label={text.keep[field]}
            hint={text.keepHint[field]}
            error={failure?.field === field ? failure.message : undefined}
            value={fields[field]}
            onChange={(event) => edit(field, event.target.value)}
            type="number"
            min={1}
            max={MAX[field]}
            placeholder={text.forever}
            required={field === 'keepRefusedDays'}
            disabled={role !== 'owner'}
          />
        ))}
      </div>
      <div className="row">
        <Button
          submit
          busy={busy}
          disabled={role !== 'owner' || FIELDS.every((field) => days[field] === saved[field])}
        >
          {text.save}
        </Button>
      </div>
      {confirming && (
        <Confirm
          title={text.shortenTitle}
          label={text.shorten}
          onConfirm={save}
          onClose={() => setConfirming(false)}
        >
          <p>{text.shortenHint}</p>
        </Confirm>
      )}
    </Panel>
  )
}
