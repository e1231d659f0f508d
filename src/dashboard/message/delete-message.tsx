import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { say } from '../parts/toast.ts'
import { useThreadContext } from './context.ts'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const DELETE = graphql(`
  mutation DeleteShownMessage($input: DeleteMessagesInput!) { deleteMessages(input: $input) { ids } }
`)

/** Asks before a message is deleted, for its agent too. */
export const DeleteMessage = ({ message, onClose }: { message: ShownMessage; onClose(): void }) => {
  const { run } = useAction(DELETE)
  const { onDeleted } = useThreadContext()
  const remove = async () => {
    if (!(await run({ input: { agentId: message.agent.id, ids: [message.id] } }))) return false
    say({ kind: 'done', text: text.deletion.done })
    onDeleted?.()
    announce([{ topic: 'messages', agentId: message.agent.id }])
    return true
  }
  return (
    <Confirm title={text.deletion.title} label={text.deletion.do} onConfirm={remove} onClose={onClose}>
      <p>{text.deletion.hint}</p>
    </Confirm>
  )
}
