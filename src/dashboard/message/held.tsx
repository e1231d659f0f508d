import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { toInput } from '../parts/form/local-time.ts'
import { Form } from '../parts/form.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const CANCEL = graphql(`
  mutation CancelMessage($input: CancelMessageInput!) { cancelMessage(input: $input) { message { id status } } }
`)
const MOVE = graphql(`
  mutation RescheduleMessage($input: RescheduleMessageInput!) {
    rescheduleMessage(input: $input) { message { id hold { until } } }
  }
`)

const Schedule = ({ message, until }: { message: ShownMessage; until: string }) => {
  const [at, setAt] = useState(() => toInput(new Date(until)))
  const cancel = useAction(CANCEL)
  const move = useAction(MOVE)
  const ids = { agentId: message.agent.id, messageId: message.id }
  return (
    <Form
      className="row"
      onSubmit={async () => {
        const moved = await move.run({ input: { ...ids, sendAt: new Date(at).toISOString() } })
        if (moved) say({ kind: 'done', text: text.hold.moved })
      }}
    >
      <label className="row">
        <span>{text.hold.sendAt}</span>
        <input
          type="datetime-local"
          className="when"
          value={at}
          onChange={({ target }) => setAt(target.value)}
          required
        />
      </label>
      <Button submit busy={move.busy}>
        {text.hold.move}
      </Button>
      <Button
        kind="danger"
        busy={cancel.busy}
        onClick={async () => {
          if (await cancel.run({ input: ids })) say({ kind: 'done', text: text.hold.cancelled })
        }}
      >
        {text.hold.cancel}
      </Button>
    </Form>
  )
}

/** What a message waits for that is not sent yet, and what can be done about it. */
export const Held = ({
  message,
  hold,
}: {
  message: ShownMessage
  hold: NonNullable<ShownMessage['hold']>
}) => (
  <div className="note">
    {hold.reason === 'approval' ? (
      <>
        <p>{text.hold.approval}</p>
        <LinkButton href="/waiting">{text.hold.review}</LinkButton>
      </>
    ) : (
      <>
        <p>
          {text.hold.schedule} {hold.until && <Time at={hold.until} detailed />}
        </p>
        {hold.until && <Schedule message={message} until={hold.until} />}
      </>
    )}
  </div>
)
