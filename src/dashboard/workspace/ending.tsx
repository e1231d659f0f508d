import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { ConfirmName } from '../parts/dialog/confirm-name.tsx'
import { Panel } from '../parts/panel.tsx'
import { Time } from '../parts/time.tsx'
import { say } from '../parts/toast.ts'
import { text } from './strings.ts'

const DELETE = graphql(`
  mutation DeleteWorkspace($input: DeleteWorkspaceInput!) { deleteWorkspace(input: $input) { workspace { id } } }
`)

const RESTORE = graphql(`
  mutation RestoreWorkspace($input: RestoreWorkspaceInput!) { restoreWorkspace(input: $input) { workspace { id } } }
`)

interface Workspace {
  id: string
  name: string
  deletesAt: string | null
}

const Question = ({ workspace, onClose }: { workspace: Workspace; onClose(): void }) => {
  const { run, busy } = useAction(DELETE, { changes: { topic: 'workspace' } })
  const confirm = async () => {
    if (await run({ input: { workspaceId: workspace.id } })) onClose()
  }
  return (
    <ConfirmName
      title={text.deleteTitle(workspace.name)}
      label={text.delete}
      name={workspace.name}
      onConfirm={confirm}
      onClose={onClose}
      busy={busy}
    >
      {text.deleteHint}
    </ConfirmName>
  )
}

const Restore = ({ id, deletesAt }: { id: string; deletesAt: string }) => {
  const { run, busy } = useAction(RESTORE, { changes: { topic: 'workspace' } })
  const restore = async () => {
    if (await run({ input: { workspaceId: id } })) say({ kind: 'done', text: text.restored })
  }
  return (
    <>
      <p role="status">
        {text.deletesAt} <Time at={deletesAt} detailed />
      </p>
      <div className="row">
        <Button busy={busy} onClick={() => void restore()}>
          {text.restore}
        </Button>
      </div>
    </>
  )
}

/** Exporting and deleting the workspace, for its owners. */
export const Ending = ({ workspace }: { workspace: Workspace }) => {
  const [asking, setAsking] = useState(false)
  const { id, deletesAt } = workspace
  return (
    <>
      <Panel title={text.export}>
        <p className="hint">{text.exportHint}</p>
        <div className="row">
          {/* A page of the service, not of this application. */}
          <a className="button plain" href="/app/export">
            {text.exportAll}
          </a>
        </div>
      </Panel>
      <Panel title={text.danger}>
        <p className="hint">{text.dangerHint}</p>
        {deletesAt ? (
          <Restore id={id} deletesAt={deletesAt} />
        ) : (
          <div className="row">
            <Button kind="danger" onClick={() => setAsking(true)}>
              {text.delete}
            </Button>
          </div>
        )}
        {asking && <Question workspace={workspace} onClose={() => setAsking(false)} />}
      </Panel>
    </>
  )
}
