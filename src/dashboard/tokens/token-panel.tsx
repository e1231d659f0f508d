import { type ReactNode, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { PlusIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Time } from '../parts/time.tsx'
import { type Scope, Scopes } from './scopes.tsx'
import { text } from './strings.ts'

interface Token {
  id: string
  name: string | null
  createdAt: string
  lastUsedAt: string | null
  expiresAt: string | null
  scopes: readonly Scope[] | null
}

const timeOr = (at: string | null, otherwise: string) =>
  at ? <Time at={at} /> : <span className="soft">{otherwise}</span>

const columnsOf = (onRevoke: (token: Token) => void): readonly Column<Token>[] => [
  { title: text.columns.name, cell: ({ name }) => name ?? <span className="soft">{text.unnamed}</span> },
  { title: text.columns.scopes, cell: ({ scopes }) => <Scopes of={scopes} /> },
  { title: text.columns.created, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  { title: text.columns.used, cell: ({ lastUsedAt }) => timeOr(lastUsedAt, text.never) },
  { title: text.columns.expires, cell: ({ expiresAt }) => timeOr(expiresAt, text.never) },
  {
    title: text.revoke,
    right: true,
    cell: (token) => (
      <Button kind="danger" onClick={() => onRevoke(token)}>
        {text.revoke}
      </Button>
    ),
  },
]

interface TokenPanelProps {
  words: { title: string; hint: string; list: string }
  tokens: readonly Token[]
  revokeHint(name: string): string
  /** Resolves with null if it failed. */
  revoke(tokenId: string): Promise<object | null>
  /** The form for a new one; null for who may not make any. */
  form: ((close: () => void) => ReactNode) | null
}

/** The tokens of an agent or a member: each is revoked here, and new ones are made. */
export const TokenPanel = ({ words, tokens, revokeHint, revoke, form }: TokenPanelProps) => {
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<Token | null>(null)
  return (
    <Panel
      title={words.title}
      actions={
        form && (
          <Button icon={PlusIcon} onClick={() => setCreating(true)}>
            {text.create}
          </Button>
        )
      }
    >
      <p className="hint">{words.hint}</p>
      {tokens.length > 0 ? (
        <Table
          stacked
          label={words.list}
          columns={columnsOf(setRevoking)}
          rows={tokens}
          keyOf={({ id }) => id}
        />
      ) : (
        <p className="soft">{text.none}</p>
      )}
      {creating && form?.(() => setCreating(false))}
      {revoking && (
        <Confirm
          title={text.revokeTitle}
          label={text.revoke}
          onConfirm={() => revoke(revoking.id)}
          onClose={() => setRevoking(null)}
        >
          <p>{revokeHint(revoking.name ?? text.unnamed)}</p>
        </Confirm>
      )}
    </Panel>
  )
}
