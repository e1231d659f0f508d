import { useState } from 'react'
import { type Client, useClient } from 'urql'
import { failureOf } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { CheckIcon, MailIcon, XIcon } from '../parts/icons.tsx'
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

/** Marks the messages of a thread as read, or its newest one as unread. */
const markThread = async (client: Client, id: string, read: boolean) => {
  const found = await client.query(MESSAGES, { id }, { requestPolicy: 'network-only' }).toPromise()
  if (!found.data) return failureOf(found.error)
  const { agentId, messages } = found.data.thread
  const ids = messages.edges
    .map(({ node }) => node)
    .filter(
      ({ direction, status, readAt }) =>
        direction === 'inbound' && status === 'received' && (readAt === null) === read,
    )
    .map((message) => message.id)
  const marked = read ? ids : ids.slice(0, 1)
  if (marked.length === 0) return null
  const { error } = await client.mutation(MARK, { input: { agentId, ids: marked, read } }).toPromise()
  return failureOf(error)
}

const useBulk = (rows: readonly Row[], onDone: () => void) => {
  const client = useClient()
  const [busy, setBusy] = useState(false)
  const mark = async (read: boolean) => {
    setBusy(true)
    const threads = [...new Set(rows.map(({ threadId }) => threadId))]
    const outcomes = await Promise.all(threads.map((id) => markThread(client, id, read)))
    setBusy(false)
    const failure = outcomes.find((outcome) => outcome !== null)
    if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
    else say({ kind: 'done', text: text.marked(threads.length) })
    onDone()
  }
  return { busy, mark }
}

/** What can be done with the selected threads. */
export const BulkBar = ({ rows, onDone }: { rows: readonly Row[]; onDone(): void }) => {
  const { busy, mark } = useBulk(rows, onDone)
  return (
    <div className="bulk" role="toolbar" aria-label={text.selected(rows.length)}>
      <span>{text.selected(rows.length)}</span>
      <Button icon={CheckIcon} busy={busy} onClick={() => void mark(true)}>
        {text.markRead}
      </Button>
      <Button icon={MailIcon} busy={busy} onClick={() => void mark(false)}>
        {text.markUnread}
      </Button>
      <IconButton icon={XIcon} label={text.selectNone} onClick={onDone} />
    </div>
  )
}
