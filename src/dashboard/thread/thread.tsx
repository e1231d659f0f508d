import { useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { ArrowLeftIcon, CheckIcon, MailIcon } from '../parts/icons.tsx'
import { Load } from '../parts/states.tsx'
import { useKeys } from '../shell/keys.ts'
import { useTitle } from '../shell/page.tsx'
import { useAgents } from '../shell/viewer.tsx'
import { Answer } from './answer.tsx'
import { Labels } from './labels.tsx'
import { FoldedMessage, Message } from './message.tsx'
import { MESSAGE, type ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'
import './thread.css'
import { useMarks } from './use-marks.ts'
import { useOlder } from './use-older.ts'

const THREAD = graphql(
  `
    query Thread($id: UUID!) {
      thread(id: $id) {
        id agentId subject unreadCount
        messages(first: 100) { edges { node { ...ThreadMessage } } pageInfo { endCursor hasNextPage } }
      }
    }
  `,
  [MESSAGE],
)

type ThreadData = ResultOf<typeof THREAD>['thread']

/** More than this many messages are folded into one button, but for the last. */
const MOST_LINES = 12
const LAST_LINES = 5

interface HeadProps {
  thread: ThreadData
  labels: readonly string[]
  back: string
  marks: ReturnType<typeof useMarks>
  onDone(): void
}

const Head = ({ thread, labels, back, marks, onDone }: HeadProps) => {
  const agent = useAgents().find(({ id }) => id === thread.agentId)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // On narrow screens the list, which had the focus, is gone.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header className="thread-head">
      <Link href={back} className="button ghost square thread-back" aria-label={text.back}>
        <ArrowLeftIcon />
      </Link>
      <h1 ref={heading} tabIndex={-1}>
        {thread.subject ?? text.noSubject}
      </h1>
      {agent && (
        <Link href={`/agents/${agent.id}`} className="thread-of">
          <AgentIcon name={agent.icon} size={14} />
          {agent.name}
        </Link>
      )}
      <Labels labels={labels} onAdd={marks.addLabel} onRemove={(label) => void marks.removeLabel(label)} />
      {thread.unreadCount > 0 ? (
        <IconButton icon={CheckIcon} label={text.read} hint="e" onClick={onDone} />
      ) : (
        <IconButton icon={MailIcon} label={text.unread} hint="u" onClick={() => void marks.unread()} />
      )}
    </header>
  )
}

/** Which messages are opened: the newest, those that are unread, and those that were pressed. */
const useOpened = (messages: readonly ShownMessage[]) => {
  const [pressed, setPressed] = useState<ReadonlySet<string>>(new Set())
  const [first] = useState(
    () =>
      new Set(
        messages
          .filter(
            (one, index) =>
              index === messages.length - 1 ||
              (one.direction === 'inbound' && one.status === 'received' && one.readAt === null),
          )
          .map(({ id }) => id),
      ),
  )
  const [known] = useState(() => new Set(messages.map(({ id }) => id)))
  return {
    // What arrives while one looks is opened as well.
    isOpened: (id: string) => pressed.has(id) || first.has(id) || !known.has(id),
    open: (id: string) => setPressed(new Set([...pressed, id])),
  }
}

interface MessagesProps {
  thread: ThreadData
  /** The oldest first. */
  messages: readonly ShownMessage[]
  older: ReturnType<typeof useOlder>
}

const Messages = ({ thread, messages, older }: MessagesProps) => {
  const [, go] = useLocation()
  const [all, setAll] = useState(false)
  const agent = useAgents().find(({ id }) => id === thread.agentId)
  const { isOpened, open } = useOpened(messages)
  const hidden = all || messages.length <= MOST_LINES ? 0 : messages.length - LAST_LINES
  const fromOf = (message: ShownMessage) =>
    message.direction === 'inbound' ? (message.counterpartName ?? message.counterpart) : (agent?.name ?? '')
  const forward = (id: string) => go(`/compose?agent=${thread.agentId}&forward=${id}`)
  const newest = messages.at(-1)
  useKeys([{ keys: 'f', label: text.keys.forward, group: 'thread', run: () => newest && forward(newest.id) }])
  return (
    <ol className="messages">
      {hidden === 0 && older.more && (
        <li className="message">
          <Button kind="ghost" busy={older.busy} onClick={older.more}>
            {text.older}
          </Button>
        </li>
      )}
      {hidden > 0 && (
        <li className="message">
          <Button kind="ghost" onClick={() => setAll(true)}>
            {text.earlier(hidden)}
          </Button>
        </li>
      )}
      {messages.slice(hidden).map((message) => (
        <li key={message.id}>
          {isOpened(message.id) ? (
            <Message message={message} from={fromOf(message)} onForward={() => forward(message.id)} />
          ) : (
            <FoldedMessage message={message} from={fromOf(message)} onOpen={() => open(message.id)} />
          )}
        </li>
      ))}
    </ol>
  )
}

interface ShownProps {
  thread: ThreadData
  back: string
  /** Goes on after the thread is done with. */
  onNext(): void
}

const Shown = ({ thread, back, onNext }: ShownProps) => {
  const older = useOlder(thread.id, thread.messages)
  const newestFirst = older.messages
  const messages = newestFirst.toReversed()
  const marks = useMarks(thread.agentId, newestFirst)
  const labels = [...new Set(messages.flatMap((message) => message.labels))]
  const answered = newestFirst.find(({ direction }) => direction === 'inbound') ?? newestFirst[0]
  const end = useRef<HTMLDivElement>(null)
  useTitle(thread.subject ?? text.noSubject)
  // Only when the thread is opened: later, the member decides where to look.
  const isLong = useRef(newestFirst.length > 1)
  useEffect(() => {
    if (isLong.current) end.current?.scrollIntoView({ block: 'end' })
  }, [])
  const done = async () => {
    if (await marks.read()) onNext()
  }
  useKeys([
    { keys: 'e', label: text.keys.read, group: 'thread', run: () => void done() },
    { keys: 'u', label: text.keys.unread, group: 'thread', run: () => void marks.unread() },
  ])
  return (
    <div className="thread">
      <Head thread={thread} labels={labels} back={back} marks={marks} onDone={() => void marks.read()} />
      <Messages thread={thread} messages={messages} older={older} />
      {answered && <Answer agentId={thread.agentId} to={answered} />}
      <div ref={end} />
    </div>
  )
}

/** A conversation, its newest message last, and the field to answer in. */
export const Thread = ({ id, back, onNext }: { id: string; back: string; onNext(): void }) => (
  <Load from={useLive(THREAD, { id }, ['messages'])}>
    {({ thread }) => <Shown thread={thread} back={back} onNext={onNext} />}
  </Load>
)
