import { useRef } from 'react'
import { EMPTY } from '../compose/letter.ts'
import { LetterForm } from '../compose/letter-form.tsx'
import { text } from '../compose/strings.ts'
import { useLetter } from '../compose/use-letter.ts'
import { useKeys } from '../shell/keys.ts'
import { useAgents } from '../shell/viewer.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text as threadText } from './strings.ts'

/** The field to answer a message in. */
export const Answer = ({ agentId, to }: { agentId: string; to: ShownMessage }) => {
  const field = useRef<HTMLTextAreaElement>(null)
  const agent = useAgents().find(({ id }) => id === agentId)
  const writing = useLetter(to.id, { ...EMPTY, agentId, channel: to.channel, replyTo: to.id })
  useKeys([{ keys: 'r', label: threadText.keys.answer, group: 'thread', run: () => field.current?.focus() }])
  return (
    <section className="answer">
      <LetterForm
        writing={writing}
        textRef={field}
        label={text.answerTo(to.counterpartName ?? to.counterpart)}
        hint={agent && `${text.writtenAs(agent.name)} ${text.fromHint}`}
        onSent={() => undefined}
        onSaved={() => undefined}
      />
    </section>
  )
}
