import { useState } from 'react'
import { type Client, useClient } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { CheckIcon, MailIcon, TagIcon, XIcon } from '../parts/icons.tsx'
import { LabelDialog } from '../parts/label-dialog.tsx'
import { say } from '../parts/toast.ts'
import type { Row } from './row.ts'
import { text } from './strings.ts'

const MESSAGES = graphql(`
  query ThreadMarks($id: UUID!) {
    thread(id: $id) { id agentId messages(first: 100) { edges { node { id direction status readAt } } } }
  }
`)
const MARK = graphql(`
  mutation MarkThreads($input: MarkMessagesInput!) { markMessages(input: $input) { marks { id readAt labels } } }
`)

type Marked = NonNullable<ResultOf<typeof MESSAGES>['thread']>['messages']['edges'][number]['node']

/** What is changed: in which of a thread's messages, newest first, and how. */
interface Change {
  pick(messages: readonly Marked[]): readonly Marked[]
  marks: { read: boolean } | { addLabels: string[] }
}

const receivedOf = (messages: readonly Marked[], read: boolean) =>
  messages.filter(
    (one) => one.direction === 'inbound' && one.status === 'received' && (one.readAt !== null) === read,
  )

const READ: Change = { pick: (messages) => receivedOf(messages, false), marks: { read: true } }
/** Of a thread that is read, only the newest message becomes unread again. */
const UNREAD: Change = { pick: (messages) => receivedOf(messages, true).slice(0, 1), marks: { read: false } }
const labelled = (label: string): Change => ({
  pick: (messages) => messages.slice(0, 1),
  marks: { addLabels: [label] },
})

const changeThread = async (client: Client, id: string, { pick, marks }: Change) => {
  const found = await client.query(MESSAGES, { id }, { requestPolicy: 'network-only' }).toPromise()
  if (!found.data) return failureOf(found.error)
  const { agentId, messages } = found.data.thread
  const ids = pick(messages.edges.map(({ node }) => node)).map((message) => message.id)
  if (ids.length === 0) return null
  const { error } = await client.mutation(MARK, { input: { agentId, ids, ...marks } }).toPromise()
  return failureOf(error)
}

const useBulk = (rows: readonly Row[], onDone: () => void) => {
  const client = useClient()
  const [busy, setBusy] = useState(false)
  const change = async (how: Change): Promise<boolean> => {
    setBusy(true)
    const threads = [...new Set(rows.map(({ threadId }) => threadId))]
    const outcomes = await Promise.all(threads.map((id) => changeThread(client, id, how)))
    setBusy(false)
    const failure = outcomes.find((outcome) => outcome !== null)
    if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
    else say({ kind: 'done', text: text.marked(threads.length) })
    onDone()
    return true
  }
  return { busy, change }
}

/** What can be done with the selected threads. */
export const BulkBar = ({ rows, onDone }: { rows: readonly Row[]; onDone(): void }) => {
  const { busy, change } = useBulk(rows, onDone)
  const [labelling, setLabelling] = useState(false)
  return (
    <div className="bulk" role="toolbar" aria-label={text.selected(rows.length)}>
      <span>{text.selected(rows.length)}</span>
      <Button icon={CheckIcon} busy={busy} onClick={() => void change(READ)}>
        {text.markRead}
      </Button>
      <Button icon={MailIcon} busy={busy} onClick={() => void change(UNREAD)}>
        {text.markUnread}
      </Button>
      <Button icon={TagIcon} busy={busy} onClick={() => setLabelling(true)}>
        {text.label}
      </Button>
      <IconButton icon={XIcon} label={text.selectNone} onClick={onDone} />
      {labelling && (
        <LabelDialog onAdd={(label) => change(labelled(label))} onClose={() => setLabelling(false)} />
      )}
    </div>
  )
}
