import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { IconButton } from '../parts/button.tsx'
import { ArrowLeftIcon, CheckIcon, MailIcon } from '../parts/icons.tsx'
import { Load } from '../parts/states.tsx'
import { useKeys } from '../shell/keys.ts'
import { useAgents } from '../shell/viewer.tsx'
import { Answer } from './answer.tsx'
import { Message } from './message.tsx'
import { MESSAGE } from './message-fields.ts'
import { text } from './strings.ts'
import './thread.css'

const THREAD = graphql(
  `
    query Thread($id: UUID!) {
      thread(id: $id) {
        id agentId subject unreadCount
        messages(first: 50) { edges { node { ...ThreadMessage } } pageInfo { hasNextPage } }
      }
    }
  `,
  [MESSAGE],
)

const MARK = graphql(`
  mutation MarkThread($input: MarkMessagesInput!) { markMessages(input: $input) { marks { id readAt labels } } }
`)

type ThreadData = ResultOf<typeof THREAD>['thread']

const useMarks = (thread: ThreadData | undefined) => {
  const { run } = useAction(MARK)
  return (read: boolean) => {
    if (!thread) return
    const ids = thread.messages.edges
      .map(({ node }) => node)
      .filter((message) => message.direction === 'inbound' && (message.readAt !== null) !== read)
      .map(({ id }) => id)
    // Of a thread that is read, only the newest message becomes unread again.
    const changed = read ? ids : ids.slice(0, 1)
    if (changed.length > 0) void run({ input: { agentId: thread.agentId, ids: changed, read } })
  }
}

const Head = ({ thread, back, mark }: { thread: ThreadData; back: string; mark(read: boolean): void }) => {
  const agent = useAgents().find(({ id }) => id === thread.agentId)
  return (
    <header className="thread-head">
      <Link href={back} className="button ghost square thread-back" aria-label={text.back}>
        <ArrowLeftIcon />
      </Link>
      <h2>{thread.subject ?? text.noSubject}</h2>
      {agent && (
        <Link href={`/agents/${agent.id}`} className="thread-of">
          <AgentIcon name={agent.icon} size={14} />
          {agent.name}
        </Link>
      )}
      {thread.unreadCount > 0 ? (
        <IconButton icon={CheckIcon} label={text.read} hint="e" onClick={() => mark(true)} />
      ) : (
        <IconButton icon={MailIcon} label={text.unread} hint="u" onClick={() => mark(false)} />
      )}
    </header>
  )
}

const Shown = ({ thread, back, mark }: { thread: ThreadData; back: string; mark(read: boolean): void }) => {
  const messages = thread.messages.edges.map(({ node }) => node).reverse()
  const newest = messages.at(-1)
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' })
  }, [])
  return (
    <article className="thread">
      <Head thread={thread} back={back} mark={mark} />
      <ol className="messages">
        {messages.map((message) => (
          <Message key={message.id} message={message} agentId={thread.agentId} />
        ))}
      </ol>
      {newest && (
        <Answer
          agentId={thread.agentId}
          to={messages.findLast(({ direction }) => direction === 'inbound') ?? newest}
        />
      )}
      <div ref={end} />
    </article>
  )
}

/** A conversation, its newest message last, and the field to answer in. */
export const Thread = ({ id, back }: { id: string; back: string }) => {
  const loaded = useLive(THREAD, { id }, ['messages'])
  const mark = useMarks(loaded.data?.thread)
  useKeys([
    { keys: 'e', label: text.keys.read, group: 'thread', run: () => mark(true) },
    { keys: 'u', label: text.keys.unread, group: 'thread', run: () => mark(false) },
  ])
  return <Load from={loaded}>{({ thread }) => <Shown thread={thread} back={back} mark={mark} />}</Load>
}
