import { Link } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { PencilIcon } from '../parts/icons.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import type { Person } from './context.ts'
import { text } from './strings.ts'

const FROM = graphql(`
  query CorrespondentMessages($from: String!) {
    workspace {
      id
      messages(from: $from, first: 100) {
        edges { node { id threadId channel status subject createdAt counterpart counterpartName agent { id name } } }
        pageInfo { hasNextPage }
      }
    }
  }
`)
const ACCESS = graphql(`
  query CorrespondentAccess {
    agents {
      id name
      access {
        email { senders blocked }
        sms { senders blocked }
        telegram { senders blocked }
      }
    }
  }
`)

type Found = ResultOf<typeof FROM>['workspace']['messages']
type Agents = ResultOf<typeof ACCESS>['agents']

const SHOWN = 8

/** Whether an entry of a list means the address. */
const means =
  ({ address, channel }: Person) =>
  (entry: string): boolean => {
    const [one, other] = [entry.toLowerCase(), address.toLowerCase()]
    if (one === other) return true
    return channel === 'email' && one.startsWith('*@') && other.endsWith(one.slice(1))
  }

const Access = ({ agents, person }: { agents: Agents; person: Person }) => {
  const isMeant = means(person)
  const known = agents.flatMap(({ id, name, access }) => {
    const { senders, blocked } = access[person.channel]
    if (blocked.some(isMeant)) return [{ id, name, isBlocked: true }]
    return senders.some(isMeant) ? [{ id, name, isBlocked: false }] : []
  })
  if (known.length === 0) return <p className="soft">{text.person.nowhere}</p>
  return (
    <ul className="row">
      {known.map(({ id, name, isBlocked }) => (
        <li key={id}>
          <Link href={`/agents/${id}/access`}>{name}</Link>{' '}
          <Badge tone={isBlocked ? 'bad' : 'good'}>
            {isBlocked ? text.person.blocked : text.person.listed}
          </Badge>
        </li>
      ))}
    </ul>
  )
}

const Exchanged = ({ found, onClose }: { found: Found; onClose(): void }) => {
  const messages = found.edges.map(({ node }) => node)
  const oldest = messages.at(-1)
  const channels = [...new Set(messages.map(({ channel }) => text.channels[channel]))]
  return (
    <>
      <p>
        {text.person.received(messages.length, found.pageInfo.hasNextPage)}
        {channels.length > 0 && ` (${channels.join(', ')})`}
        {oldest && (
          <>
            {' · '}
            {found.pageInfo.hasNextPage ? text.person.before : text.person.first}{' '}
            <Time at={oldest.createdAt} detailed />
          </>
        )}
      </p>
      <ul className="person-messages">
        {messages.slice(0, SHOWN).map(({ id, threadId, subject, createdAt, status, agent }) => (
          <li key={id}>
            <Link href={`/inbox/${threadId}`} onClick={onClose} dir="auto">
              {subject ?? text.noSubject}
            </Link>
            <span className="hint">
              {text.person.by(agent.name)} · <Time at={createdAt} />
            </span>
            {status === 'refused' && <Badge tone="bad">{text.status.refused}</Badge>}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Who somebody is to the workspace: what they sent to which agents, and where they may write. */
export const Correspondent = ({ person, onClose }: { person: Person; onClose(): void }) => {
  const messages = useLive(FROM, { from: person.address }, ['messages'])
  const access = useLive(ACCESS, {}, ['access'])
  return (
    <Dialog title={person.name ?? person.address} onClose={onClose} wide>
      <div className="row between">
        <Copyable value={person.address} what={person.address} />
        {person.channel === 'email' && (
          <LinkButton
            href={`/compose?${new URLSearchParams({ agent: person.agentId, to: person.address })}`}
            icon={PencilIcon}
          >
            {text.person.write}
          </LinkButton>
        )}
      </div>
      <section className="stack">
        <h3>{text.person.exchanged}</h3>
        <Load from={messages}>
          {({ workspace }) => <Exchanged found={workspace.messages} onClose={onClose} />}
        </Load>
      </section>
      <section className="stack">
        <h3>{text.person.access}</h3>
        <Load from={access}>{({ agents }) => <Access agents={agents} person={person} />}</Load>
      </section>
    </Dialog>
  )
}
