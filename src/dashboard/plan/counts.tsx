import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Choices } from '../parts/choices.tsx'
import { Select } from '../parts/form/field.tsx'
import { locale } from '../parts/language.ts'
import { type Column, Table } from '../parts/list/table.tsx'
import { Load } from '../parts/states.tsx'
import { useAgentNames } from '../screen/viewer.tsx'
import { Bars } from './bars.tsx'
import './plan.css'
import { text } from './strings.ts'

const COUNTS = graphql(`
  query Counts($from: String!, $agentId: UUID) {
    counts(from: $from, agentId: $agentId) {
      day received refused sent failed bounced reported deliveriesAccepted deliveriesFailed
    }
  }
`)

type Day = ResultOf<typeof COUNTS>['counts'][number]
type Metric = Exclude<keyof Day, 'day'>

const METRICS = Object.keys(text.metrics) as readonly Metric[]
/** What should not happen has the colour of it. */
const BAD: ReadonlySet<Metric> = new Set(['refused', 'failed', 'bounced', 'reported', 'deliveriesFailed'])

/** What the table has room for on a phone; all of it is drawn. */
const NARROW: ReadonlySet<Metric> = new Set(['received', 'refused', 'sent', 'failed'])

const DAY_MS = 86_400_000
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

const dayFormat = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const shownDay = (day: string): string => dayFormat.format(new Date(day))

const COLUMNS: readonly Column<Day>[] = [
  { title: text.day, cell: ({ day }) => <time dateTime={day}>{shownDay(day)}</time> },
  ...METRICS.map((metric) => ({
    title: text.metrics[metric],
    right: true,
    wide: !NARROW.has(metric),
    cell: (day: Day) => day[metric].toLocaleString(locale),
  })),
]

const Charts = ({ days }: { days: readonly Day[] }) => (
  <div className="counts">
    <div className="counts-charts">
      {METRICS.map((metric) => (
        <Bars
          key={metric}
          title={text.metrics[metric]}
          bad={BAD.has(metric)}
          bars={days.map((day) => ({ label: shownDay(day.day), count: day[metric] }))}
        />
      ))}
    </div>
    <Table label={text.perDay} columns={COLUMNS} rows={days.toReversed()} keyOf={({ day }) => day} />
  </div>
)

/** What happened on each day, as small charts and as a table. */
export const Counts = () => {
  const [agentId, setAgentId] = useState<string | null>(null)
  const [range, setRange] = useState<keyof typeof text.ranges>('30')
  const from = daysAgo(Number(range) - 1)
  const counts = useLive(COUNTS, { from, agentId }, ['messages', 'webhooks'])
  return (
    <section className="panel">
      <header className="counts-head">
        <h2>{text.perDay}</h2>
        <Select
          label={text.of}
          options={useAgentNames(text.allAgents)}
          chosen={agentId ?? ''}
          onChoose={(id) => setAgentId(id || null)}
        />
        <Choices label={text.range} options={text.ranges} chosen={range} onChoose={setRange} />
      </header>
      <div className="panel-content">
        <Load from={counts} lines={8}>
          {({ counts: days }) => <Charts days={days} />}
        </Load>
      </div>
    </section>
  )
}
