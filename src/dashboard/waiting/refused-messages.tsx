import { Link } from 'wouter'
import type { ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { Button } from '../parts/button.tsx'
import { BanIcon } from '../parts/icons.tsx'
import { More } from '../parts/list/more.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useKeys } from '../screen/keys.ts'
import { useViewer } from '../screen/viewer.tsx'
import { REFUSED, type RefusedMessage } from './queries.ts'
import { text } from './strings.ts'
import { useCurrent } from './use-current.ts'
import { useLetIn } from './use-let-in.ts'
import { type Selection, useSelection } from './use-selection.ts'

type LetIn = ReturnType<typeof useLetIn>

/** What can be done with one or several refused messages. */
const Actions = ({
  messages,
  act,
  names,
}: {
  messages: readonly RefusedMessage[]
  act: LetIn
  names: { letIn: string; letInAlways: string; block: string }
}) => (
  <div className="row">
    <Button busy={act.busy} onClick={() => void act.letIn(messages, false)}>
      {names.letIn}
    </Button>
    <Button busy={act.busy} onClick={() => void act.letIn(messages, true)}>
      {names.letInAlways}
    </Button>
    <Button kind="danger" busy={act.busy} onClick={() => void act.block(messages)}>
      {names.block}
    </Button>
  </div>
)

interface RowProps {
  message: RefusedMessage
  selection: Selection
  isCurrent: boolean
  /** Tab leads here too: the keys are for the row that has the focus. */
  onFocus(): void
}

const Row = ({ message, selection, isCurrent, onFocus }: RowProps) => {
  const act = useLetIn()
  const { may } = useViewer()
  const { id, threadId, agent, counterpart, counterpartName, createdAt, refusal } = message
  const subject = message.subject ?? text.noSubject
  return (
    <li className={isCurrent ? 'refused current' : 'refused'} onFocus={onFocus}>
      <input
        type="checkbox"
        aria-label={text.choose(subject)}
        checked={selection.has(id)}
        onChange={() => selection.toggle(id)}
      />
      <div>
        <div className="row between">
          <Link href={`/inbox/${threadId}`} data-row={id} dir="auto">
            {subject}
          </Link>
          <span className="hint">
            {text.refusedFor(agent.name)} · <Time at={createdAt} />
          </span>
        </div>
        <p>
          <bdi>{counterpartName ? `${counterpartName} <${counterpart}>` : counterpart}</bdi>
        </p>
        {refusal && <p className="hint">{text.reasons[refusal]}</p>}
        {may.setAccess && <Actions messages={[message]} act={act} names={text} />}
      </div>
    </li>
  )
}

const List = ({ messages }: { messages: readonly RefusedMessage[] }) => {
  const { may } = useViewer()
  const act = useLetIn()
  const ids = messages.map(({ id }) => id)
  // The first is no more current than the others until a key is pressed.
  const current = useCurrent(ids, null, -1)
  const selection = useSelection(ids, current.id)
  const marked = messages.filter(({ id }) => selection.has(id))
  const here = messages.filter(({ id }) => id === current.id)
  const letIn = (always: boolean) => {
    if (may.setAccess && !act.busy) void act.letIn(marked.length > 0 ? marked : here, always)
  }
  useKeys([
    { keys: 'a', label: text.letIn, group: 'list', run: () => letIn(false) },
    { keys: 'A', label: text.letInAlways, group: 'list', run: () => letIn(true) },
  ])
  return (
    <section className="panel" aria-label={text.refused}>
      <p className="panel-content hint">{text.refusedHint}</p>
      <div className="queue-bar row">
        <label className="row">
          <input type="checkbox" checked={marked.length === messages.length} onChange={selection.all} />
          {text.selectAll}
        </label>
        {may.setAccess && marked.length > 0 && (
          <Actions messages={marked} act={act} names={text.many(marked.length)} />
        )}
      </div>
      <ul>
        {messages.map((message) => (
          <Row
            key={message.id}
            message={message}
            selection={selection}
            isCurrent={message.id === current.id}
            onFocus={() => current.choose(message.id)}
          />
        ))}
      </ul>
    </section>
  )
}

/** Messages that were refused, to let in one by one or several at once. */
export const RefusedMessages = () => {
  const pages = usePages({
    query: REFUSED,
    variables: {},
    pick: ({ workspace }: ResultOf<typeof REFUSED>) => workspace.messages,
    topics: ['messages'],
  })
  return (
    <>
      <Load from={pages}>
        {(messages) =>
          messages.length > 0 ? (
            <List messages={messages} />
          ) : (
            <Empty icon={BanIcon} title={text.nothingRefused}>
              <p>{text.refusedHint}</p>
            </Empty>
          )
        }
      </Load>
      {pages.more && <More busy={pages.busy} onMore={pages.more} />}
    </>
  )
}
