import { memo, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Badge } from '../parts/badge.tsx'
import { MessageSquareIcon, ReplyIcon, SmartphoneIcon } from '../parts/icons.tsx'
import { Time } from '../parts/time.tsx'
import { type AgentRef, useAgents } from '../shell/viewer.tsx'
import { text } from './strings.ts'
import type { ThreadRow } from './thread-row.ts'

const whoOf = ({ participants }: ThreadRow): string =>
  participants.map(({ name, address }) => name ?? address).join(', ') || text.unknown

/** The state of the newest message, where it asks for attention. */
const State = ({ message }: { message: NonNullable<ThreadRow['lastMessage']> }) => {
  if (message.hold?.reason === 'approval') return <Badge tone="warn">{text.waiting}</Badge>
  if (message.hold?.reason === 'schedule') return <Badge>{text.scheduled}</Badge>
  if (message.status === 'failed') return <Badge tone="bad">{text.failed}</Badge>
  if (message.status === 'refused') return <Badge tone="bad">{text.refused}</Badge>
  if (message.status === 'sending') return <Badge>{text.sending}</Badge>
  return null
}

const CHANNEL_ICONS = { email: null, sms: SmartphoneIcon, telegram: MessageSquareIcon }

interface RowProps {
  row: ThreadRow
  href: string
  current: boolean
  agent: AgentRef | undefined
}

const Row = memo(({ row, href, current, agent }: RowProps) => {
  const ref = useRef<HTMLAnchorElement>(null)
  const isUnread = row.unreadCount > 0
  const { lastMessage } = row
  const Channel = CHANNEL_ICONS[row.channel]
  useEffect(() => {
    if (current) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <li className="thread-item">
      <Link
        ref={ref}
        href={href}
        className={isUnread ? 'thread-row unread' : 'thread-row'}
        aria-current={current ? 'true' : undefined}
      >
        <span className="thread-line">
          {isUnread && <span className="unseen">{text.unreadMark}</span>}
          <span className="thread-who">{whoOf(row)}</span>
          {row.messageCount > 1 && (
            <span className="thread-count" title={text.messages(row.messageCount)}>
              {row.messageCount}
            </span>
          )}
          <Time at={row.lastActivityAt} />
        </span>
        <span className="thread-line">
          {lastMessage?.direction === 'outbound' && <ReplyIcon size={13} />}
          {Channel && <Channel size={13} />}
          <span className="thread-subject">{row.subject ?? text.noSubject}</span>
          {lastMessage && <State message={lastMessage} />}
          {lastMessage?.labels.map((label) => (
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
  rows: readonly ThreadRow[]
  current: string | undefined
  hrefOf(id: string): string
  /** Names the agent of each thread, in a list over all. */
  showAgent: boolean
}

export const ThreadList = ({ rows, current, hrefOf, showAgent }: ListProps) => {
  const agents = useAgents()
  return (
    <ul className="thread-list" aria-label={text.list}>
      {rows.map((row) => (
        <Row
          key={row.id}
          row={row}
          href={hrefOf(row.id)}
          current={row.id === current}
          agent={showAgent ? agents.find(({ id }) => id === row.agentId) : undefined}
        />
      ))}
    </ul>
  )
}
