import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Time } from '../parts/time.tsx'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

const REMOVE = graphql(`
  mutation RemovePasskey($input: RemovePasskeyInput!) { removePasskey(input: $input) { passkeyId } }
`)

type Passkey = Viewer['passkeys'][number]

const columnsOf = (onRemove: (passkey: Passkey) => void): readonly Column<Passkey>[] => [
  { title: text.passkeyColumns.name, cell: ({ name }) => <bdi>{name}</bdi> },
  { title: text.passkeyColumns.created, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  {
    title: text.passkeyColumns.used,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <Time at={lastUsedAt} /> : <span className="soft">{text.never}</span>,
  },
  {
    title: text.passkeyColumns.end,
    right: true,
    cell: (passkey) => (
      <Button kind="danger" onClick={() => onRemove(passkey)}>
        {text.removePasskey}
      </Button>
    ),
  },
]

/** The member's passkeys. They are added on a page of the service, also by those who must do so before anything else. */
export const Passkeys = ({ passkeys }: Pick<Viewer, 'passkeys'>) => {
  const [leaving, setLeaving] = useState<Passkey | null>(null)
  const { run } = useAction(REMOVE, { changes: { topic: 'all' } })
  return (
    <Panel title={text.passkeys}>
      <p className="hint">{text.passkeysHint}</p>
      {passkeys.length > 0 ? (
        <Table
          label={text.passkeyList}
          columns={columnsOf(setLeaving)}
          rows={passkeys}
          keyOf={({ id }) => id}
        />
      ) : (
        <p className="soft">{text.noPasskeys}</p>
      )}
      <div className="row">
        <a className="button plain" href="/app/passkeys?to=/app/profile">
          {text.addPasskey}
        </a>
      </div>
      {leaving && (
        <Confirm
          title={text.removePasskeyTitle(leaving.name)}
          label={text.removePasskey}
          onConfirm={() => run({ input: { passkeyId: leaving.id } })}
          onClose={() => setLeaving(null)}
        >
          <p>{text.removePasskeyHint}</p>
        </Confirm>
      )}
    </Panel>
  )
}
