import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { Button } from '../parts/button.tsx'
import { ClockIcon } from '../parts/icons.tsx'
import { More } from '../parts/list/more.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useKeys } from '../screen/keys.ts'
import { Bulk, type Verdict } from './bulk.tsx'
import { Held } from './held-message.tsx'
import { Outcome } from './outcome.tsx'
import type { HeldRow } from './queries.ts'
import { text } from './strings.ts'
import { useCurrent } from './use-current.ts'
import { type Queue, useQueue } from './use-queue.ts'
import { type Selection, useSelection } from './use-selection.ts'

interface LineProps {
  row: HeldRow
  isDecided: boolean
  isCurrent: boolean
  selection: Selection
  onChoose(): void
}

const Line = ({ row, isDecided, isCurrent, selection, onChoose }: LineProps) => {
  const { id, subject, preview, to, cc, bcc, agent, createdAt } = row
  const title = subject ?? (preview || text.noSubject)
  return (
    <li className={['queue-line', isDecided && 'decided', isCurrent && 'current'].filter(Boolean).join(' ')}>
      {!isDecided && (
        <input
          type="checkbox"
          aria-label={text.choose(title)}
          checked={selection.has(id)}
          onChange={() => selection.toggle(id)}
        />
      )}
      <button type="button" data-row={id} aria-current={isCurrent ? 'true' : undefined} onClick={onChoose}>
        <span className="row between">
          <strong dir="auto">{title}</strong>
          <Time at={createdAt} />
        </span>
        <span className="hint">{text.fromTo(agent.name, [...to, ...cc, ...bcc].join(', '))}</span>
        {isDecided && <Outcome id={id} />}
      </button>
    </li>
  )
}

const Bar = ({
  selection,
  count,
  onAsk,
}: {
  selection: Selection
  count: number
  onAsk(verdict: Verdict): void
}) => (
  <div className="queue-bar row">
    <label className="row">
      <input
        type="checkbox"
        checked={count > 0 && selection.ids.length === count}
        onChange={selection.all}
        disabled={count === 0}
      />
      {text.selectAll}
    </label>
    {selection.ids.length > 0 && (
      <>
        <Button onClick={() => onAsk('approve')}>{text.approveMany(selection.ids.length)}</Button>
        <Button kind="danger" onClick={() => onAsk('reject')}>
          {text.rejectMany(selection.ids.length)}
        </Button>
      </>
    )}
  </div>
)

/** The message after the given one on which nobody has decided, or else the first such. */
const nextOf = ({ rows, open }: Queue, decided: readonly string[]): string | undefined => {
  const last = rows.findLastIndex(({ id }) => decided.includes(id))
  const left = open.filter(({ id }) => !decided.includes(id))
  return (left.find((row) => rows.indexOf(row) > last) ?? left[0])?.id
}

const List = ({ queue }: { queue: Queue }) => {
  const { rows, open, pages, isDecided, settle } = queue
  const [search] = useSearchParams()
  const current = useCurrent(
    rows.map(({ id }) => id),
    search.get('message'),
  )
  const selection = useSelection(
    open.map(({ id }) => id),
    current.id,
  )
  const [asked, setAsked] = useState<Verdict | null>(null)
  const ask = (verdict: Verdict) => {
    if (selection.ids.length > 0) setAsked(verdict)
  }
  useKeys([
    { keys: 'A', label: text.keys.approveMany, group: 'list', run: () => ask('approve') },
    { keys: 'R', label: text.keys.rejectMany, group: 'list', run: () => ask('reject') },
  ])
  const shown = rows[current.index]
  const onDecided = (ids: readonly string[]) => {
    settle(ids)
    current.go(nextOf(queue, ids))
  }
  return (
    <div className="queue">
      <section className="queue-list panel" aria-label={text.approval}>
        <Bar selection={selection} count={open.length} onAsk={setAsked} />
        {open.length === 0 && <p className="queue-done">{text.nothingHeld}</p>}
        <ul>
          {rows.map((row) => (
            <Line
              key={row.id}
              row={row}
              isDecided={isDecided(row)}
              isCurrent={row.id === current.id}
              selection={selection}
              onChoose={() => current.choose(row.id)}
            />
          ))}
        </ul>
        {pages.more && <More busy={pages.busy} onMore={pages.more} />}
      </section>
      {shown && (
        <Held
          key={shown.id}
          row={shown}
          isDecided={isDecided(shown)}
          onDecided={() => onDecided([shown.id])}
        />
      )}
      {asked && (
        <Bulk
          verdict={asked}
          rows={open.filter(({ id }) => selection.has(id))}
          onDecided={onDecided}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  )
}

/** Messages of agents that wait for a member's approval, one after the other. */
export const HeldMessages = () => {
  const queue = useQueue()
  return (
    <Load from={queue.pages}>
      {() =>
        queue.rows.length > 0 ? (
          <List queue={queue} />
        ) : (
          <Empty icon={ClockIcon} title={text.nothingHeld}>
            <p>{text.approvalHint}</p>
          </Empty>
        )
      }
    </Load>
  )
}
