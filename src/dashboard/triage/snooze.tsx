import { type KeyboardEvent, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { toInput } from '../parts/form/local-time.ts'
import { Form } from '../parts/form.tsx'
import { text } from './strings.ts'
import './triage.css'
import { moment } from './use-triage.ts'

const HOUR_MS = 3_600_000
const MORNING = 8

const morning = (now: Date, days: number): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING)

/** The usual times, in the time zone of the browser. */
const timesFrom = (now: Date): { label: string; at: Date }[] => {
  const later = new Date(now.getTime() + 3 * HOUR_MS)
  const untilMonday = (8 - now.getDay()) % 7 || 7
  return [
    ...(later.getDate() === now.getDate() ? [{ label: text.laterToday, at: later }] : []),
    { label: text.tomorrow, at: morning(now, 1) },
    { label: text.nextWeek, at: morning(now, untilMonday) },
  ]
}

/** The arrow keys go through the times. */
const onArrow = (event: KeyboardEvent<HTMLElement>): void => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const buttons = [...event.currentTarget.querySelectorAll('button')]
  const next = step && buttons[buttons.indexOf(event.target as HTMLButtonElement) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}

interface SnoozeProps {
  /** Closes the dialog as well. */
  onSnooze(until: Date): void
  /** For threads that are put away already: brings them back. */
  onWake?: (() => void) | undefined
  onClose(): void
}

/** Asks until when threads are put away. */
export const SnoozeDialog = ({ onSnooze, onWake, onClose }: SnoozeProps) => {
  const [now] = useState(() => new Date())
  const [at, setAt] = useState(() => toInput(morning(now, 1)))
  return (
    <Dialog title={text.snooze} onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside are reached with Tab as well */}
      <div className="snooze" onKeyDown={onArrow}>
        {timesFrom(now).map(({ label, at: time }, index) => (
          <Button key={label} onClick={() => onSnooze(time)} {...(index === 0 ? { 'data-focus': '' } : {})}>
            <span>{label}</span>
            <span className="hint">{moment.format(time)}</span>
          </Button>
        ))}
        {onWake && <Button onClick={onWake}>{text.wakeNow}</Button>}
      </div>
      <Form className="snooze-at" onSubmit={() => onSnooze(new Date(at))}>
        <Field
          label={text.snoozeAt}
          hint={text.snoozeHint}
          type="datetime-local"
          value={at}
          min={toInput(now)}
          required
          onChange={({ target }) => setAt(target.value)}
        />
        <Button submit>{text.snooze}</Button>
      </Form>
    </Dialog>
  )
}
