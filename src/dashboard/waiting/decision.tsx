import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { say } from '../parts/toast.ts'
import type { HeldMessage } from './queries.ts'
import { text } from './strings.ts'

const APPROVE = graphql(`
  mutation ApproveMessage($input: ApproveMessageInput!) { approveMessage(input: $input) { message { id status } } }
`)
const REJECT = graphql(`
  mutation RejectMessage($input: RejectMessageInput!) { rejectMessage(input: $input) { message { id status } } }
`)

interface Edit {
  subject?: string
  text?: string
}

/** Approving and rejecting. If somebody else was first, the API says who. */
const useDecision = ({ id, agent }: HeldMessage) => {
  const approval = useAction(APPROVE)
  const rejection = useAction(REJECT)
  const ids = { agentId: agent.id, messageId: id }
  const told = (done: object | null, words: string): boolean => {
    announce([{ topic: 'messages', agentId: agent.id }])
    if (done) say({ kind: 'done', text: words })
    return done !== null
  }
  return {
    approve: async (edit: Edit = {}) =>
      told(await approval.run({ input: { ...ids, ...edit } }), text.approved),
    reject: async (reason: string) =>
      told(await rejection.run({ input: { ...ids, reason: reason.trim() || null } }), text.rejected),
    busy: approval.busy || rejection.busy,
  }
}

type Decide = ReturnType<typeof useDecision>

const EditForm = ({
  message,
  decide,
  onClose,
}: {
  message: HeldMessage
  decide: Decide
  onClose(): void
}) => {
  const [subject, setSubject] = useState(message.subject ?? '')
  const [body, setBody] = useState(message.text)
  const submit = async () => {
    const edit = {
      ...(subject === (message.subject ?? '') ? {} : { subject }),
      ...(body === message.text ? {} : { text: body }),
    }
    if (await decide.approve(edit)) onClose()
  }
  return (
    <FormDialog
      wide
      title={text.editTitle}
      label={text.sendEdited}
      onClose={onClose}
      onSubmit={submit}
      busy={decide.busy}
    >
      {message.channel === 'email' && (
        <Field
          label={text.subject}
          value={subject}
          onChange={(event) => setSubject(event.target.value)}
          maxLength={240}
        />
      )}
      <TextField
        label={text.messageText}
        value={body}
        onChange={(event) => setBody(event.target.value)}
        rows={12}
        maxLength={32_000}
        autoFocus
        required
      />
    </FormDialog>
  )
}

const RejectForm = ({ decide, onClose }: { decide: Decide; onClose(): void }) => {
  const [reason, setReason] = useState('')
  const submit = async () => {
    if (await decide.reject(reason)) onClose()
  }
  return (
    <FormDialog
      title={text.rejectTitle}
      label={text.reject}
      onClose={onClose}
      onSubmit={submit}
      busy={decide.busy}
      danger
    >
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

/** The buttons with which a member decides about a message. */
export const Decision = ({ message }: { message: HeldMessage }) => {
  const decide = useDecision(message)
  const [form, setForm] = useState<'edit' | 'reject' | null>(null)
  return (
    <div className="row">
      <Button kind="primary" busy={decide.busy} onClick={() => void decide.approve()}>
        {text.approve}
      </Button>
      <Button onClick={() => setForm('edit')}>{text.edit}</Button>
      <Button kind="danger" onClick={() => setForm('reject')}>
        {text.reject}
      </Button>
      {form === 'edit' && <EditForm message={message} decide={decide} onClose={() => setForm(null)} />}
      {form === 'reject' && <RejectForm decide={decide} onClose={() => setForm(null)} />}
    </div>
  )
}
