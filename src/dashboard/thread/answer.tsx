import { useRef } from 'react'
import { answerTo, everybodyOf } from '../compose/answer-to.ts'
import { EMPTY, type Words } from '../compose/letter.ts'
import { LetterForm } from '../compose/letter-form.tsx'
import { text } from '../compose/strings.ts'
import { signed, useWritingAgent } from '../compose/use-agent.ts'
import { useLetter } from '../compose/use-letter.ts'
import { Writers } from '../compose/writers.tsx'
import type { ShownMessage } from '../message/message-fields.ts'
import { Button } from '../parts/button.tsx'
import { Toggle } from '../parts/form/field.tsx'
import { keptOf } from '../parts/kept.ts'
import { useKeys } from '../screen/keys.ts'
import { useAgents, useViewer } from '../screen/viewer.tsx'
import { text as threadText } from './strings.ts'

const newestOf = (messages: readonly ShownMessage[]): ShownMessage | undefined =>
  messages.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)).at(-1)

/** What somebody else sent since the answer was begun. */
const sentSince = ({ since }: Words, messages: readonly ShownMessage[], self: string): string | null => {
  const others = messages.filter(
    ({ direction, createdAt, sentBy }) =>
      direction === 'outbound' && since !== null && createdAt > since && sentBy?.id !== self,
  )
  const newest = newestOf(others)
  return newest
    ? text.answeredMeanwhile(newest.sentBy?.name ?? text.somebody, newest.text.slice(0, 200))
    : null
}

interface AnswerProps {
  agentId: string
  threadId: string
  /** The newest message that can be answered. */
  to: ShownMessage
  /** The messages of the thread that are loaded, in any order. */
  messages: readonly ShownMessage[]
}

/** The field to answer a thread in. What is written in it stays an answer to the message for which it was begun. */
export const Answer = ({ agentId, threadId, to, messages }: AnswerProps) => {
  const field = useRef<HTMLTextAreaElement>(null)
  const viewer = useViewer()
  const name = useAgents().find(({ id }) => id === agentId)?.name ?? ''
  const agent = useWritingAgent(agentId)
  const since = newestOf(messages)?.createdAt ?? null
  const blank = {
    ...{ ...EMPTY, agentId, channel: to.channel, replyTo: to.id },
    ...{ text: signed(agent, to.channel), since },
  }
  const place = keptOf(viewer, 'letter', agentId, 'answer', threadId)
  const writing = useLetter(place, blank, (words) => sentSince(words, messages, viewer.id))
  const { letter, change } = writing
  const answered = messages.find(({ id }) => id === letter.replyTo) ?? to
  const everybody = everybodyOf(answered, agent)
  const switchAll = () => change({ replyAll: !letter.replyAll })
  useKeys([
    { keys: 'r', label: threadText.keys.answer, group: 'thread', run: () => field.current?.focus() },
    {
      keys: 'R',
      label: text.keys.replyAll,
      group: 'thread',
      run: () => {
        if (everybody && !letter.replyAll) switchAll()
        field.current?.focus()
      },
    },
  ])
  const goesTo = (letter.replyAll ? everybody : null) ?? { to: answerTo(answered), cc: [] }
  return (
    <section className="answer">
      <Writers threadId={threadId} agentId={agentId} letter={writing} />
      <LetterForm
        writing={writing}
        agent={agent}
        textRef={field}
        label={text.answerTo(answered.counterpartName ?? answered.counterpart)}
        hint={`${text.goesTo(goesTo.to.join(', '), goesTo.cc.join(', '))} ${text.writtenAs(name)}`}
        onSent={() => undefined}
      >
        {answered.id !== to.id && (
          <div className="note">
            <p>{text.newerMessage(to.counterpartName ?? to.counterpart)}</p>
            <Button onClick={() => change({ replyTo: to.id, replyAll: false, since })}>
              {text.answerNewer}
            </Button>
          </div>
        )}
        {everybody && (
          <Toggle
            label={text.replyAll(everybody.to.length + everybody.cc.length)}
            checked={letter.replyAll}
            onChange={switchAll}
          />
        )}
      </LetterForm>
    </section>
  )
}
