import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { locale } from '../parts/language.ts'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Load } from '../parts/states.tsx'
import { Counts } from './counts.tsx'
import { text } from './strings.ts'

const PLAN = graphql(`
  query Plan {
    workspace {
      id
      plan {
        key changeAddress
        limits { agents members storedMessages sendsPerDay webhooks phoneNumbers ownDomains }
        usage { agents members storedMessages sendsPerDay webhooks phoneNumbers ownDomains }
      }
    }
  }
`)

type Plan = ResultOf<typeof PLAN>['workspace']['plan']
type Kind = keyof Plan['usage']

interface Row {
  kind: Kind
  used: number
  limit: number | null
}

const KINDS = Object.keys(text.kinds) as readonly Kind[]

const shown = (count: number): string => count.toLocaleString(locale)

const COLUMNS: readonly Column<Row>[] = [
  { title: text.columns.what, cell: ({ kind }) => text.kinds[kind] },
  { title: text.columns.used, right: true, cell: ({ used }) => shown(used) },
  {
    title: text.columns.limit,
    right: true,
    cell: ({ limit }) => (limit === null ? <span className="soft">{text.unlimited}</span> : shown(limit)),
  },
  {
    title: text.columns.share,
    wide: true,
    cell: ({ kind, used, limit }) =>
      limit !== null && (
        <span className="row">
          <meter
            aria-label={text.kinds[kind]}
            min={0}
            max={Math.max(limit, 1)}
            value={used}
            high={limit * 0.9}
          />
          {used >= limit && <Badge tone="warn">{text.full}</Badge>}
        </span>
      ),
  },
]

/** Without limits there are no shares. */
const UNLIMITED = COLUMNS.slice(0, -1)

const Usage = () => (
  <Load
    from={useLive(PLAN, {}, ['agents', 'domains', 'members', 'messages', 'numbers', 'webhooks'])}
    lines={6}
  >
    {({ workspace: { plan } }) => (
      <Panel title={text.plan(plan.key)}>
        <p className="hint">{plan.changeAddress ? text.changeAddress : text.fixedAddress}</p>
        <Table
          label={text.list}
          columns={KINDS.some((kind) => plan.limits[kind] !== null) ? COLUMNS : UNLIMITED}
          rows={KINDS.map((kind) => ({ kind, used: plan.usage[kind], limit: plan.limits[kind] }))}
          keyOf={({ kind }) => kind}
        />
      </Panel>
    )}
  </Load>
)

/** The plan, how much of it is used, and what happened on each day. */
export const Screen = () => (
  <>
    <Usage />
    <Counts />
  </>
)
