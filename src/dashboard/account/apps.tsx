import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Time } from '../parts/time.tsx'
import { Scopes } from '../tokens/scopes.tsx'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

const DISCONNECT = graphql(`
  mutation DisconnectApp($input: DisconnectAppInput!) { disconnectApp(input: $input) { appId } }
`)

type App = Viewer['workspace']['connectedApps'][number]

const columnsOf = (onDisconnect: (app: App) => void): readonly Column<App>[] => [
  {
    title: text.appColumns.app,
    cell: ({ name, host }) => (
      <>
        {name} <span className="hint">{host}</span>
      </>
    ),
  },
  { title: text.appColumns.agent, cell: ({ agentName }) => agentName },
  { title: text.appColumns.scopes, cell: ({ scopes }) => <Scopes of={scopes} />, wide: true },
  { title: text.appColumns.by, cell: ({ memberEmail }) => memberEmail, wide: true },
  {
    title: text.appColumns.used,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <Time at={lastUsedAt} /> : <span className="soft">{text.never}</span>,
    wide: true,
  },
  {
    title: text.appColumns.end,
    right: true,
    cell: (app) => (
      <Button kind="danger" onClick={() => onDisconnect(app)}>
        {text.disconnect}
      </Button>
    ),
  },
]

/** The apps that act as agents of the workspace. */
export const Apps = ({ apps }: { apps: readonly App[] }) => {
  const [leaving, setLeaving] = useState<App | null>(null)
  const { run } = useAction(DISCONNECT, { changes: { topic: 'all' } })
  return (
    <Panel title={text.apps}>
      <p className="hint">{text.appsHint}</p>
      {apps.length > 0 ? (
        <Table label={text.appList} columns={columnsOf(setLeaving)} rows={apps} keyOf={({ id }) => id} />
      ) : (
        <p className="soft">{text.noApps}</p>
      )}
      {leaving && (
        <Confirm
          title={text.disconnectTitle(leaving.name)}
          label={text.disconnect}
          onConfirm={() => run({ input: { appId: leaving.id } })}
          onClose={() => setLeaving(null)}
        >
          <p>{text.disconnectHint}</p>
        </Confirm>
      )}
    </Panel>
  )
}
