import { type KeyboardEvent, memo, type RefObject, useEffect } from 'react'
import { Link } from 'wouter'
import { iconOf } from '../channels/channels.ts'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Badge } from '../parts/badge.tsx'
import { MessageSquareIcon, ReplyIcon, SmartphoneIcon } from '../parts/icons.tsx'
import { Highlight, type Sought } from '../parts/list/highlight.tsx'
import { showRow, useWindow } from '../parts/list/use-window.ts'
import { Time } from '../parts/time.tsx'
import { type AgentRef, useAgents } from '../screen/viewer.tsx'
import { isAway, type Row } from '../triage/row.ts'
import { text } from './strings.ts'
import { type Cursor, idOfRow } from './use-cursor.ts'
import type { List } from './use-list.ts'
import type { Selection } from './use-selection.ts'
import { useStill } from './use-still.ts'

/** The state of the message or of its thread, where it asks for attention. */
const State = ({ row }: { row: Row }) => {
  const { status, hold } = row.message ?? {}
  if (status === 'sending' && hold)
    return <Badge tone="warn">{hold.reason === 'approval' ? text.waiting : text.scheduled}</Badge>
  if (status === 'failed' || status === 'refused') return <Badge tone="bad">{text[status]}</Badge>
  if (status === 'sending') return <Badge>{text.sending}</Badge>
  return null
}

/** Where the thread is, if it is not open: rows that have just left the list still stand in it. */
const Away = ({ row: { doneAt, snoozedUntil } }: { row: Row }) => {
  if (doneAt) return <Badge tone="good">{text.done}</Badge>
  return (
    snoozedUntil && (
      <Badge>
        {text.snoozedUntil} <Time at={snoozedUntil} />
      </Badge>
    )
  )
}

const CHANNEL_ICONS = { phone: SmartphoneIcon, chat: MessageSquareIcon }

/** As `--row` in the style, in root ems. */
const ROW_REM = 4.75
const ROW = ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

interface LineProps {
  row: Row
  /** Its place in the list, from 0, and how many there are. */
  index: number
  count: number
  href: string
  /** Its thread is open. */
  isOpen: boolean
  /** The cursor is on it: of all rows, Tab leads to this one. */
  isCurrent: boolean
  selected: boolean
  selecting: boolean
  onSelect(id: string, isRange: boolean): void
  onFocus(id: string): void
  agent: AgentRef | undefined
  sought: readonly Sought[]
}

/** Where the service has found the words in the text. */
const Fragment = ({ of }: { of: NonNullable<Row['found']> }) =>
  of.map(({ text: part, matched }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fragment never change places
    matched ? <mark key={index}>{part}</mark> : <span key={index}>{part}</span>,
  )

const Words = ({ row, agent, sought }: Pick<LineProps, 'agent' | 'row' | 'sought'>) => {
  const icon = iconOf(row.channel)
  const Channel = icon && CHANNEL_ICONS[icon]
  return (
    <>
      <span className="thread-line">
        {row.isUnread && <span className="unseen">{text.unreadMark}</span>}
        <bdi className="thread-who">{row.who || text.unknown}</bdi>
        {row.messageCount > 1 && (
          <span className="thread-count" title={text.messages(row.messageCount)}>
            {row.messageCount}
          </span>
        )}
        <Time at={row.at} />
      </span>
      <span className="thread-line">
        {row.message?.direction === 'outbound' && <ReplyIcon size={13} />}
        {Channel && <Channel size={13} />}
        <span className="thread-subject" dir="auto">
          {row.subject === null ? text.noSubject : <Highlight text={row.subject} sought={sought} />}
        </span>
        <State row={row} />
        <Away row={row} />
        {row.labels.map((label) => (
          <Badge key={label}>{label}</Badge>
        ))}
        {row.assignedTo && <Badge>{row.assignedTo.name}</Badge>}
        {agent && (
          <span className="thread-agent">
            <AgentIcon name={agent.icon} size={12} />
            <span>{agent.name}</span>
          </span>
        )}
      </span>
      <span className="thread-preview" dir="auto">
        {row.found ? (
          <Fragment of={row.found} />
        ) : (
          <Highlight text={row.message?.preview ?? ''} sought={sought} />
        )}
      </span>
    </>
  )
}

const Line = memo((props: LineProps) => {
  const { row, index, count, href, isOpen, isCurrent, selected, selecting, onSelect, onFocus } = props
  const state = [
    selected && 'selected',
    isOpen && 'current',
    row.isUnread && 'is-unread',
    isAway(row) && 'away',
  ]
  return (
    <li
      className={['thread-item', ...state].filter(Boolean).join(' ')}
      style={{ top: `${index * ROW_REM}rem` }}
      aria-posinset={index + 1}
      aria-setsize={count}
      onFocus={() => onFocus(row.id)}
    >
      <label className="thread-check">
        <input
          type="checkbox"
          tabIndex={isCurrent ? 0 : -1}
          aria-label={text.select(row.who || text.unknown)}
          checked={selected}
          onChange={({ nativeEvent }) => onSelect(row.id, (nativeEvent as MouseEvent).shiftKey)}
        />
      </label>
      <Link
        id={idOfRow(row.id)}
        href={href}
        tabIndex={isCurrent ? 0 : -1}
        className={row.isUnread ? 'thread-row unread' : 'thread-row'}
        aria-current={isOpen ? 'true' : undefined}
        onClick={(event) => {
          // On a touch screen, a tap goes on selecting.
          if (!selecting || !matchMedia('(hover: none)').matches) return
          event.preventDefault()
          onSelect(row.id, false)
        }}
      >
        <Words {...props} />
      </Link>
    </li>
  )
})

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }

interface ListProps {
  list: List
  rows: readonly Row[]
  cursor: Cursor
  selection: Selection
  /** The thread that is open. */
  thread: string | undefined
  scroller: RefObject<HTMLElement | null>
}

/** The lines near what is visible, and the one with the cursor: thousands of them would make scrolling slow. */
export const RowList = ({ list, rows, cursor, selection, thread, scroller }: ListProps) => {
  const agents = useAgents()
  const { from, to } = useWindow(scroller, ROW)
  const { above, toTop } = useStill(scroller, rows, ROW)
  const { index, asked } = cursor
  const opened = index >= 0 ? thread : undefined
  // Not for each row that the cursor comes to: with a press of the pointer, it would scroll away below it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: shown when the keyboard moves, and when a thread opens
  useEffect(() => {
    if (scroller.current && index >= 0) showRow(scroller.current, index, ROW)
  }, [scroller, asked, opened])
  const shown = rows.slice(from, to).map((_, offset) => from + offset)
  if (index >= 0 && (index < from || index >= to)) shown.push(index)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined || thread) return
    event.preventDefault()
    cursor.move(step)
  }
  return (
    <>
      {above > 0 && (
        <button type="button" className="above" onClick={toTop}>
          {text.newAbove(above)}
        </button>
      )}
      <ul
        className={selection.ids.size > 0 ? 'thread-list selecting' : 'thread-list'}
        aria-label={text.list}
        style={{ height: `${rows.length * ROW_REM}rem` }}
        onKeyDown={onKeyDown}
      >
        {shown.map((at) => {
          const row = rows[at]!
          return (
            <Line
              key={row.id}
              row={row}
              index={at}
              count={rows.length}
              href={list.hrefOf(row.threadId)}
              isOpen={row.threadId === thread}
              isCurrent={at === Math.max(0, index)}
              selected={selection.ids.has(row.id)}
              selecting={selection.ids.size > 0}
              onSelect={selection.toggle}
              onFocus={cursor.set}
              agent={list.agent ? undefined : agents.find(({ id }) => id === row.agentId)}
              sought={list.sought}
            />
          )
        })}
      </ul>
    </>
  )
}
