import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import { Link } from 'wouter'
import { failureOf } from '../live/failure.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useChanges, useLive } from '../live/use.ts'
import { IconButton, LinkButton } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { PencilIcon, PlusIcon, Trash2Icon } from '../parts/icons.tsx'
import { keptOf } from '../parts/kept.ts'
import { More } from '../parts/list/more.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import { Page } from '../screen/page.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import { resumeAll } from './writings.ts'

const DRAFTS = graphql(`
  query Drafts {
    agents {
      id name
      drafts(first: 20) { edges { node { id to subject text updatedAt savedBy { id name } } } pageInfo { endCursor hasNextPage } }
    }
  }
`)
const MORE_DRAFTS = graphql(`
  query MoreDrafts($agentId: UUID!, $after: String) {
    agent(id: $agentId) {
      id name
      drafts(first: 100, after: $after) {
        edges { node { id to subject text updatedAt savedBy { id name } } }
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`)
const DISCARD = graphql(`
  mutation DeleteDraft($input: DeleteDraftInput!) { deleteDraft(input: $input) { draftId } }
`)

type Agent = ResultOf<typeof DRAFTS>['agents'][number]
type Row = Agent['drafts']['edges'][number]['node'] & { agentId: string; agent: string }

const rowsOf = (agents: readonly Agent[]): Row[] =>
  agents
    .flatMap(({ id, name, drafts }) =>
      drafts.edges.map(({ node }) => ({ ...node, agentId: id, agent: name })),
    )
    .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))

/** The drafts of agents that have more than the first page, loaded when they are asked for. */
const useMoreDrafts = (first: readonly Agent[]) => {
  const client = useClient()
  const [pages, setPages] = useState<readonly Agent[]>([])
  const [busy, setBusy] = useState(false)
  useChanges(['drafts'], () => setPages([]))
  const unfinished = first
    .map(({ id }) => [...first, ...pages].findLast((page) => page.id === id)!)
    .filter(({ drafts }) => drafts.pageInfo.hasNextPage)
  const load = async () => {
    setBusy(true)
    const answers = await Promise.all(
      unfinished.map(({ id, drafts }) =>
        client.query(MORE_DRAFTS, { agentId: id, after: drafts.pageInfo.endCursor }).toPromise(),
      ),
    )
    setBusy(false)
    const failure = failureOf(answers.find(({ error }) => error)?.error)
    if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
    setPages([...pages, ...answers.flatMap(({ data }) => (data ? [data.agent] : []))])
  }
  return { pages, busy, more: unfinished.length > 0 ? () => void load() : undefined }
}

const Drafts = ({ agents }: { agents: readonly Agent[] }) => {
  const { pages, busy, more } = useMoreDrafts(agents)
  const rows = rowsOf([...agents, ...pages])
  return rows.length > 0 ? (
    <div className="panel">
      <Table label={text.drafts} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      {more && <More busy={busy} onMore={more} />}
    </div>
  ) : (
    <Empty icon={PencilIcon} title={text.noDrafts}>
      <p>{text.noDraftsHint}</p>
    </Empty>
  )
}

const Discard = ({ row }: { row: Row }) => {
  const [asking, setAsking] = useState(false)
  const { run } = useAction(DISCARD, { changes: { topic: 'drafts' } })
  const discard = async () => {
    if (!(await run({ input: { agentId: row.agentId, draftId: row.id } }))) return false
    say({ kind: 'done', text: text.discarded })
    return true
  }
  return (
    <>
      <IconButton icon={Trash2Icon} label={text.discard} onClick={() => setAsking(true)} />
      {asking && (
        <Confirm
          title={text.discardTitle}
          label={text.discard}
          onConfirm={discard}
          onClose={() => setAsking(false)}
        >
          <p>{text.discardHint}</p>
        </Confirm>
      )}
    </>
  )
}

const Changed = ({ updatedAt, savedBy }: Row) => (
  <>
    {savedBy && (
      <>
        <bdi>{savedBy.name}</bdi> ·{' '}
      </>
    )}
    <Time at={updatedAt} />
  </>
)

const COLUMNS: readonly Column<Row>[] = [
  {
    title: text.subject,
    cell: ({ id, agentId, subject, text: start }) => (
      <Link href={`/compose?agent=${agentId}&draft=${id}`}>
        {subject || start?.slice(0, 60) || text.noSubject}
      </Link>
    ),
  },
  {
    title: text.to,
    wide: true,
    cell: ({ to }) => to.join(', ') || <span className="soft">{text.nobody}</span>,
  },
  { title: text.from, wide: true, cell: ({ agent }) => agent },
  { title: text.changed, right: true, cell: Changed },
  { title: text.discard, right: true, cell: (row) => <Discard row={row} /> },
]

/** The drafts of all agents, which members and agents share. */
export const Screen = () => {
  const viewer = useViewer()
  // What was written on this device and is in no draft yet becomes one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => resumeAll(keptOf(viewer, 'letter')), [])
  return (
    <Page
      title={text.drafts}
      actions={
        <LinkButton href="/compose" kind="primary" icon={PlusIcon}>
          {text.title}
        </LinkButton>
      }
    >
      <Load from={useLive(DRAFTS, {}, ['drafts', 'agents'])}>
        {({ agents }) => <Drafts agents={agents} />}
      </Load>
    </Page>
  )
}
