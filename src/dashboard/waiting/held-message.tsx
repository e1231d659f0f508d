import { useState } from 'react'
import { Link } from 'wouter'
import { useLive } from '../live/use.ts'
import { Attachments } from '../message/files.tsx'
import { HtmlView } from '../message/message-views.tsx'
import { Choices } from '../parts/choices.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { Decision } from './decision.tsx'
import { Outcome } from './outcome.tsx'
import { HELD_MESSAGE, type HeldMessage, type HeldRow, type HeldThread } from './queries.ts'
import { text } from './strings.ts'

/** By which setting of the agent, and because of whom, the message waits. */
const Reason = ({ message: { agent, strangers, hold } }: { message: HeldMessage }) => {
  const isStill = agent.approval === 'all' || (agent.approval === 'strangers' && strangers.length > 0)
  return (
    <div className="held-why">
      <p>
        {isStill ? text.rules[agent.approval](agent.name) : text.ruleChanged(agent.name)}{' '}
        <Link href={`/agents/${agent.id}/settings`}>{text.toSettings}</Link>
      </p>
      {strangers.map((address) => (
        <p key={address}>{text.stranger(address, agent.name)}</p>
      ))}
      {hold?.until && (
        <p className="hint">
          {text.until} <Time at={hold.until} detailed />
        </p>
      )}
    </div>
  )
}

const Envelope = ({ message }: { message: HeldMessage }) => {
  const { agent, addressId, to, cc, bcc, subject, channel } = message
  const from = agent.addresses.find(({ id }) => id === addressId)?.value
  const lines = [
    [text.from, from ? `${agent.name} <${from}>` : agent.name],
    [text.to, to.join(', ')],
    [text.cc, cc.join(', ')],
    [text.bcc, bcc.join(', ')],
    [text.subject, channel === 'email' ? (subject ?? text.noSubject) : ''],
  ]
  return (
    <dl className="held-envelope">
      {lines.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

/** The message as it will be sent. Most recipients of a mail with HTML see only that. */
const Content = ({ message }: { message: HeldMessage }) => {
  const [view, setView] = useState<keyof typeof text.views>('html')
  const { htmlLink, attachments, to } = message
  return (
    <>
      {htmlLink && <Choices label={text.view} options={text.views} chosen={view} onChoose={setView} />}
      {htmlLink && view === 'html' ? (
        <HtmlView message={{ ...message, counterpart: to.join(', ') }} />
      ) : (
        <p className="held-text" dir="auto">
          {message.text}
        </p>
      )}
      {attachments.length > 0 && <Attachments message={message} />}
    </>
  )
}

/** What was said before in the thread, newest first, each in a line. */
const Before = ({ thread, id, agent }: { thread: HeldThread; id: string; agent: string }) => {
  const earlier = thread.messages.edges.map(({ node }) => node).filter((one) => one.id !== id)
  if (earlier.length === 0) return <p className="hint">{text.isFirst}</p>
  return (
    <section className="held-before">
      <h3>{text.before}</h3>
      <ol>
        {earlier.map(({ id: earlierId, direction, counterpart, counterpartName, preview, createdAt }) => (
          <li key={earlierId}>
            <strong dir="auto">{direction === 'inbound' ? (counterpartName ?? counterpart) : agent}</strong>{' '}
            <span className="soft" dir="auto">
              {preview}
            </span>{' '}
            <Time at={createdAt} />
          </li>
        ))}
      </ol>
      <Link href={`/inbox/${thread.id}`}>{text.wholeThread(thread.messageCount)}</Link>
    </section>
  )
}

interface HeldProps {
  row: HeldRow
  isDecided: boolean
  onDecided(): void
}

/** A message that waits, with everything that one decides by. */
export const Held = ({ row, isDecided, onDecided }: HeldProps) => {
  const loaded = useLive(HELD_MESSAGE, { id: row.id, threadId: row.threadId }, ['messages'])
  return (
    <Load from={loaded} lines={6}>
      {({ message, thread }) => (
        <article className="held panel" aria-label={row.subject ?? text.noSubject}>
          <header className="held-head">
            <h2>{row.subject ?? text.noSubject}</h2>
            {isDecided ? <Outcome id={row.id} /> : <Decision message={message} onDecided={onDecided} />}
          </header>
          {!isDecided && <Reason message={message} />}
          <Envelope message={message} />
          <Content message={message} />
          <Before thread={thread} id={row.id} agent={message.agent.name} />
        </article>
      )}
    </Load>
  )
}
