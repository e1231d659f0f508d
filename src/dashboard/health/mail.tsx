import { useState } from 'react'
import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Choices } from '../parts/choices.tsx'
import { locale } from '../parts/language.ts'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { text } from './strings.ts'

const MAIL_HEALTH = graphql(`
  query MailHealth($days: Int!) {
    service { captured }
    workspace { id mailHealth(days: $days) { domain sent bounced complained } }
  }
`)
const FAILED = graphql(`
  query FailedMail {
    workspace {
      id
      messages(first: 20, direction: outbound, status: failed) {
        edges {
          node {
            id threadId subject preview createdAt error
            agent { id name }
            recipients { address status detail updatedAt deliveredAt }
          }
        }
      }
    }
  }
`)

type Domain = ResultOf<typeof MAIL_HEALTH>['workspace']['mailHealth'][number]
type Failed = ResultOf<typeof FAILED>['workspace']['messages']['edges'][number]['node']

/** Shares above which mailbox providers begin to refuse mail. */
const MOST = { bounced: 0.05, complained: 0.003 }

const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

const Share = ({ domain, of }: { domain: Domain; of: keyof typeof MOST }) => {
  const share = domain[of] / Math.max(1, domain.sent)
  const words = `${domain[of].toLocaleString(locale)} (${percent.format(share)})`
  return share > MOST[of] ? <Badge tone="bad">{words}</Badge> : words
}

const COLUMNS: readonly Column<Domain>[] = [
  { title: text.columns.domain, cell: ({ domain }) => domain },
  { title: text.columns.sent, right: true, cell: ({ sent }) => sent.toLocaleString(locale) },
  { title: text.columns.bounced, right: true, cell: (domain) => <Share domain={domain} of="bounced" /> },
  {
    title: text.columns.complained,
    right: true,
    cell: (domain) => <Share domain={domain} of="complained" />,
  },
]

/** What happened to a message, in the order in which it did. */
const Timeline = ({ message: { createdAt, recipients } }: { message: Failed }) => (
  <ol className="timeline">
    <li>
      <Time at={createdAt} detailed /> {text.accepted}
    </li>
    {recipients
      .toSorted((one, other) => one.updatedAt.localeCompare(other.updatedAt))
      .map(({ address, status, detail, updatedAt, deliveredAt }) => (
        <li key={address}>
          <Time at={deliveredAt ?? updatedAt} detailed />{' '}
          <Badge tone={status === 'failed' ? 'bad' : 'neutral'}>
            {deliveredAt ? text.delivered : text.statuses[status]}
          </Badge>{' '}
          {address} {detail && <span className="hint">{detail}</span>}
        </li>
      ))}
  </ol>
)

const FailedMail = () => (
  <section className="panel">
    <h2>{text.failed}</h2>
    <Load from={useLive(FAILED, {}, ['messages'])}>
      {({ workspace: { messages } }) =>
        messages.edges.length > 0 ? (
          <ul>
            {messages.edges.map(({ node }) => (
              <li key={node.id} className="failed-mail">
                <div className="row between">
                  <Link href={`/inbox/${node.threadId}`} dir="auto">
                    {node.subject ?? (node.preview || text.noSubject)}
                  </Link>
                  <span className="hint">{text.byAgent(node.agent.name)}</span>
                </div>
                {node.error && <p>{node.error}</p>}
                <Timeline message={node} />
              </li>
            ))}
          </ul>
        ) : (
          <p className="panel-content soft">{text.noneFailed}</p>
        )
      }
    </Load>
  </section>
)

/** How much of the mail to each domain bounced or was reported, and what failed last. */
export const Mail = () => {
  const [days, setDays] = useState<keyof typeof text.ranges>('7')
  const health = useLive(MAIL_HEALTH, { days: Number(days) }, ['messages'])
  return (
    <>
      {health.data?.service.captured && <p className="note">{text.captured}</p>}
      <Panel
        title={text.byDomain}
        actions={<Choices label={text.days} options={text.ranges} chosen={days} onChoose={setDays} />}
      >
        <p className="hint">{text.limits}</p>
        <Load from={health}>
          {({ workspace: { mailHealth } }) =>
            mailHealth.length > 0 ? (
              <Table
                label={text.byDomain}
                columns={COLUMNS}
                stacked
                rows={mailHealth}
                keyOf={({ domain }) => domain}
              />
            ) : (
              <p className="soft">{text.noMail}</p>
            )
          }
        </Load>
        <Link href="/outbox/suppressed">{text.stopped}</Link>
      </Panel>
      <FailedMail />
    </>
  )
}
