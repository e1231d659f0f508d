import { useState } from 'react'
import { Link } from 'wouter'
import type { ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { Button } from '../parts/button.tsx'
import { More } from '../parts/more.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../shell/viewer.tsx'
import { REFUSED, type RefusedMessage } from './queries.ts'
import { text } from './strings.ts'
import { useLetIn } from './use-let-in.ts'

interface RowProps {
  message: RefusedMessage
  chosen: boolean
  onChoose(chosen: boolean): void
}

const Row = ({ message, chosen, onChoose }: RowProps) => {
  const { letIn, block, busy } = useLetIn()
  const { may } = useViewer()
  const subject = message.subject ?? text.noSubject
  return (
    <li className="refused">
      <input
        type="checkbox"
        aria-label={text.choose(subject)}
        checked={chosen}
        onChange={(event) => onChoose(event.target.checked)}
      />
      <div>
        <div className="row between">
          <Link href={`/inbox/${message.threadId}`}>{subject}</Link>
          <span className="hint">
            {text.refusedFor(message.agent.name)} · <Time at={message.createdAt} />
          </span>
        </div>
        <p>
          {message.counterpartName
            ? `${message.counterpartName} <${message.counterpart}>`
            : message.counterpart}
        </p>
        {message.refusal && <p className="hint">{text.reasons[message.refusal]}</p>}
        {may.setAccess && (
          <div className="row">
            <Button busy={busy} onClick={() => void letIn([message], false)}>
              {text.letIn}
            </Button>
            <Button busy={busy} onClick={() => void letIn([message], true)}>
              {text.letInAlways}
            </Button>
            <Button kind="danger" busy={busy} onClick={() => void block(message)}>
              {text.block}
            </Button>
          </div>
        )}
      </div>
    </li>
  )
}

/** Messages that were refused, to let in one by one or several at once. */
export const RefusedMessages = () => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const { letIn, busy } = useLetIn()
  const pages = usePages({
    query: REFUSED,
    variables: {},
    pick: ({ workspace }: ResultOf<typeof REFUSED>) => workspace.messages,
    topics: ['messages'],
  })
  const marked = (pages.data ?? []).filter(({ id }) => chosen.has(id))
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  return (
    <section className="panel">
      <header className="row between">
        <h2>{text.refused}</h2>
        {marked.length > 0 && (
          <Button kind="primary" busy={busy} onClick={() => void letIn(marked, false)}>
            {text.letInChosen(marked.length)}
          </Button>
        )}
      </header>
      <Load from={pages}>
        {(messages) =>
          messages.length > 0 ? (
            <>
              <p className="panel-content hint">{text.refusedHint}</p>
              <ul>
                {messages.map((message) => (
                  <Row
                    key={message.id}
                    message={message}
                    chosen={chosen.has(message.id)}
                    onChoose={(isChosen) => choose(message.id, isChosen)}
                  />
                ))}
              </ul>
            </>
          ) : (
            <p className="panel-content soft">{text.nothingRefused}</p>
          )
        }
      </Load>
      {pages.more && <More busy={pages.busy} onMore={pages.more} />}
    </section>
  )
}
