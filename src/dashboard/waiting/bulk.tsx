import { useState } from 'react'
import { useClient } from 'urql'
import { type Failure, failureOf } from '../live/failure.ts'
import { announce } from '../live/live.ts'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field } from '../parts/form/field.tsx'
import { keptOf, readKept } from '../parts/kept.ts'
import { say } from '../parts/toast.ts'
import { useViewer } from '../screen/viewer.tsx'
import type { HeldRow } from './queries.ts'
import { text } from './strings.ts'
import { APPROVE, REJECT } from './use-decision.ts'

export type Verdict = 'approve' | 'reject'

interface BulkProps {
  verdict: Verdict
  rows: readonly HeldRow[]
  onDecided(ids: readonly string[]): void
  onClose(): void
}

/** Decides on several messages. Those on which somebody else was first are said, and the others go on. */
const useDecideAll = ({ verdict, rows }: Pick<BulkProps, 'rows' | 'verdict'>) => {
  const client = useClient()
  const decide = async ({ id, agent }: HeldRow, reason: string): Promise<Failure | null> => {
    const ids = { agentId: agent.id, messageId: id }
    const { error } =
      verdict === 'approve'
        ? await client.mutation(APPROVE, { input: ids }).toPromise()
        : await client.mutation(REJECT, { input: { ...ids, reason: reason.trim() || null } }).toPromise()
    return failureOf(error)
  }
  return async (reason: string): Promise<string[]> => {
    const failures = await Promise.all(rows.map((row) => decide(row, reason)))
    announce([{ topic: 'messages' }])
    const done = rows.filter((_, index) => failures[index] === null).map(({ id }) => id)
    if (done.length > 0) say({ kind: 'done', text: text.decided[verdict](done.length) })
    const failure = failures.find((one) => one !== null)
    if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
    return done
  }
}

const split = <Item,>(items: readonly Item[], first: (item: Item) => boolean): [Item[], Item[]] => [
  items.filter(first),
  items.filter((item) => !first(item)),
]

/** Asks before several messages are approved or rejected, and names them. */
export const Bulk = (props: BulkProps) => {
  const { verdict, onDecided, onClose } = props
  const viewer = useViewer()
  // What was edited is not sent without the edit by accident.
  const [edited, rows] = split(
    props.rows,
    ({ id }) => verdict === 'approve' && readKept(keptOf(viewer, 'edit', id)) !== null,
  )
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const decideAll = useDecideAll({ verdict, rows })
  const submit = async () => {
    setBusy(true)
    onDecided(await decideAll(reason))
    onClose()
  }
  return (
    <FormDialog
      title={text.bulkTitle[verdict](rows.length)}
      label={text[verdict]}
      onClose={onClose}
      onSubmit={submit}
      busy={busy}
      danger={verdict === 'reject'}
    >
      <ul className="bulk-list">
        {rows.map(({ id, subject, to, cc, bcc, agent }) => (
          <li key={id}>
            <bdi>{subject ?? text.noSubject}</bdi>
            <span className="hint">{text.fromTo(agent.name, [...to, ...cc, ...bcc].join(', '))}</span>
          </li>
        ))}
      </ul>
      {edited.length > 0 && <p className="hint">{text.leftOut(edited.length)}</p>}
      {verdict === 'reject' && (
        <Field
          label={text.reason}
          hint={text.reasonHint}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          maxLength={500}
          autoFocus
        />
      )}
    </FormDialog>
  )
}
