import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { say } from '../parts/toast.ts'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const UNSUBSCRIBE = graphql(`
  mutation Unsubscribe($input: UnsubscribeInput!) {
    unsubscribe(input: $input) { message { id checks { name verdict detail } } }
  }
`)

/** The button of a mail whose sender says, in a way that can be trusted, how to get no more of it. */
export const Unsubscribe = ({ message }: { message: ShownMessage }) => {
  const action = useAction(UNSUBSCRIBE)
  const way = message.checks.find(({ name }) => name === 'unsubscribe')?.verdict
  if (way === undefined) return null
  if (way === 'requested') return <p className="soft">{text.unsubscribe.requested}</p>
  const unsubscribe = async () => {
    const done = await action.run({ input: { agentId: message.agent.id, messageId: message.id } })
    if (done) say({ kind: 'done', text: way === 'mail' ? text.unsubscribe.mailed : text.unsubscribe.done })
  }
  return (
    <p className="row">
      <span className="soft">{text.unsubscribe.offer}</span>
      <Button busy={action.busy} onClick={() => void unsubscribe()}>
        {text.unsubscribe.do}
      </Button>
    </p>
  )
}
