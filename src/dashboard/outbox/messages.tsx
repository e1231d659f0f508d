import { useState } from 'react'
import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { useLive } from '../live/use.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Choices } from '../parts/choices.tsx'
import { SendIcon } from '../parts/icons.tsx'
import { More } from '../parts/list/more.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { text } from './strings.ts'

const OUTBOX = graphql(`
  query Outbox($status: MessageStatus, $after: String) {
    workspace {
      id
      messages(first: 50, direction: outbound, status: $status, after: $after) {
        edges {
          node {
            id threadId channel to cc bcc counterpart subject text createdAt status error
            hold { reason until }
            agent { id name }
            recipients { status }
          }
        }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)
const CAPTURED = graphql(`query Captured { service { captured } }`)

type Data = ResultOf<typeof OUTBOX>
type Sent = Data['workspace']['messages']['edges'][number]['node']
type Filter = keyof typeof text.filters

const TONES: Partial<Record<Sent['status'], Tone>> = { failed: 'bad', reported: 'bad', sent: 'good' }

const Status = ({ message, captured }: { message: Sent; captured: boolean }) => {
  const { status, hold, recipients, error } = message
  if (status === 'sending' && hold) return <Badge tone="warn">{text.status[hold.reason]}</Badge>
  const accepted = recipients.filter((one) => one.status === 'sent').length
  const isPartly = accepted > 0 && accepted < recipients.length
  const word = status === 'sent' && captured && message.channel === 'email' ? 'captured' : status
  return (
    <span title={error ?? undefined}>
      <Badge tone={TONES[status] ?? 'neutral'}>
        {isPartly ? text.some(accepted, recipients.length) : text.status[word as keyof typeof text.status]}
      </Badge>
    </span>
  )
}

const toOf = ({ to, cc, bcc, counterpart }: Sent): string => [...to, ...cc, ...bcc].join(', ') || counterpart

const columnsOf = (captured: boolean): readonly Column<Sent>[] => [
  {
    title: text.columns.message,
    cell: (message) => (
      <>
        <Link href={`/inbox/${message.threadId}`} dir="auto">
          {message.subject ?? (message.text.slice(0, 80) || text.noSubject)}
        </Link>
        <p className="hint">{text.to(toOf(message))}</p>
      </>
    ),
  },
  { title: text.columns.agent, cell: ({ agent }) => agent.name, wide: true },
  {
    title: text.columns.status,
    cell: (message) => <Status message={message} captured={captured} />,
  },
  { title: text.columns.at, right: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

const None = ({ filter }: { filter: Filter }) =>
  filter === 'all' ? (
    <Empty icon={SendIcon} title={text.none}>
      <p>{text.noneHint}</p>
      <LinkButton href="/compose">{text.write}</LinkButton>
    </Empty>
  ) : (
    <Empty icon={SendIcon} title={text.noneSuch}>
      <p>{text.noneSuchHint}</p>
    </Empty>
  )

/** What all agents send, newest first: queued, captured, sent and failed. */
export const Messages = () => {
  const [filter, setFilter] = useState<Filter>('all')
  const captured = useLive(CAPTURED, {}, []).data?.service.captured ?? false
  const pages = usePages({
    query: OUTBOX,
    variables: { status: filter === 'all' ? null : filter },
    pick: ({ workspace }: Data) => workspace.messages,
    topics: ['messages'],
  })
  return (
    <>
      {captured && <p className="note">{text.captured}</p>}
      <div className="row">
        <Choices label={text.filter} options={text.filters} chosen={filter} onChoose={setFilter} />
      </div>
      <Load from={pages} lines={8}>
        {(messages) =>
          messages.length > 0 ? (
            <section className="panel">
              <Table
                label={text.list}
                columns={columnsOf(captured)}
                rows={messages}
                keyOf={({ id }) => id}
                stacked
              />
              {pages.more && <More busy={pages.busy} onMore={pages.more} />}
            </section>
          ) : (
            <None filter={filter} />
          )
        }
      </Load>
    </>
  )
}
