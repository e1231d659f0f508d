import type { ShownMessage } from '../message/message-fields.ts'
import { Button } from '../parts/button.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { useLetIn } from '../waiting/use-let-in.ts'
import { text } from './strings.ts'

/** Stands in the place of the answer while the newest message is refused: it is let in before it is answered. */
export const RefusedBar = ({ messages }: { messages: readonly ShownMessage[] }) => {
  const { letIn, block, busy } = useLetIn()
  const { may } = useViewer()
  const newest = messages[0]
  if (!newest) return null
  return (
    <section className="answer refused-bar" aria-label={text.refusedBar.label}>
      <p>{may.setAccess ? text.refusedBar.hint : text.refusedBar.noRight}</p>
      {may.setAccess && (
        <div className="row">
          <Button kind="primary" busy={busy} onClick={() => void letIn(messages, false)}>
            {text.refusedBar.letIn}
          </Button>
          <Button busy={busy} onClick={() => void letIn(messages, true)}>
            {text.refusedBar.letInAlways}
          </Button>
          <Button kind="danger" busy={busy} onClick={() => void block([newest])}>
            {text.refusedBar.block}
          </Button>
        </div>
      )}
    </section>
  )
}
