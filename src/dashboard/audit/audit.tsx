import { useState } from 'react'
import type { ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { Select } from '../parts/field.tsx'
import { More } from '../parts/more.tsx'
import { Load } from '../parts/states.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { type AgentRef, useAgents } from '../shell/viewer.tsx'
import './audit.css'
import { type Action, AUDIT, type Entry, type Filter } from './query.ts'
import { ACTIONS, text } from './strings.ts'

const Detail = ({ detail }: Pick<Entry, 'detail'>) => (
  <dl className="audit-detail">
    {Object.entries(detail).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
      </div>
    ))}
  </dl>
)

const columnsOf = (agents: readonly AgentRef[]): readonly Column<Entry>[] => {
  const nameOf = (id: string): string => agents.find((agent) => agent.id === id)?.name ?? text.deleted
  return [
    { title: text.columns.when, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { title: text.columns.who, cell: ({ actor }) => actor.name ?? text.kinds[actor.kind] },
    { title: text.columns.what, cell: ({ action }) => ACTIONS[action] },
    { title: text.columns.agent, cell: ({ agentId }) => agentId && nameOf(agentId), wide: true },
    { title: text.columns.detail, cell: ({ detail }) => <Detail detail={detail} />, wide: true },
  ]
}

const Filters = ({ filter, onChange }: { filter: Filter; onChange(filter: Filter): void }) => {
  const agents = useAgents()
  return (
    <div className="audit-filters">
      <Select
        label={text.action}
        value={filter.action ?? ''}
        onChange={(event) => onChange({ ...filter, action: (event.target.value || null) as Action | null })}
      >
        <option value="">{text.any}</option>
        {Object.entries(ACTIONS).map(([action, words]) => (
          <option key={action} value={action}>
            {words}
          </option>
        ))}
      </Select>
      <Select
        label={text.agent}
        value={filter.agentId ?? ''}
        onChange={(event) => onChange({ ...filter, agentId: event.target.value || null })}
      >
        <option value="">{text.any}</option>
        {agents.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  )
}

/** Who changed what in the workspace. */
export const Screen = () => {
  const [filter, setFilter] = useState<Filter>({ action: null, agentId: null })
  const agents = useAgents()
  const pages = usePages({
    query: AUDIT,
    variables: filter,
    pick: ({ workspace }: ResultOf<typeof AUDIT>) => workspace.audit,
    topics: [],
  })
  return (
    <>
      <p className="soft">{text.intro}</p>
      <Filters filter={filter} onChange={setFilter} />
      <Load from={pages} lines={8}>
        {(entries) => (
          <section className="panel">
            {entries.length > 0 ? (
              <Table label={text.list} columns={columnsOf(agents)} rows={entries} keyOf={({ id }) => id} />
            ) : (
              <p className="panel-content soft">{text.none}</p>
            )}
            {pages.more && <More busy={pages.busy} onMore={pages.more} />}
          </section>
        )}
      </Load>
    </>
  )
}
