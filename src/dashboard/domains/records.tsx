import { Badge } from '../parts/badge.tsx'
import { Copyable } from '../parts/copy.tsx'
import { CircleAlertIcon, CircleCheckIcon } from '../parts/icons.tsx'
import type { Column } from '../parts/list/table.tsx'
import type { Domain } from './query.ts'
import './domains.css'
import { text } from './strings.ts'

type DnsRecord = Domain['records'][number]

const Found = ({ record: { ok, found, problem, required } }: { record: DnsRecord }) => {
  if (ok)
    return (
      <Badge tone="good" icon={CircleCheckIcon}>
        {text.ok}
      </Badge>
    )
  return (
    <div className="record-found">
      <Badge tone={required ? 'warn' : 'neutral'} icon={CircleAlertIcon}>
        {found.length > 0 ? text.wrong : text.missing}
      </Badge>
      {problem && <span className="hint">{problem}</span>}
    </div>
  )
}

/** The DNS records of a domain: what to publish where, and what was found. */
export const RECORD_COLUMNS: readonly Column<DnsRecord>[] = [
  {
    title: text.columns.purpose,
    cell: ({ purpose, type, required }) => (
      <>
        {text.purposes[purpose]} <span className="hint">{type}</span>
        {!required && <p className="hint">{text.optional}</p>}
      </>
    ),
  },
  {
    title: text.columns.name,
    cell: ({ name }) => (
      <div className="record-name">
        <Copyable value={name} what={text.recordName} />
      </div>
    ),
  },
  {
    title: text.columns.value,
    cell: ({ value, priority }) => (
      <>
        <Copyable value={value} what={text.recordValue} />
        {priority !== null && <p className="hint">{text.priority(priority)}</p>}
      </>
    ),
  },
  { title: text.columns.state, cell: (record) => <Found record={record} /> },
]
