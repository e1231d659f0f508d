import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
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
  const [typed, setTyped] = useState('')
  const { run, busy } = useAction(DELETE)
  const submit = async () => {
    if (typed !== workspace.name || !(await run({ input: { workspaceId: workspace.id } }))) return
    announce([{ topic: 'workspace' }])
    onClose()
  }
  return (
    <FormDialog
      title={text.deleteTitle(workspace.name)}
      label={text.delete}
      onClose={onClose}
      onSubmit={submit}
      busy={busy}
      disabled={typed !== workspace.name}
      danger
    >
      <p>{text.deleteHint}</p>
      <Field
        label={text.typeName(workspace.name)}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        autoComplete="off"
        autoFocus
      />
    </FormDialog>
  )
}

const Restore = ({ id, deletesAt }: { id: string; deletesAt: string }) => {
  const { run, busy } = useAction(RESTORE)
  const restore = async () => {
    if (!(await run({ input: { workspaceId: id } }))) return
    announce([{ topic: 'workspace' }])
    say({ kind: 'done', text: text.restored })
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
      <section className="panel">
        <h2>{text.export}</h2>
        <div className="panel-content">
          <p className="hint">{text.exportHint}</p>
          <div className="row">
            {/* A page of the service, not of this application. */}
            <a className="button plain" href="/app/export">
              {text.exportAll}
            </a>
          </div>
        </div>
      </section>
      <section className="panel">
        <h2>{text.danger}</h2>
        <div className="panel-content">
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
        </div>
        {asking && <Question workspace={workspace} onClose={() => setAsking(false)} />}
      </section>
    </>
  )
}
