import { useState } from 'react'
import type { ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { Button } from '../parts/button.tsx'
import { More } from '../parts/more.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { HtmlView } from '../thread/message-views.tsx'
import { Decision } from './decision.tsx'
import { HELD, type HeldMessage } from './queries.ts'
import { text } from './strings.ts'

const Html = ({ message }: { message: HeldMessage }) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <p className="hint">{text.htmlToo}</p>
      <p>
        <Button kind="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? text.hideHtml : text.showHtml}
        </Button>
      </p>
      {open && <HtmlView message={{ ...message, counterpart: message.to.join(', ') }} />}
    </>
  )
}

const Held = ({ message }: { message: HeldMessage }) => (
  <li className="held">
    <div className="row between">
      <h3>{message.subject ?? text.noSubject}</h3>
      <span className="hint">
        {text.by(message.agent.name)} · <Time at={message.createdAt} />
      </span>
    </div>
    <p className="hint">
      {text.to} {[...message.to, ...message.cc].join(', ')}
      {message.hold?.until && (
        <>
          {' '}
          · {text.until} <Time at={message.hold.until} detailed />
        </>
      )}
    </p>
    <p className="held-text">{message.text}</p>
    {message.htmlLink && <Html message={message} />}
    {message.attachments.length > 0 && (
      <p className="hint">{message.attachments.map(({ name }) => name).join(', ')}</p>
    )}
    <Decision message={message} />
  </li>
)

/** Messages of agents that wait for a member's approval. */
export const HeldMessages = () => {
  const pages = usePages({
    query: HELD,
    variables: {},
    pick: ({ workspace }: ResultOf<typeof HELD>) => workspace.messages,
    topics: ['messages'],
  })
  return (
    <section className="panel">
      <h2>{text.approval}</h2>
      <Load from={pages}>
        {(messages) =>
          messages.length > 0 ? (
            <>
              <p className="panel-content hint">{text.approvalHint}</p>
              <ul>
                {messages.map((message) => (
                  <Held key={message.id} message={message} />
                ))}
              </ul>
            </>
          ) : (
            <p className="panel-content soft">{text.nothingHeld}</p>
          )
        }
      </Load>
      {pages.more && <More busy={pages.busy} onMore={pages.more} />}
    </section>
  )
}
