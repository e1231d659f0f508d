import { memo, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { Link } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Badge } from '../parts/badge.tsx'
import { MessageSquareIcon, ReplyIcon, SmartphoneIcon } from '../parts/icons.tsx'
import { Time } from '../parts/time.tsx'
import { showRow, useWindow } from '../parts/use-window.ts'
import { type AgentRef, useAgents } from '../shell/viewer.tsx'
import type { Row } from './row.ts'
import { text } from './strings.ts'

/** The state of the message, where it asks for attention. */
const State = ({ message }: { message: NonNullable<Row['message']> }) => {
  const { status, hold } = message
  if (status === 'sending' && hold)
    return <Badge tone="warn">{hold.reason === 'approval' ? text.waiting : text.scheduled}</Badge>
  if (status === 'failed' || status === 'refused') return <Badge tone="bad">{text[status]}</Badge>
  if (status === 'sending') return <Badge>{text.sending}</Badge>
  return null
}

const CHANNEL_ICONS = { email: null, sms: SmartphoneIcon, telegram: MessageSquareIcon }

/** As `--row` in the style, in root ems. */
const ROW_REM = 4.7
const ROW = ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

interface LineProps {
  row: Row
  /** Its place in the list, from 0, and how many there are. */
  index: number
  count: number
  href: string
  current: boolean
  selected: boolean
  onSelect(id: string): void
  agent: AgentRef | undefined
}

const Line = memo(({ row, index, count, href, current, selected, onSelect, agent }: LineProps) => {
  const Channel = CHANNEL_ICONS[row.channel]
  const who = row.who || text.unknown
  return (
    <li
      className={['thread-item', selected && 'selected', current && 'current', row.isUnread && 'is-unread']
        .filter(Boolean)
        .join(' ')}
      style={{ top: `${index * ROW_REM}rem` }}
      aria-posinset={index + 1}
      aria-setsize={count}
    >
      <input
        type="checkbox"
        className="thread-check"
        aria-label={text.select(who)}
        checked={selected}
        onChange={() => onSelect(row.id)}
      />
      <Link
        href={href}
        className={row.isUnread ? 'thread-row unread' : 'thread-row'}
        aria-current={current ? 'true' : undefined}
      >
        <span className="thread-line">
          {row.isUnread && <span className="unseen">{text.unreadMark}</span>}
          <span className="thread-who" dir="auto">
            {who}
          </span>
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
            {row.subject ?? text.noSubject}
          </span>
          {row.message && <State message={row.message} />}
          {row.message?.labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
          {agent && (
            <span className="thread-agent">
              <AgentIcon name={agent.icon} size={12} />
              {agent.name}
            </span>
          )}
        </span>
        <span className="thread-preview" dir="auto">
          {row.message?.preview}
        </span>
      </Link>
    </li>
  )
})

interface ListProps {
  rows: readonly Row[]
  /** The thread that is open, or was before the list was shown again. */
  current: string | undefined
  isOpen: boolean
  hrefOf(id: string): string
  /** Names the agent of each thread, in a list over all. */
  showAgent: boolean
  selected: ReadonlySet<string>
  onSelect(id: string): void
  scroller: RefObject<HTMLElement | null>
}

/** Keeps what is visible in its place when rows are added above it. */
const useStill = (scroller: RefObject<HTMLElement | null>, rows: readonly Row[]): void => {
  const seen = useRef({ rows, index: 0 })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const before = seen.current
    const id = before.rows[before.index]?.id
    const index = before.rows === rows ? before.index : rows.findIndex((row) => row.id === id)
    if (element.scrollTop > 0 && index >= 0) element.scrollTop += (index - before.index) * ROW
    seen.current = { rows, index: Math.floor(element.scrollTop / ROW) }
  })
}

/** The lines near what is visible: thousands of them would make scrolling slow. */
export const RowList = ({
  rows,
  current,
  isOpen,
  hrefOf,
  showAgent,
  selected,
  onSelect,
  scroller,
}: ListProps) => {
  const agents = useAgents()
  const { from, to } = useWindow(scroller, ROW)
  useStill(scroller, rows)
  const at = rows.findIndex(({ threadId }) => threadId === current)
  useEffect(() => {
    if (scroller.current && at >= 0) showRow(scroller.current, at, ROW)
  }, [scroller, at])
  return (
    <ul
      className={selected.size > 0 ? 'thread-list selecting' : 'thread-list'}
      aria-label={text.list}
      style={{ height: `${rows.length * ROW_REM}rem` }}
    >
      {rows.slice(from, to).map((row, offset) => (
        <Line
          key={row.id}
          row={row}
          index={from + offset}
          count={rows.length}
          href={hrefOf(row.threadId)}
          current={isOpen && row.threadId === current}
          selected={selected.has(row.id)}
          onSelect={onSelect}
          agent={showAgent ? agents.find(({ id }) => id === row.agentId) : undefined}
        />
      ))}
    </ul>
  )
}
