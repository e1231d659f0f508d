import { useLocation, useSearchParams } from 'wouter'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Field, Select } from '../parts/field.tsx'
import { BotIcon } from '../parts/icons.tsx'
import { toInput } from '../parts/local-time.ts'
import { Empty, Load } from '../parts/states.tsx'
import { Page } from '../shell/page.tsx'
import { useAgents } from '../shell/viewer.tsx'
import { type Channel, EMPTY, type Letter } from './letter.ts'
import { LetterForm } from './letter-form.tsx'
import { text } from './strings.ts'
import { useLetter } from './use-letter.ts'

const AGENTS = graphql(`query ComposeAgents { agents { id name addresses { id channel value primary } } }`)

/** The drafts of one agent, of which one is written on; none without a draft. */
const DRAFTS = graphql(`
  query ComposeDrafts($agentId: UUID!, $isDraft: Boolean!) {
    agent(id: $agentId) {
      id
      drafts(first: 100) @include(if: $isDraft) {
        edges { node { id channel to cc subject text replyTo forward sendAt updatedAt attachments { name size } } }
      }
    }
  }
`)

type Agents = ResultOf<typeof AGENTS>['agents']
type Draft = NonNullable<ResultOf<typeof DRAFTS>['agent']['drafts']>['edges'][number]['node']

const fromDraft = (agentId: string, draft: Draft): Letter => ({
  ...EMPTY,
  agentId,
  channel: draft.channel ?? 'email',
  replyTo: draft.replyTo ?? null,
  forward: draft.forward ?? null,
  to: draft.to.join(', '),
  cc: draft.cc.join(', '),
  subject: draft.subject ?? '',
  text: draft.text ?? '',
  sendAt: draft.sendAt ? toInput(new Date(draft.sendAt)) : '',
})

interface WrittenProps {
  agents: Agents
  initial: Letter
  draft: Draft | null
}

const Written = ({ agents, initial, draft }: WrittenProps) => {
  const [, go] = useLocation()
  const place = draft?.id ?? initial.forward ?? 'new'
  const writing = useLetter(place, initial, draft?.id ?? null)
  const { letter, change } = writing
  const agent = agents.find(({ id }) => id === letter.agentId)
  const channels = [...new Set(agent?.addresses.map(({ channel }) => channel))]
  const isNew = letter.replyTo === null && letter.forward === null
  return (
    <LetterForm
      writing={writing}
      label={text.text}
      hint={
        draft &&
        draft.attachments.length > 0 &&
        `${text.kept} (${draft.attachments.map(({ name }) => name).join(', ')})`
      }
      onSent={({ threadId }) => go(`/inbox/${threadId}`)}
      onSaved={() => go('/drafts')}
    >
      <div className="letter-from">
        <Select
          label={text.from}
          value={letter.agentId}
          disabled={!isNew || draft !== null}
          onChange={({ target }) => change({ agentId: target.value, channel: 'email' })}
        >
          {agents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
        {isNew && channels.length > 1 && (
          <Select
            label={text.channel}
            value={letter.channel}
            onChange={({ target }) => change({ channel: target.value as Channel })}
          >
            {channels.map((channel) => (
              <option key={channel} value={channel}>
                {text.channels[channel]}
              </option>
            ))}
          </Select>
        )}
      </div>
      {letter.replyTo === null && (
        <Field
          label={text.to}
          hint={text.toHint}
          value={letter.to}
          onChange={({ target }) => change({ to: target.value })}
          autoComplete="off"
          spellCheck={false}
          autoFocus={draft === null}
        />
      )}
      {isNew && letter.channel === 'email' && (
        <Field
          label={text.subject}
          value={letter.subject}
          onChange={({ target }) => change({ subject: target.value })}
          maxLength={240}
        />
      )}
    </LetterForm>
  )
}

/** Writes a new message, forwards one (`?forward=`), or goes on with a draft (`?draft=`). */
const Compose = ({ agentId }: { agentId: string }) => {
  const [search] = useSearchParams()
  const draftId = search.get('draft')
  const forward = search.get('forward')
  const agents = useLive(AGENTS, {}, ['agents'])
  const drafts = useLive(DRAFTS, { agentId, isDraft: draftId !== null }, [])
  return (
    <Load from={agents}>
      {({ agents: all }) => (
        <Load from={drafts}>
          {({ agent }) => {
            const draft = agent.drafts?.edges.find(({ node }) => node.id === draftId)?.node ?? null
            const initial = draft ? fromDraft(agentId, draft) : { ...EMPTY, agentId, forward }
            return <Written key={draft?.id ?? forward ?? ''} agents={all} initial={initial} draft={draft} />
          }}
        </Load>
      )}
    </Load>
  )
}

const titleOf = (search: URLSearchParams): string => {
  if (search.has('draft')) return text.draftTitle
  return search.has('forward') ? text.forwardTitle : text.title
}

export const Screen = () => {
  const [search] = useSearchParams()
  const all = useAgents()
  const agentId = search.get('agent') ?? all[0]?.id
  return (
    <Page title={titleOf(search)}>
      {agentId ? <Compose agentId={agentId} /> : <Empty icon={BotIcon} title={text.noAgent} />}
    </Page>
  )
}
