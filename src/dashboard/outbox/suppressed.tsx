import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { useAction, useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { BanIcon } from '../parts/icons.tsx'
import { More } from '../parts/list/more.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import { text } from './strings.ts'

const WITH_ANY = graphql(`
  query AgentsWithSuppressions { agents { id name suppressions(first: 1) { edges { cursor } } } }
`)
const SUPPRESSIONS = graphql(`
  query Suppressions($agentId: UUID!, $after: String) {
    agent(id: $agentId) {
      id
      suppressions(first: 50, after: $after) {
        edges { node { recipient reason detail createdAt } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)
const REMOVE = graphql(`
  mutation RemoveSuppression($input: RemoveSuppressionInput!) { removeSuppression(input: $input) { recipient } }
`)

type Agent = ResultOf<typeof WITH_ANY>['agents'][number]
type Data = ResultOf<typeof SUPPRESSIONS>
type Entry = Data['agent']['suppressions']['edges'][number]['node']

const columnsOf = (onRemove: (entry: Entry) => void): readonly Column<Entry>[] => [
  { title: text.suppressedColumns.recipient, cell: ({ recipient }) => recipient },
  {
    title: text.suppressedColumns.reason,
    wide: true,
    cell: ({ reason, detail }) => (
      <>
        <Badge tone="bad">{text.reasons[reason]}</Badge>
        {detail && <p className="hint">{detail}</p>}
      </>
    ),
  },
  { title: text.suppressedColumns.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: text.suppressedColumns.remove,
    right: true,
    cell: (entry) => (
      <Button aria-label={text.removeOf(entry.recipient)} onClick={() => onRemove(entry)}>
        {text.remove}
      </Button>
    ),
  },
]

interface ListProps {
  agent: Agent
  /** Reads again which agents have a list. */
  onChanged(): void
}

const List = ({ agent, onChanged }: ListProps) => {
  const [removing, setRemoving] = useState<Entry | null>(null)
  const { run } = useAction(REMOVE)
  const pages = usePages({
    query: SUPPRESSIONS,
    variables: { agentId: agent.id },
    pick: (data: Data) => data.agent.suppressions,
    topics: ['suppressions'],
  })
  const remove = async ({ recipient }: Entry) => {
    if (!(await run({ input: { agentId: agent.id, recipient } }))) return false
    say({ kind: 'done', text: text.removed(recipient) })
    pages.refresh()
    onChanged()
    return true
  }
  return (
    <section className="panel">
      <h2>{agent.name}</h2>
      <Load from={pages}>
        {(entries) => (
          <Table
            label={text.suppressedOf(agent.name)}
            columns={columnsOf(setRemoving)}
            rows={entries}
            keyOf={({ recipient }) => recipient}
            stacked
          />
        )}
      </Load>
      {pages.more && <More busy={pages.busy} onMore={pages.more} />}
      {removing && (
        <Confirm
          title={text.removeTitle(removing.recipient)}
          label={text.remove}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(null)}
        >
          <p>{text.removeHint}</p>
        </Confirm>
      )}
    </section>
  )
}

/** The suppression lists of the agents that have one. */
export const Suppressed = () => {
  const loaded = useLive(WITH_ANY, {}, ['agents', 'suppressions'])
  return (
    <Load from={loaded}>
      {({ agents }) => {
        const listed = agents.filter(({ suppressions }) => suppressions.edges.length > 0)
        return listed.length > 0 ? (
          <>
            <p className="soft">{text.suppressedIntro}</p>
            {listed.map((agent) => (
              <List key={agent.id} agent={agent} onChanged={loaded.refresh} />
            ))}
          </>
        ) : (
          <Empty icon={BanIcon} title={text.noneSuppressed}>
            <p>{text.noneSuppressedHint}</p>
          </Empty>
        )
      }}
    </Load>
  )
}
