import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { RadioIcon } from '../parts/icons.tsx'
import { Panel } from '../parts/panel.tsx'
import { Load } from '../parts/states.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { CREATE } from './create.ts'
import { tokenSnippets } from './hosts.ts'
import { NewToken } from './new-token.tsx'
import { AGENT_SCOPES } from './scopes.tsx'
import { text } from './strings.ts'
import { TokenPanel } from './token-panel.tsx'

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

const Listeners = ({ listeners }: Pick<Agent, 'listeners'>) => (
  <Panel title={text.listeners}>
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
  </Panel>
)

interface OwnProps {
  agentId: string
  publicUrl: string
}

const NewAgentToken = ({ agentId, publicUrl, onClose }: OwnProps & { onClose(): void }) => {
  const { run, ...state } = useAction(CREATE, { quiet: true, changes: { topic: 'agents', agentId } })
  return (
    <NewToken
      {...state}
      possible={AGENT_SCOPES}
      snippets={(token) => tokenSnippets({ agentId, publicUrl, token })}
      onClose={onClose}
      create={async (input) => {
        const made = await run({ input: { agentId, ...input } })
        return made?.createToken?.token ?? null
      }}
    />
  )
}

const Tokens = ({ tokens, ...own }: OwnProps & Pick<Agent, 'tokens'>) => {
  const { agentId } = own
  const { run } = useAction(REVOKE, { changes: { topic: 'agents', agentId } })
  const { may } = useViewer()
  return (
    <TokenPanel
      words={{ title: text.tokens, hint: text.tokensHint, list: text.list }}
      tokens={tokens}
      revokeHint={text.revokeHint}
      revoke={(tokenId) => run({ input: { agentId, tokenId } })}
      form={may.createTokens ? (close) => <NewAgentToken {...own} onClose={close} /> : null}
    />
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
