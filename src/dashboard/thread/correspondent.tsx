import { Link } from 'wouter'
import { ACCESS_BY_CHANNEL } from '../channels/channels.ts'
import { wordsOf } from '../channels/words.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import type { Person } from '../message/context.ts'
import { text as messageText } from '../message/strings.ts'
import { Badge } from '../parts/badge.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { PencilIcon } from '../parts/icons.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { text } from './strings.ts'

const PAGE = graphql(`
  fragment CorrespondentPage on MessageConnection {
    edges {
      node { id threadId channel direction status subject createdAt counterpart counterpartName agent { id name } }
    }
    pageInfo { hasNextPage }
  }
`)
/** What an address sent and got, and what others of the same name sent, on whatever channel. */
const EXCHANGED = graphql(
  `
    query CorrespondentMessages($address: String!, $name: String!, $named: Boolean!) {
      workspace {
        id
        received: messages(from: $address, first: 100) { ...CorrespondentPage }
        sent: messages(to: $address, direction: outbound, first: 100) { ...CorrespondentPage }
        named: messages(from: $name, first: 50) @include(if: $named) { ...CorrespondentPage }
      }
    }
  `,
  [PAGE],
)
const ACCESS = graphql(`query CorrespondentAccess { agents { id name access { ...AccessByChannel } } }`, [
  ACCESS_BY_CHANNEL,
])

type Found = ResultOf<typeof EXCHANGED>['workspace']
type Page = ResultOf<typeof PAGE>
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

const nodesOf = ({ edges }: Page) => edges.map(({ node }) => node)

/** Other addresses that give the same name, which anybody can. */
const namesakes = ({ named }: Found, { address, name }: Person): { address: string; channel: string }[] => {
  const found = new Map<string, { address: string; channel: string }>()
  for (const { counterpart, counterpartName, channel } of named ? nodesOf(named) : [])
    if (counterpartName === name && counterpart.toLowerCase() !== address.toLowerCase())
      found.set(counterpart, { address: counterpart, channel: wordsOf(channel).name })
  return [...found.values()]
}

const Numbers = ({ found: { received, sent } }: { found: Found }) => {
  const isMore = received.pageInfo.hasNextPage
  const oldest = received.edges.at(-1)?.node
  return (
    <p>
      {text.person.received(received.edges.length, isMore)}
      {' · '}
      {text.person.sent(sent.edges.length, sent.pageInfo.hasNextPage)}
      {oldest && (
        <>
          {' · '}
          {isMore ? text.person.before : text.person.first} <Time at={oldest.createdAt} detailed />
        </>
      )}
    </p>
  )
}

const Exchanged = ({ found, person, onClose }: { found: Found; person: Person; onClose(): void }) => {
  const messages = [...nodesOf(found.received), ...nodesOf(found.sent)].sort((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  )
  const others = namesakes(found, person)
  return (
    <>
      <Numbers found={found} />
      <ul className="person-messages">
        {messages.slice(0, SHOWN).map(({ id, threadId, direction, subject, createdAt, status, agent }) => (
          <li key={id}>
            <Link href={`/inbox/${threadId}`} onClick={onClose} dir="auto">
              {subject ?? text.noSubject}
            </Link>
            <span className="hint">
              {direction === 'inbound' ? text.person.toAgent(agent.name) : text.person.byAgent(agent.name)} ·{' '}
              <Time at={createdAt} />
            </span>
            {status === 'refused' && <Badge tone="bad">{messageText.status.refused}</Badge>}
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <p className="hint">
          {text.person.namesakes}{' '}
          {others.map(({ address, channel }, index) => (
            <span key={address}>
              {index > 0 && ', '}
              <bdi>{address}</bdi> ({channel})
            </span>
          ))}
        </p>
      )}
    </>
  )
}

/** Who somebody is to the workspace: what they sent to which agents, and where they may write. */
export const Correspondent = ({ person, onClose }: { person: Person; onClose(): void }) => {
  const { address, name } = person
  const named = name !== null && name.trim() !== '' && name.length <= 320
  const exchanged = useLive(EXCHANGED, { address, name: named ? name : address, named }, ['messages'])
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
        <Load from={exchanged}>
          {({ workspace }) => <Exchanged found={workspace} person={person} onClose={onClose} />}
        </Load>
      </section>
      <section className="stack">
        <h3>{text.person.access}</h3>
        <Load from={access}>{({ agents }) => <Access agents={agents} person={person} />}</Load>
      </section>
    </Dialog>
  )
}
