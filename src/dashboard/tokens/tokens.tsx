import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction, useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { PlusIcon, RadioIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { NewToken } from './new-token.tsx'
import { Scopes } from './scopes.tsx'
import { text } from './strings.ts'

const CONNECT = graphql(`
  query AgentTokens($id: UUID!) {
    service { publicUrl }
    agent(id: $id) {
      id
      listeners { kind id client machine url }
      tokens { id name createdAt lastUsedAt expiresAt scopes }
    }
  }
`)

const REVOKE = graphql(`
  mutation RevokeToken($input: RevokeTokenInput!) { revokeToken(input: $input) { tokenId } }
`)

type Agent = ResultOf<typeof CONNECT>['agent']
type Token = Agent['tokens'][number]

const Listeners = ({ listeners }: Pick<Agent, 'listeners'>) => (
  <section className="panel">
    <h2>{text.listeners}</h2>
    <div className="panel-content">
      <p className="hint">{listeners.length > 0 ? text.listenersHint : text.nobody}</p>
      <ul className="stack">
        {listeners.map(({ kind, id, client, machine, url }) => (
          <li key={id ?? kind} className="row">
            <Badge tone="good" icon={RadioIcon}>
              {kind}
            </Badge>
            {kind === 'client' ? text.client(client ?? '', machine ?? '') : url}
          </li>
        ))}
      </ul>
    </div>
  </section>
)

const timeOr = (at: string | null, otherwise: string) =>
  at ? <Time at={at} /> : <span className="soft">{otherwise}</span>

const columnsOf = (onRevoke: (token: Token) => void): readonly Column<Token>[] => [
  { title: text.columns.name, cell: ({ name }) => name ?? <span className="soft">{text.unnamed}</span> },
  { title: text.columns.scopes, cell: ({ scopes }) => <Scopes of={scopes} /> },
  { title: text.columns.created, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  { title: text.columns.used, cell: ({ lastUsedAt }) => timeOr(lastUsedAt, text.never) },
  { title: text.columns.expires, cell: ({ expiresAt }) => timeOr(expiresAt, text.never), wide: true },
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

const Tokens = ({
  agentId,
  tokens,
  publicUrl,
}: {
  agentId: string
  tokens: Agent['tokens']
  publicUrl: string
}) => {
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<Token | null>(null)
  const { run } = useAction(REVOKE)
  const { may } = useViewer()
  const revoke = async ({ id }: Token) => {
    const done = await run({ input: { agentId, tokenId: id } })
    if (done) announce([{ topic: 'agents', agentId }])
    return done !== null
  }
  return (
    <section className="panel">
      <header className="row between">
        <h2>{text.tokens}</h2>
        {may.createTokens && (
          <Button icon={PlusIcon} onClick={() => setCreating(true)}>
            {text.create}
          </Button>
        )}
      </header>
      <div className="panel-content">
        <p className="hint">{text.tokensHint}</p>
        {tokens.length > 0 ? (
          <Table label={text.list} columns={columnsOf(setRevoking)} rows={tokens} keyOf={({ id }) => id} />
        ) : (
          <p className="soft">{text.none}</p>
        )}
      </div>
      {creating && <NewToken agentId={agentId} publicUrl={publicUrl} onClose={() => setCreating(false)} />}
      {revoking && (
        <Confirm
          title={text.revokeTitle}
          label={text.revoke}
          onConfirm={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>{text.revokeHint(revoking.name ?? text.unnamed)}</p>
        </Confirm>
      )}
    </section>
  )
}

/** The programs behind an agent: who listens now, and the tokens with which they act as it. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const loaded = useLive(CONNECT, { id: agentId }, ['tokens', 'listeners', 'webhooks'])
  return (
    <Load from={loaded} lines={6}>
      {({ agent, service }) => (
        <>
          <Tokens agentId={agentId} tokens={agent.tokens} publicUrl={service.publicUrl} />
          <Listeners listeners={agent.listeners} />
        </>
      )}
    </Load>
  )
}
