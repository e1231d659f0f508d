import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { KeyRoundIcon, PlusIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { SetSecret } from './set-secret.tsx'
import { text } from './strings.ts'

const SECRETS = graphql(`
  query AgentSecrets($id: UUID!) {
    agent(id: $id) { id secrets { name setBy updatedAt } }
  }
`)

const DELETE = graphql(`
  mutation DeleteSecret($input: DeleteSecretInput!) { deleteSecret(input: $input) { name } }
`)

type Secret = ResultOf<typeof SECRETS>['agent']['secrets'][number]

interface Actions {
  onReplace(name: string): void
  onDelete(name: string): void
}

const columnsOf = ({ onReplace, onDelete }: Actions): readonly Column<Secret>[] => [
  { title: text.columns.name, cell: ({ name }) => <code>{name}</code> },
  { title: text.columns.setBy, cell: ({ setBy }) => text.setBy[setBy], wide: true },
  { title: text.columns.updated, cell: ({ updatedAt }) => <Time at={updatedAt} />, wide: true },
  {
    title: text.columns.actions,
    right: true,
    cell: ({ name }) => (
      <div className="row end">
        <Button onClick={() => onReplace(name)}>{text.replace}</Button>
        <Button kind="danger" onClick={() => onDelete(name)}>
          {text.remove}
        </Button>
      </div>
    ),
  },
]

const exampleOf = (secrets: readonly Secret[]): string =>
  `ams run --secrets ${secrets
    .slice(0, 3)
    .map(({ name }) => name)
    .join(',')} -- npm start`

/** The names of an agent's secrets, to set, replace and delete. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const loaded = useLive(SECRETS, { id: agentId }, ['secrets'])
  const [setting, setSetting] = useState<string | null>(null)
  const [deleting, setDeleting] = useState<string | null>(null)
  const { run } = useAction(DELETE, { changes: { topic: 'agents', agentId } })
  const add = (
    <Button kind="primary" icon={PlusIcon} onClick={() => setSetting('')}>
      {text.set}
    </Button>
  )
  return (
    <Load from={loaded}>
      {({ agent: { secrets } }) => (
        <>
          {secrets.length > 0 ? (
            <section className="panel">
              <div className="panel-content">
                <p className="hint">{text.hint}</p>
                <Table
                  label={text.list}
                  columns={columnsOf({ onReplace: setSetting, onDelete: setDeleting })}
                  rows={secrets}
                  keyOf={({ name }) => name}
                />
                <div className="row">{add}</div>
                <Snippet label={text.use} variants={[{ name: 'ams', code: exampleOf(secrets) }]} />
              </div>
            </section>
          ) : (
            <Empty icon={KeyRoundIcon} title={text.none}>
              <p>{text.noneHint}</p>
              <p className="hint">{text.hint}</p>
              {add}
            </Empty>
          )}
          {setting !== null && (
            <SetSecret agentId={agentId} name={setting} onClose={() => setSetting(null)} />
          )}
          {deleting && (
            <Confirm
              title={text.deleteTitle(deleting)}
              label={text.remove}
              onConfirm={() => run({ input: { agentId, name: deleting } })}
              onClose={() => setDeleting(null)}
            >
              <p>{text.deleteHint}</p>
            </Confirm>
          )}
        </>
      )}
    </Load>
  )
}
