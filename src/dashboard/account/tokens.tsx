import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Time } from '../parts/time.tsx'
import { Scopes } from '../tokens/scopes.tsx'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

const REVOKE = graphql(`
  mutation RevokeOwnToken($input: RevokeOwnTokenInput!) { revokeOwnToken(input: $input) { tokenId } }
`)

type Token = Viewer['tokens'][number]

const columnsOf = (onRevoke: (token: Token) => void): readonly Column<Token>[] => [
  { title: text.tokenColumns.name, cell: ({ name }) => name ?? <span className="soft">{text.unnamed}</span> },
  { title: text.tokenColumns.scopes, cell: ({ scopes }) => <Scopes of={scopes} /> },
  { title: text.tokenColumns.created, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  {
    title: text.tokenColumns.used,
    cell: ({ lastUsedAt }) =>
      lastUsedAt ? <Time at={lastUsedAt} /> : <span className="soft">{text.never}</span>,
  },
  {
    title: text.tokenColumns.expires,
    cell: ({ expiresAt }) =>
      expiresAt ? <Time at={expiresAt} /> : <span className="soft">{text.never}</span>,
    wide: true,
  },
  {
    title: text.tokenColumns.end,
    right: true,
    cell: (token) => (
      <Button kind="danger" onClick={() => onRevoke(token)}>
        {text.revoke}
      </Button>
    ),
  },
]

/** The member's own tokens. */
export const Tokens = ({ tokens }: Pick<Viewer, 'tokens'>) => {
  const [revoking, setRevoking] = useState<Token | null>(null)
  const { run } = useAction(REVOKE)
  const revoke = async (tokenId: string) => {
    const done = await run({ input: { tokenId } })
    if (done) announce([{ topic: 'all' }])
    return done !== null
  }
  return (
    <section className="panel">
      <h2>{text.tokens}</h2>
      <div className="panel-content">
        <p className="hint">{text.tokensHint}</p>
        {tokens.length > 0 ? (
          <Table
            label={text.tokenList}
            columns={columnsOf(setRevoking)}
            rows={tokens}
            keyOf={({ id }) => id}
          />
        ) : (
          <p className="soft">{text.noTokens}</p>
        )}
      </div>
      {revoking && (
        <Confirm
          title={text.revokeTitle}
          label={text.revoke}
          onConfirm={() => revoke(revoking.id)}
          onClose={() => setRevoking(null)}
        >
          <p>{text.revokeHint}</p>
        </Confirm>
      )}
    </section>
  )
}
