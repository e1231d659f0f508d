import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { ShieldXIcon } from '../parts/icons.tsx'
import { Metadata } from '../parts/metadata.tsx'
import { Panel } from '../parts/panel.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import './agent.css'
import { Connect } from './connect.tsx'
import { mailSnippets } from './snippets.ts'
import { text } from './strings.ts'

const OVERVIEW = graphql(`
  query AgentOverview($id: UUID!) {
    service { publicUrl smtp captured }
    agent(id: $id) {
      id
      metadata
      addresses { id channel value primary }
      access { email { admit senders } }
      messages(first: 10, direction: inbound) {
        edges { node { id threadId subject counterpart counterpartName createdAt status refusal } }
      }
    }
  }
`)

type Data = ResultOf<typeof OVERVIEW>
type Arrived = Data['agent']['messages']['edges'][number]['node']

const ADMIT = graphql(`
  mutation AdmitAnyone($agentId: UUID!, $senders: [String!]!) {
    setAccess(input: { agentId: $agentId, channel: email, admit: anyone, senders: $senders }) { access { admit } }
  }
`)

const WhoMayWrite = ({ agent }: Pick<Data, 'agent'>) => {
  const { run, busy } = useAction(ADMIT)
  const { may } = useViewer()
  const { admit, senders } = agent.access.email
  if (admit === 'anyone') return <p className="hint">{text.anyone}</p>
  return (
    <div className="note">
      <p>{text.onlyListed}</p>
      {may.setAccess && (
        <Button busy={busy} onClick={() => void run({ agentId: agent.id, senders })}>
          {text.admitAnyone}
        </Button>
      )}
    </div>
  )
}

const Write = ({ service, agent, address }: Data & { address: string }) => (
  <Panel title={text.write}>
    <WhoMayWrite agent={agent} />
    <p>{service.smtp ? text.writeHint(service.smtp) : text.noSmtp}</p>
    {service.smtp && <Snippet label={text.send} variants={mailSnippets(address, service.smtp)} />}
    {service.captured && <p className="hint">{text.captured}</p>}
  </Panel>
)

const ArrivedRow = ({ message }: { message: Arrived }) => (
  <li>
    <Link href={`/inbox/${message.threadId}`} className="arrived">
      <span className="arrived-from">
        <bdi>{message.counterpartName ?? message.counterpart}</bdi>
      </span>
      <span className="arrived-subject">
        <bdi>{message.subject ?? text.noSubject}</bdi>
      </span>
      {message.refusal && (
        <Badge tone="bad" icon={ShieldXIcon}>
          {text.refused}
        </Badge>
      )}
      <Time at={message.createdAt} />
    </Link>
  </li>
)

const Arrived = ({ agent }: Pick<Data, 'agent'>) => {
  const { edges } = agent.messages
  return (
    <section className="panel" aria-labelledby="arrived">
      <h2 id="arrived">{text.arrives}</h2>
      {edges.length > 0 ? (
        <ul>
          {edges.map(({ node }) => (
            <ArrivedRow key={node.id} message={node} />
          ))}
        </ul>
      ) : (
        <p className="panel-content soft">{text.nothing}</p>
      )}
    </section>
  )
}

/** An agent's first page: where to write to it, how, and what has arrived. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const overview = useLive(OVERVIEW, { id: agentId }, ['access', 'agents', 'messages'])
  return (
    <Load from={overview} lines={6}>
      {(data) => {
        const address = data.agent.addresses.find(({ channel, primary }) => channel === 'email' && primary)
        return (
          <>
            {address && (
              <Panel title={text.address}>
                <p className="address">
                  <Copyable value={address.value} what={text.address} />
                </p>
                <p className="hint">{text.addressHint}</p>
              </Panel>
            )}
            {address && <Write {...data} address={address.value} />}
            {Object.keys(data.agent.metadata).length > 0 && (
              <Panel title={text.metadata}>
                <Metadata of={data.agent.metadata} label={text.metadata} />
              </Panel>
            )}
            <Arrived agent={data.agent} />
            <Connect agentId={agentId} publicUrl={data.service.publicUrl} />
          </>
        )
      }}
    </Load>
  )
}
