import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import {
  ArrowLeftIcon,
  ClockIcon,
  MailIcon,
  PencilIcon,
  PrinterIcon,
  UserRoundIcon,
} from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { Time } from '../parts/time.tsx'
import { useAgents } from '../screen/viewer.tsx'
import { Assign } from './assign.tsx'
import { Labels } from './labels.tsx'
import { text } from './strings.ts'
import type { useMarks } from './use-marks.ts'

interface HeadThread {
  id: string
  agentId: string
  subject: string | null
  unreadCount: number
  doneAt: string | null
  snoozedUntil: string | null
  assignedTo: { id: string; name: string } | null
}

/** That nobody needs to look at it, or until when. */
const State = ({ thread: { doneAt, snoozedUntil } }: { thread: HeadThread }) => {
  if (doneAt) return <Badge tone="good">{text.done}</Badge>
  return snoozedUntil ? (
    <Badge icon={ClockIcon}>
      {text.snoozedUntil} <Time at={snoozedUntil} detailed />
    </Badge>
  ) : null
}

interface HeadProps {
  thread: HeadThread
  labels: readonly string[]
  back: string
  marks: ReturnType<typeof useMarks>
  onPerson: (() => void) | undefined
  onNote(): void
  onPrint(): void
  /** More buttons. */
  children?: ReactNode
}

/** The subject, which stays in sight, and what can be done with the thread. */
export const Head = ({ thread, labels, back, marks, onPerson, onNote, onPrint, children }: HeadProps) => {
  const agent = useAgents().find(({ id }) => id === thread.agentId)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // On narrow screens the list, which had the focus, is gone.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header className="thread-head">
      <div className="thread-bar">
        <Link href={back} className="button ghost square thread-back" aria-label={text.back}>
          <ArrowLeftIcon />
        </Link>
        <h1 ref={heading} tabIndex={-1} dir="auto">
          {thread.subject ?? text.noSubject}
        </h1>
      </div>
      <div className="thread-tools">
        {agent && (
          <Link href={`/agents/${agent.id}`} className="thread-of">
            <AgentIcon name={agent.icon} size={14} />
            {agent.name}
          </Link>
        )}
        <State thread={thread} />
        <Labels labels={labels} onAdd={marks.addLabel} onRemove={(label) => void marks.removeLabel(label)} />
        {children}
        <Assign thread={thread} />
        <Menu label={text.moreOfThread}>
          {onPerson && (
            <Button kind="ghost" icon={UserRoundIcon} onClick={onPerson}>
              {text.keys.person}
            </Button>
          )}
          <Button kind="ghost" icon={MailIcon} onClick={() => void marks.unread()}>
            {text.unread}
          </Button>
          <Button kind="ghost" icon={PencilIcon} onClick={onNote}>
            {text.notes.add}
          </Button>
          <Button kind="ghost" icon={PrinterIcon} onClick={onPrint}>
            {text.print}
          </Button>
        </Menu>
      </div>
    </header>
  )
}
