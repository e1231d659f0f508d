import { useState } from 'react'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Choices } from '../parts/choices.tsx'
import { CircleCheckIcon, PlusIcon } from '../parts/icons.tsx'
import { Panel } from '../parts/panel.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { connectCode, HOSTS, type Host } from '../tokens/hosts.ts'
import { text } from './strings.ts'

const CONNECTED = graphql(`
  query AgentConnected($id: UUID!) {
    agent(id: $id) {
      id
      listeners { kind id client machine }
      tokens { id lastUsedAt }
    }
    viewer { id workspace { id connectedApps { id agentId name } } }
  }
`)

const CREATE = graphql(`
  mutation CreateConnectToken($input: CreateTokenInput!) { createToken(input: $input) { token record { id } } }
`)

type Data = ResultOf<typeof CONNECTED>

interface Chosen {
  host: Host
  /** The token that was just made; nothing else counts as its use. */
  tokenId?: string | undefined
}

/** What acts as the agent: an app that signed in, a client that listens, or whatever used a token. */
const connectionOf = ({ agent, viewer }: Data, { host, tokenId }: Chosen) => {
  if (host === 'chatgpt') {
    const app = viewer.workspace.connectedApps.find(({ agentId }) => agentId === agent.id)
    return app ? { words: text.connectedAs.app(app.name) } : null
  }
  const client = agent.listeners.find(({ kind }) => kind === 'client')
  if (client && !tokenId) return { words: text.connectedAs.listener(client.client ?? client.machine ?? '') }
  const tokens = agent.tokens.filter(({ id }) => !tokenId || id === tokenId)
  const at = tokens
    .flatMap(({ lastUsedAt }) => lastUsedAt ?? [])
    .sort()
    .at(-1)
  return at ? { words: text.connectedAs.token, at } : null
}

/** Whether the agent is connected, as it happens, and what to do if it is not. */
const State = ({ data, chosen, url }: { data: Data; chosen: Chosen; url: string }) => {
  const connection = connectionOf(data, chosen)
  if (!connection && !chosen.tokenId && chosen.host !== 'chatgpt') return null
  return (
    <div role="status" className="stack">
      {connection ? (
        <p className="row">
          <Badge tone="good" icon={CircleCheckIcon}>
            {text.connected}
          </Badge>
          {connection.words}
          {connection.at && <Time at={connection.at} />}
        </p>
      ) : (
        <>
          <p className="soft">{text.waiting}</p>
          <details>
            <summary>{text.notYet}</summary>
            <ul className="steps">
              {text.notYetSteps(url).map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ul>
          </details>
        </>
      )}
    </div>
  )
}

const useToken = (agentId: string) => {
  const { run, busy } = useAction(CREATE, { changes: { topic: 'tokens', agentId } })
  const [made, setMade] = useState<{ id: string; token: string } | null>(null)
  const make = async (name: string) => {
    const done = await run({ input: { agentId, name } })
    if (!done?.createToken) return
    setMade({ id: done.createToken.record.id, token: done.createToken.token })
  }
  return { made, make, busy }
}

interface ConnectProps {
  agentId: string
  publicUrl: string
}

/** From the agent's address to a program that is the agent: where it runs, a token, what to paste, and whether it works. */
export const Connect = ({ agentId, publicUrl }: ConnectProps) => {
  const [host, setHost] = useState<Host>('claude')
  const { made, make, busy } = useToken(agentId)
  const { may } = useViewer()
  const { data } = useLive(CONNECTED, { id: agentId }, ['listeners', 'members', 'tokens'])
  const code = connectCode(host, { agentId, publicUrl, token: made?.token ?? 'TOKEN' })
  const needsToken = host !== 'chatgpt'
  return (
    <Panel id="connect" title={text.connect}>
      <div className="row">
        <p>{text.connectHint}</p>
        <Choices label={text.host} options={HOSTS} chosen={host} onChoose={setHost} />
      </div>
      {needsToken && !made && (
        <div className="row">
          {may.createTokens ? (
            <Button kind="primary" icon={PlusIcon} busy={busy} onClick={() => void make(HOSTS[host])}>
              {text.makeToken}
            </Button>
          ) : null}
          <p className="hint">{may.createTokens ? text.makeTokenHint : text.noRight}</p>
        </div>
      )}
      {needsToken && made && <p className="note">{text.tokenOnce}</p>}
      {!needsToken && !publicUrl.startsWith('https:') && <p className="note">{text.notPublic(publicUrl)}</p>}
      <Snippet label={text.code[host]} variants={[{ name: HOSTS[host], code }]} />
      <p className="hint">{text.codeHint[host]}</p>
      {data && <State data={data} chosen={{ host, tokenId: made?.id }} url={publicUrl} />}
    </Panel>
  )
}
