import { useState } from 'react'
import type { ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { useLive } from '../live/use.ts'
import { Select } from '../parts/form/field.tsx'
import { More } from '../parts/list/more.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useAgentNames, useAgents } from '../screen/viewer.tsx'
import './audit.css'
import { AUDIT, type Entry, type Filter, NAMES } from './query.ts'
import { ACTIONS, text } from './strings.ts'

type NameOf = (id: string) => string | undefined

/** Lists and objects in words: `added: a, b`. Ids of people and agents become their names. */
const shown = (value: unknown, nameOf: NameOf): string => {
  if (Array.isArray(value)) return value.map((one) => shown(one, nameOf)).join(', ')
  if (value === null) return text.notSet
  if (typeof value !== 'object') return nameOf(String(value)) ?? String(value)
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${shown(one, nameOf)}`)
    .join('; ')
}

const Detail = ({ detail, nameOf }: Pick<Entry, 'detail'> & { nameOf: NameOf }) => (
  <dl className="audit-detail">
    {Object.entries(detail).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{shown(value, nameOf)}</dd>
      </div>
    ))}
  </dl>
)

const columnsOf = (nameOf: NameOf): readonly Column<Entry>[] => [
  { title: text.columns.when, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: text.columns.who,
    // Entries about signing in have no name of their own.
    cell: ({ actor: { name, id, kind } }) => name ?? (id && nameOf(id)) ?? text.kinds[kind],
  },
  {
    title: text.columns.what,
    cell: ({ action, agentId, detail }) => (
      <>
        {ACTIONS[action]}
        {agentId && <span className="soft"> {text.of(nameOf(agentId) ?? text.deleted)}</span>}
        <Detail detail={detail} nameOf={nameOf} />
      </>
    ),
  },
]

/** The people and agents that there are now. */
const useNames = (): NameOf => {
  const agents = useAgents()
  const members = useLive(NAMES, {}, ['members']).data?.workspace.members ?? []
  return (id) =>
    agents.find((agent) => agent.id === id)?.name ??
    members.filter((member) => member.id === id).map(({ name, email }) => name ?? email)[0]
}

const Filters = ({ filter, onChange }: { filter: Filter; onChange(filter: Filter): void }) => (
  <div className="audit-filters">
    <Select
      label={text.action}
      options={{ '': text.any, ...ACTIONS }}
      chosen={filter.action ?? ''}
      onChoose={(action) => onChange({ ...filter, action: action || null })}
    />
    <Select
      label={text.agent}
      options={useAgentNames(text.any)}
      chosen={filter.agentId ?? ''}
      onChoose={(id) => onChange({ ...filter, agentId: id || null })}
    />
  </div>
)

/** Who changed what in the workspace. */
export const Screen = () => {
  const [filter, setFilter] = useState<Filter>({ action: null, agentId: null })
  const nameOf = useNames()
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
              <Table
                label={text.list}
                columns={columnsOf(nameOf)}
                rows={entries}
                keyOf={({ id }) => id}
                stacked
              />
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
