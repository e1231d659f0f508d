import { type ReactNode, useState } from 'react'
import { Badge } from '../parts/badge.tsx'
import { Choices } from '../parts/choices.tsx'
import { ClockIcon, ShieldAlertIcon, ShieldCheckIcon, ShieldXIcon } from '../parts/icons.tsx'
import { Metadata } from '../parts/metadata.tsx'
import { Time } from '../parts/time.tsx'
import { personOf, useThreadContext } from './context.ts'
import { Delivery, useDelivery } from './delivery.tsx'
import { Attachments } from './files.tsx'
import { Held } from './held.tsx'
import { Hidden } from './hidden.tsx'
import type { ShownMessage } from './message-fields.ts'
import { MessageMenu } from './message-menu.tsx'
import { HeadersView, HtmlView, TextView } from './message-views.tsx'
import { text } from './strings.ts'
import { Unsubscribe } from './unsubscribe.tsx'
import { isProven, Why } from './why.tsx'

const Status = ({ message }: { message: ShownMessage }): ReactNode => {
  const { status, hold } = message
  const { allCaptured } = useDelivery(message)
  if (hold && status === 'sending')
    return (
      <Badge tone="warn" icon={ClockIcon}>
        {hold.reason === 'approval' ? text.waiting : text.scheduled}
      </Badge>
    )
  if (status === 'refused')
    return (
      <Badge tone="bad" icon={ShieldXIcon}>
        {text.status.refused}
      </Badge>
    )
  if (status === 'failed' || status === 'reported') return <Badge tone="bad">{text.status[status]}</Badge>
  if (status === 'sent' && allCaptured) return <Badge>{text.status.captured}</Badge>
  if (status !== 'received') return <Badge>{text.status[status]}</Badge>
  return isProven(message) ? (
    <Badge tone="good" icon={ShieldCheckIcon}>
      {text.proven}
    </Badge>
  ) : (
    <Badge tone="warn" icon={ShieldAlertIcon}>
      {text.unproven}
    </Badge>
  )
}

/** A message that was sent has no headers to show. */
const VIEWS = {
  inbound: text.view,
  outbound: { text: text.view.text, html: text.view.html },
}
type View = keyof typeof text.view

const listed = (names: readonly string[]) =>
  names.map((name, index) => (
    <span key={name}>
      {index > 0 && ', '}
      <bdi>{name}</bdi>
    </span>
  ))

const Names = ({ message }: { message: ShownMessage }) => {
  const isInbound = message.direction === 'inbound'
  const to = message.to.length > 0 ? message.to : [message.counterpart]
  return (
    <span className="soft message-names">
      {isInbound && message.counterpartName && <bdi>{message.counterpart}</bdi>}
      {!isInbound && (
        <span>
          {text.to} {listed(to)}
        </span>
      )}
      {message.cc.length > 0 && (
        <span>
          {text.cc} {listed(message.cc)}
        </span>
      )}
      {message.bcc.length > 0 && (
        <span>
          {text.bcc} {listed(message.bcc)}
        </span>
      )}
    </span>
  )
}

/** Who wrote it; of somebody outside, it opens what is known of them. */
const From = ({ message, from }: { message: ShownMessage; from: string }) => {
  const { showPerson } = useThreadContext()
  const person = personOf(message)
  if (message.direction === 'outbound' || !person || !showPerson)
    return <bdi className="message-from">{from}</bdi>
  return (
    <button
      type="button"
      className="message-from"
      title={text.showPerson}
      onClick={() => showPerson(person)}
      dir="auto"
    >
      {from}
    </button>
  )
}

interface MessageProps {
  message: ShownMessage
  /** Who wrote it, in words. */
  from: string
  onForward(): void
}

/** One message of a thread, opened. */
export const Message = ({ message, from, onForward }: MessageProps) => {
  const [view, setView] = useState<View>('text')
  const isMail = message.channel === 'email'
  return (
    <article className={`message ${message.direction}`} aria-label={from}>
      <header className="message-head">
        <From message={message} from={from} />
        <Names message={message} />
        <span className="message-when">
          <Status message={message} />
          <Time at={message.createdAt} detailed />
          <MessageMenu message={message} onForward={onForward} />
        </span>
      </header>
      <div className="message-tools">
        {isMail && message.status !== 'imported' && (
          <Choices<Partial<typeof text.view>>
            label={text.views}
            hint={text.textHint}
            options={VIEWS[message.direction]}
            chosen={view}
            onChoose={setView}
          />
        )}
        {message.direction === 'inbound' ? <Why message={message} /> : <Delivery message={message} />}
      </div>
      {message.direction === 'inbound' && <Hidden message={message} />}
      {view === 'text' && <TextView message={message} />}
      {view === 'html' && <HtmlView message={message} />}
      {view === 'headers' && <HeadersView message={message} />}
      {message.attachments.length > 0 && <Attachments message={message} />}
      <Metadata of={message.metadata} label={text.metadata} />
      <Unsubscribe message={message} />
      {message.error && (
        <p className="error" dir="auto">
          {message.error}
        </p>
      )}
      {message.hold && message.status === 'sending' && <Held message={message} hold={message.hold} />}
    </article>
  )
}

/** One message of a thread, as a line that opens it. */
export const FoldedMessage = ({
  message,
  from,
  onOpen,
}: {
  message: ShownMessage
  from: string
  onOpen(): void
}) => (
  <button
    type="button"
    className={`message-folded ${message.direction}`}
    aria-expanded="false"
    onClick={onOpen}
  >
    <bdi className="message-from">{from}</bdi>
    <span className="message-start" dir="auto">
      {(message.replyText || message.text).slice(0, 200)}
    </span>
    <Time at={message.createdAt} />
  </button>
)
