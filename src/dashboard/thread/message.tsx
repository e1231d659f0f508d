import { useState } from 'react'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import {
  ChevronDownIcon,
  PaperclipIcon,
  ShieldAlertIcon,
  ShieldCheckIcon,
  ShieldXIcon,
} from '../parts/icons.tsx'
import { Time } from '../parts/time.tsx'
import { useAgents } from '../shell/viewer.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'
import { Delivery, Why } from './why.tsx'

const Status = ({ message }: { message: ShownMessage }) => {
  const { status, admission } = message
  if (status === 'refused')
    return (
      <Badge tone="bad" icon={ShieldXIcon}>
        {text.status.refused}
      </Badge>
    )
  if (status === 'failed' || status === 'reported') return <Badge tone="bad">{text.status[status]}</Badge>
  if (status === 'sending') return <Badge tone="warn">{text.status.sending}</Badge>
  if (status !== 'received') return null
  return admission === 'anyone' ? (
    <Badge tone="warn" icon={ShieldAlertIcon}>
      {text.status.received}
    </Badge>
  ) : (
    <Badge tone="good" icon={ShieldCheckIcon}>
      {text.status.received}
    </Badge>
  )
}

/** The text without what it quotes, which one button adds. */
const Body = ({ message }: { message: ShownMessage }) => {
  const [whole, setWhole] = useState(false)
  const folds =
    message.direction === 'inbound' &&
    message.replyText.trim() !== '' &&
    message.replyText.trim() !== message.text.trim()
  return (
    <>
      <div className="message-text" dir="auto">
        {folds && !whole ? message.replyText : message.text}
      </div>
      {folds && (
        <Button kind="ghost" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? text.hideQuoted : text.quoted}
        </Button>
      )}
    </>
  )
}

const Attachments = ({ message }: { message: ShownMessage }) => (
  <ul className="attachments" aria-label={text.attachments}>
    {message.attachments.map(({ name, size }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: attachments are known by their position
      <li key={index}>
        <PaperclipIcon size={14} />
        <span>{name}</span>
        <span className="soft">{text.size(size)}</span>
      </li>
    ))}
  </ul>
)

/** One message of a thread. */
export const Message = ({ message, agentId }: { message: ShownMessage; agentId: string }) => {
  const agent = useAgents().find(({ id }) => id === agentId)
  const isInbound = message.direction === 'inbound'
  const from = isInbound ? (message.counterpartName ?? message.counterpart) : (agent?.name ?? '')
  return (
    <li className={`message ${message.direction}`}>
      <header className="message-head">
        <span className="message-from">{from}</span>
        {isInbound && message.counterpartName && <span className="soft">{message.counterpart}</span>}
        {!isInbound && <span className="soft">{text.to(message.to.join(', '))}</span>}
        {message.cc.length > 0 && <span className="soft">{text.cc(message.cc.join(', '))}</span>}
        <span className="message-when">
          <Status message={message} />
          <Time at={message.createdAt} detailed />
        </span>
      </header>
      <Body message={message} />
      {message.attachments.length > 0 && <Attachments message={message} />}
      {message.error && <p className="error">{message.error}</p>}
      <details className="why">
        <summary>
          <ChevronDownIcon size={14} />
          {isInbound ? text.why : text.delivery}
        </summary>
        {isInbound ? <Why message={message} /> : <Delivery message={message} />}
      </details>
    </li>
  )
}
