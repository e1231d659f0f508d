import { useEffect, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field, TextField } from '../parts/form/field.tsx'
import { keptOf, readKept } from '../parts/kept.ts'
import { useKeys } from '../screen/keys.ts'
import { useViewer } from '../screen/viewer.tsx'
import type { HeldMessage } from './queries.ts'
import { text } from './strings.ts'
import { type Opened, openForm, useDecision, useKeptEdit, useOpened, useOutcome } from './use-decision.ts'

const close = () => openForm(null)

/** Says that somebody else decided; what was written stays, to be copied. */
const Overtaken = ({ outcome, written }: { outcome: string; written: string }) => (
  <div className="note" role="alert">
    <p>
      {text.decidedMeanwhile} {outcome} {text.wordsStay}
    </p>
    <CopyButton value={written} what={text.messageText} label={text.copyWords} />
  </div>
)

const EditForm = ({ message, onDecided }: Opened) => {
  const decide = useDecision(message, onDecided)
  const outcome = useOutcome(message.id)
  const { fields, change, reset, edit, isEdited, forget } = useKeptEdit(message)
  const leave = () => {
    if (outcome !== null) forget()
    close()
  }
  const submit = async () => {
    if (outcome === null && (await decide.approve(edit))) close()
  }
  return (
    <FormDialog
      wide
      title={text.editTitle}
      label={text.sendEdited}
      onClose={leave}
      onSubmit={submit}
      busy={decide.busy}
      disabled={outcome !== null}
    >
      {outcome !== null && <Overtaken outcome={outcome} written={fields.text} />}
      {message.channel === 'email' && (
        <Field
          label={text.subject}
          value={fields.subject}
          onChange={(event) => change({ subject: event.target.value })}
          maxLength={240}
        />
      )}
      <TextField
        label={text.messageText}
        hint={text.editKept}
        value={fields.text}
        onChange={(event) => change({ text: event.target.value })}
        rows={12}
        maxLength={32_000}
        autoFocus
        required
      />
      {isEdited && (
        <div className="row">
          <Button kind="ghost" onClick={reset}>
            {text.original}
          </Button>
        </div>
      )}
    </FormDialog>
  )
}

const RejectForm = ({ message, onDecided }: Opened) => {
  const decide = useDecision(message, onDecided)
  const outcome = useOutcome(message.id)
  const [reason, setReason] = useState('')
  const submit = async () => {
    if (outcome === null && (await decide.reject(reason))) close()
  }
  return (
    <FormDialog
      title={text.rejectTitle}
      label={text.reject}
      onClose={close}
      onSubmit={submit}
      busy={decide.busy}
      disabled={outcome !== null}
      danger
    >
      {outcome !== null && <Overtaken outcome={outcome} written={reason} />}
      <Field
        label={text.reason}
        hint={text.reasonHint}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        maxLength={500}
        autoFocus
      />
    </FormDialog>
  )
}

/**
 * The form that is open, if any. The screen renders it once, beside its list: it stays while the list is read
 * again, also without the message.
 */
export const DecisionDialog = () => {
  const opened = useOpened()
  useEffect(() => close, [])
  if (!opened) return null
  const Form = opened.form === 'edit' ? EditForm : RejectForm
  return <Form key={`${opened.message.id} ${opened.form}`} {...opened} />
}

interface DecisionProps {
  message: HeldMessage
  /** The queue then goes on to the next message. */
  onDecided(): void
}

/**
 * The buttons with which a member decides about a message; `DecisionDialog` shows their forms. While an edit is kept,
 * the message is not approved without it by accident.
 */
export const Decision = ({ message, onDecided }: DecisionProps) => {
  const decide = useDecision(message, onDecided)
  const viewer = useViewer()
  useOpened()
  const isEdited = readKept(keptOf(viewer, 'edit', message.id)) !== null
  const open = (form: Opened['form']) => openForm({ form, message, onDecided })
  const approve = () => {
    if (isEdited) open('edit')
    else if (!decide.busy) void decide.approve()
  }
  useKeys([
    { keys: 'a', label: text.approve, group: 'list', run: approve },
    { keys: 'r', label: text.reject, group: 'list', run: () => open('reject') },
    { keys: 'e', label: text.edit, group: 'list', run: () => open('edit') },
  ])
  return (
    <div className="row">
      <Button kind="primary" busy={decide.busy} onClick={approve}>
        {text.approve}
      </Button>
      <Button onClick={() => open('edit')}>{isEdited ? text.editOn : text.edit}</Button>
      <Button kind="danger" onClick={() => open('reject')}>
        {text.reject}
      </Button>
    </div>
  )
}
