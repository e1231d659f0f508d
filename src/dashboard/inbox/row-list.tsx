import { memo, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Badge } from '../parts/badge.tsx'
import { MessageSquareIcon, ReplyIcon, SmartphoneIcon } from '../parts/icons.tsx'
import { Time } from '../parts/time.tsx'
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

interface LineProps {
  row: Row
  href: string
  current: boolean
  selected: boolean
  onSelect(id: string): void
  agent: AgentRef | undefined
}

const Line = memo(({ row, href, current, selected, onSelect, agent }: LineProps) => {
  const ref = useRef<HTMLAnchorElement>(null)
  const Channel = CHANNEL_ICONS[row.channel]
  const who = row.who || text.unknown
  useEffect(() => {
    if (current) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <li className={selected ? 'thread-item selected' : 'thread-item'}>
      <input
        type="checkbox"
        className="thread-check"
        aria-label={text.select(who)}
        checked={selected}
        onChange={() => onSelect(row.id)}
      />
      <Link
        ref={ref}
        href={href}
        className={row.isUnread ? 'thread-row unread' : 'thread-row'}
        aria-current={current ? 'true' : undefined}
      >
        <span className="thread-line">
          {row.isUnread && <span className="unseen">{text.unreadMark}</span>}
          <span className="thread-who">{who}</span>
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
          <span className="thread-subject">{row.subject ?? text.noSubject}</span>
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
      </Link>
    </li>
  )
})

interface ListProps {
  rows: readonly Row[]
  /** The thread that is open. */
  current: string | undefined
  hrefOf(id: string): string
  /** Names the agent of each thread, in a list over all. */
  showAgent: boolean
  selected: ReadonlySet<string>
  onSelect(id: string): void
}

export const RowList = ({ rows, current, hrefOf, showAgent, selected, onSelect }: ListProps) => {
  const agents = useAgents()
  return (
    <ul className={selected.size > 0 ? 'thread-list selecting' : 'thread-list'} aria-label={text.list}>
      {rows.map((row) => (
        <Line
          key={row.id}
          row={row}
          href={hrefOf(row.threadId)}
          current={row.threadId === current}
          selected={selected.has(row.id)}
          onSelect={onSelect}
          agent={showAgent ? agents.find(({ id }) => id === row.agentId) : undefined}
        />
      ))}
    </ul>
  )
}
