import { type ReactNode, useState } from 'react'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Choices } from '../parts/choices.tsx'
import {
  ClockIcon,
  CopyIcon,
  DownloadIcon,
  ForwardIcon,
  ShieldAlertIcon,
  ShieldCheckIcon,
  ShieldXIcon,
} from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import { Attachments, useDownload } from './files.tsx'
import { Held } from './held.tsx'
import type { ShownMessage } from './message-fields.ts'
import { HeadersView, HtmlView, TextView } from './message-views.tsx'
import { text } from './strings.ts'
import { Unsubscribe } from './unsubscribe.tsx'
import { Delivery, isProven, Why } from './why.tsx'

const Status = ({ message }: { message: ShownMessage }): ReactNode => {
  const { status, hold } = message
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

const More = ({ message, onForward }: { message: ShownMessage; onForward(): void }) => {
  const download = useDownload(message.id)
  const isReceivedMail = message.channel === 'email' && message.direction === 'inbound'
  const copyId = () =>
    void navigator.clipboard.writeText(message.id).then(() => say({ kind: 'done', text: text.copied }))
  return (
    <Menu label={text.more}>
      <Button kind="ghost" icon={ForwardIcon} onClick={onForward}>
        {text.forward}
      </Button>
      {isReceivedMail && (
        <Button kind="ghost" icon={DownloadIcon} onClick={() => void download('raw')}>
          {text.raw}
        </Button>
      )}
      <Button kind="ghost" icon={CopyIcon} onClick={copyId}>
        {text.copyId}
      </Button>
    </Menu>
  )
}

const Names = ({ message }: { message: ShownMessage }) => {
  const isInbound = message.direction === 'inbound'
  return (
    <span className="soft message-names">
      {isInbound && message.counterpartName && <span>{message.counterpart}</span>}
      {!isInbound && <span>{text.to(message.to.join(', ') || message.counterpart)}</span>}
      {message.cc.length > 0 && <span>{text.cc(message.cc.join(', '))}</span>}
    </span>
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
        <span className="message-from">{from}</span>
        <Names message={message} />
        <span className="message-when">
          <Status message={message} />
          <Time at={message.createdAt} detailed />
          <More message={message} onForward={onForward} />
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
      {view === 'text' && <TextView message={message} />}
      {view === 'html' && <HtmlView message={message} />}
      {view === 'headers' && <HeadersView message={message} />}
      {message.attachments.length > 0 && <Attachments message={message} />}
      <Unsubscribe message={message} />
      {message.error && <p className="error">{message.error}</p>}
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
    <span className="message-from">{from}</span>
    <span className="message-start">{(message.replyText || message.text).slice(0, 200)}</span>
    <Time at={message.createdAt} />
  </button>
)
