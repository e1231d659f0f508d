import { useRef, useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { SendIcon } from '../parts/icons.tsx'
import { say } from '../parts/toast.ts'
import { useKeys } from '../shell/keys.ts'
import { useAgents } from '../shell/viewer.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const SEND = graphql(`
  mutation Answer($input: SendMessageInput!) {
    sendMessage(input: $input) { message { id threadId hold { reason } } }
  }
`)

/** The field to answer a message in. */
export const Answer = ({ agentId, to }: { agentId: string; to: ShownMessage }) => {
  const [answer, setAnswer] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const agent = useAgents().find(({ id }) => id === agentId)
  const { run, busy, failure } = useAction(SEND, { quiet: true })
  const send = async () => {
    if (busy || answer.trim() === '') return
    const sent = await run({ input: { agentId, replyTo: to.id, text: answer } })
    if (!sent?.sendMessage) return
    setAnswer('')
    say({ kind: 'done', text: sent.sendMessage.message.hold ? text.held : text.sent })
  }
  useKeys([
    { keys: 'r', label: text.keys.answer, group: 'thread', run: () => field.current?.focus() },
    { keys: 'mod+enter', label: text.send, group: 'thread', inFields: true, run: () => void send() },
  ])
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <TextField
        ref={field}
        label={text.answerTo(to.counterpartName ?? to.counterpart)}
        hint={agent && text.answerAs(agent.name)}
        error={failure?.message}
        value={answer}
        onChange={(event) => setAnswer(event.target.value)}
        maxLength={32_000}
      />
      <Button kind="primary" submit icon={SendIcon} busy={busy}>
        {text.send}
      </Button>
    </form>
  )
}
