import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { type Person, personOf, ThreadProvider } from '../message/context.ts'
import { MESSAGE, type ShownMessage } from '../message/message-fields.ts'
import { Load } from '../parts/states.tsx'
import { useKeys } from '../screen/keys.ts'
import { useTitle } from '../screen/page.tsx'
import { Answer } from './answer.tsx'
import { Head } from './head.tsx'
import { Messages } from './messages.tsx'
import { NOTES, Notes, useNote } from './notes.tsx'
import { RefusedBar } from './refused-bar.tsx'
import { text } from './strings.ts'
import './thread.css'
import { Triage, useThreadTriage } from './triage.tsx'
import { useMarks } from './use-marks.ts'
import { useOlder } from './use-older.ts'

const Correspondent = lazy(async () => ({ default: (await import('./correspondent.tsx')).Correspondent }))

const THREAD = graphql(
  `
    query Thread($id: UUID!) {
      thread(id: $id) {
        id agentId subject unreadCount doneAt snoozedUntil
        assignedTo { id name }
        ...ThreadNotes
        messages(first: 50) { edges { node { ...ThreadMessage } } pageInfo { endCursor hasNextPage } }
      }
      service { captured mailDomain }
    }
  `,
  [MESSAGE, NOTES],
)

type Data = ResultOf<typeof THREAD>

/** What is answered, and the refused messages that stand in the way of an answer. */
const answeredIn = (newestFirst: readonly ShownMessage[]) => {
  const inbound = newestFirst.filter(({ direction }) => direction === 'inbound')
  const refused = inbound.filter(({ status }) => status === 'refused')
  return {
    answered: inbound.find(({ status }) => status !== 'refused') ?? newestFirst[0],
    refused: inbound[0]?.status === 'refused' ? refused : [],
  }
}

interface ShownProps {
  thread: Data['thread']
  service: Data['service']
  back: string
  /** Goes on after the thread is done with. */
  onNext(): void
}

const Shown = ({ thread, service, back, onNext }: ShownProps) => {
  const [, go] = useLocation()
  const [person, setPerson] = useState<Person | null>(null)
  const note = useNote(thread.id)
  const older = useOlder(thread.id, thread.messages)
  const newestFirst = older.messages
  const messages = newestFirst.toReversed()
  const marks = useMarks(thread.agentId, newestFirst)
  const labels = [...new Set(messages.flatMap((message) => message.labels))]
  const { answered, refused } = answeredIn(newestFirst)
  const other = newestFirst.map(personOf).find((one) => one !== null) ?? null
  const end = useRef<HTMLDivElement>(null)
  useTitle(thread.subject ?? text.noSubject)
  // Only when the thread is opened: later, the member decides where to look.
  const isLong = useRef(newestFirst.length > 1)
  useEffect(() => {
    if (isLong.current) end.current?.scrollIntoView({ block: 'end' })
  }, [])
  const triage = useThreadTriage({ thread, messages: newestFirst, onNext })
  const print = async () => {
    if (await older.all()) window.print()
  }
  useKeys([
    { keys: 'e', label: text.markDone, group: 'thread', run: triage.done },
    { keys: 'h', label: text.snooze, group: 'thread', run: triage.ask },
    { keys: '#', label: text.spam, group: 'thread', run: triage.spam },
    { keys: 'u', label: text.keys.unread, group: 'thread', run: () => void marks.unread() },
    { keys: 'i', label: text.keys.person, group: 'thread', run: () => setPerson(other) },
    { keys: 'mod+p', label: text.keys.print, group: 'thread', run: () => void print() },
  ])
  const context = {
    capturedExcept: service.captured ? service.mailDomain : null,
    showPerson: setPerson,
    onDeleted: () => {
      if (messages.length === 1) go(back)
    },
  }
  return (
    <ThreadProvider value={context}>
      <div className="thread">
        <Head
          thread={thread}
          labels={labels}
          back={back}
          marks={marks}
          onPerson={other ? () => setPerson(other) : undefined}
          onNote={note.begin}
          onPrint={() => void print()}
        >
          <Triage triage={triage} />
        </Head>
        <Messages agentId={thread.agentId} messages={messages} older={older} />
        <Notes thread={thread} note={note} />
        {refused.length > 0 ? (
          <RefusedBar messages={refused} />
        ) : (
          answered && (
            <Answer agentId={thread.agentId} threadId={thread.id} to={answered} messages={newestFirst} />
          )
        )}
        <div ref={end} />
      </div>
      {person && (
        <Suspense>
          <Correspondent person={person} onClose={() => setPerson(null)} />
        </Suspense>
      )}
    </ThreadProvider>
  )
}

/** A conversation, its newest message last, and the field to answer in. */
export const Thread = ({ id, back, onNext }: { id: string; back: string; onNext(): void }) => (
  <Load from={useLive(THREAD, { id }, ['messages'])}>
    {({ thread, service }) => <Shown thread={thread} service={service} back={back} onNext={onNext} />}
  </Load>
)
