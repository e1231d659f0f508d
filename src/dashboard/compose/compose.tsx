import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { Channel } from '../channels/channels.ts'
import { wordsOf } from '../channels/words.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { LinkButton } from '../parts/button.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { BotIcon, PencilIcon } from '../parts/icons.tsx'
import { keptOf, LAST_AGENT } from '../parts/kept.ts'
import { Empty, Loading } from '../parts/states.tsx'
import { Page } from '../screen/page.tsx'
import { useAgentNames, useAgents, useViewer } from '../screen/viewer.tsx'
import { EMPTY, type Words } from './letter.ts'
import { LetterForm } from './letter-form.tsx'
import { type Draft, readDraft } from './service.ts'
import { text } from './strings.ts'
import { type Agent, signed, useWritingAgent } from './use-agent.ts'
import { useLetter } from './use-letter.ts'
import { placeOfDraft, resumeAll, writingAt } from './writings.ts'

const FORWARDED = graphql(`
  query Forwarded($id: UUID!) {
    message(id: $id) { id channel subject counterpart counterpartName attachments { name } }
  }
`)

type ForwardedMessage = ResultOf<typeof FORWARDED>['message']

/** What is forwarded. */
const Forwarded = ({ message }: { message: ForwardedMessage }) => {
  const { subject, counterpart, counterpartName, attachments } = message
  return (
    <>
      {text.forwards(subject ?? text.noSubject, counterpartName ?? counterpart)}{' '}
      {attachments.length > 0 && text.forwardsFiles(attachments.map(({ name }) => name).join(', '))}
    </>
  )
}

interface WrittenProps {
  agent: Agent
  blank: Words
  /** Where it is kept on this device. */
  place: string
  hint?: ReactNode
  /** Whether the cursor goes to its first field. */
  isFirst: boolean
}

const Written = ({ agent, blank, place, hint, isFirst }: WrittenProps) => {
  const [, go] = useLocation()
  const writing = useLetter(place, blank)
  const { letter, change, problems } = writing
  const channels = [...new Set(agent.addresses.map(({ channel }) => channel))]
  const isNew = letter.replyTo === null && letter.forward === null
  const to = useRef<HTMLInputElement>(null)
  // After the page, which puts the focus on its title.
  useEffect(() => {
    if (isFirst) queueMicrotask(() => to.current?.focus())
  }, [isFirst])
  return (
    <LetterForm
      writing={writing}
      agent={agent}
      label={text.text}
      hint={hint}
      onSent={({ threadId }) => go(`/inbox/${threadId}`)}
      onSaved={() => go('/drafts')}
    >
      {isNew && channels.length > 1 && (
        <Select
          label={text.channel}
          options={Object.fromEntries(channels.map((channel) => [channel, wordsOf(channel).name]))}
          chosen={letter.channel}
          onChoose={(channel) => change({ channel: channel as Channel })}
        />
      )}
      {letter.replyTo === null && (
        <Field
          ref={to}
          label={text.to}
          hint={text.toHint}
          error={problems.to}
          value={letter.to}
          onChange={({ target }) => change({ to: target.value })}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      {isNew && letter.channel === 'email' && (
        <Field
          label={text.subject}
          error={problems.subject}
          value={letter.subject}
          onChange={({ target }) => change({ subject: target.value })}
          maxLength={240}
        />
      )}
    </LetterForm>
  )
}

/** A draft, as it is on the service or, newer, on this device. */
const OpenedDraft = ({ agentId, draftId, agent }: { agentId: string; draftId: string; agent: Agent }) => {
  const owner = keptOf(useViewer(), 'letter')
  const [place] = useState(() => placeOfDraft(owner, draftId) ?? `${owner}:${agentId}:draft:${draftId}`)
  const blank = { ...EMPTY, agentId }
  const [draft, setDraft] = useState<Draft | 'gone' | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once; later changes are heard
  useEffect(() => {
    void readDraft(agentId, draftId).then(({ value, failure }) => {
      if (value) writingAt(place, blank).take(value)
      // What this device has of it can be written on without the service.
      setDraft(value ?? (failure?.code === 'not_found' ? 'gone' : null))
    })
  }, [])
  const isHere = placeOfDraft(owner, draftId) !== undefined
  if (draft === 'gone' && !isHere)
    return (
      <Empty icon={PencilIcon} title={text.noSuchDraft}>
        <LinkButton href="/drafts">{text.allDrafts}</LinkButton>
      </Empty>
    )
  if (draft === null && !isHere) return <Loading lines={6} />
  const hint = draft !== null && draft !== 'gone' && draft.html ? text.hasHtml : undefined
  return <Written agent={agent} blank={blank} place={place} hint={hint} isFirst={false} />
}

interface ComposeProps {
  agentId: string
  draftId: string | null
  forward: string | null
  isFirst: boolean
}

/** What a link to an address begins a letter with (`?to=`). */
const useGiven = () => {
  const [search] = useSearchParams()
  const [to = '', cc = '', subject = '', body = ''] = ['to', 'cc', 'subject', 'body'].map(
    (name) => search.get(name) ?? '',
  )
  return { to, cc, subject: subject.slice(0, 240), text: body }
}

/** Writes a new message, forwards one (`?forward=`), or goes on with a draft (`?draft=`). */
const Compose = ({ agentId, draftId, forward, isFirst }: ComposeProps) => {
  const owner = keptOf(useViewer(), 'letter', agentId)
  const agent = useWritingAgent(agentId)
  const given = useGiven()
  const message = useLive(FORWARDED, { id: forward ?? '' }, [], { pause: forward === null }).data?.message
  if (draftId) return <OpenedDraft agentId={agentId} draftId={draftId} agent={agent} />
  const channel = message?.channel ?? 'email'
  const blank = { ...EMPTY, ...given, agentId, forward, channel, text: given.text + signed(agent, channel) }
  const hint = message && <Forwarded message={message} />
  return <Written {...{ agent, blank, hint, isFirst }} place={`${owner}:${forward ?? (given.to || 'new')}`} />
}

/** The agent of the address; without one, the one that was written as last goes into the address. */
const useAgentId = (): string | undefined => {
  const [search, setSearch] = useSearchParams()
  const all = useAgents()
  const inAddress = search.get('agent')
  const last = all.find(({ id }) => id === localStorage.getItem(LAST_AGENT)) ?? all[0]
  useEffect(() => {
    if (inAddress) localStorage.setItem(LAST_AGENT, inAddress)
    else if (last)
      setSearch((before) => ({ ...Object.fromEntries(before), agent: last.id }), { replace: true })
  }, [inAddress, last, setSearch])
  return inAddress ?? last?.id
}

const titleOf = (search: URLSearchParams): string => {
  if (search.has('draft')) return text.draftTitle
  return search.has('forward') ? text.forwardTitle : text.title
}

export const Screen = () => {
  const [search, setSearch] = useSearchParams()
  const viewer = useViewer()
  const names = useAgentNames()
  const agentId = useAgentId()
  const [first] = useState(agentId)
  const [draftId, forward] = [search.get('draft'), search.get('forward')]
  const isFixed = draftId !== null || forward !== null
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => resumeAll(keptOf(viewer, 'letter')), [])
  return (
    <Page title={titleOf(search)}>
      {agentId && Object.hasOwn(names, agentId) ? (
        <div className="letter-of">
          <Select
            label={text.from}
            hint={isFixed ? undefined : text.agentHint}
            options={names}
            chosen={agentId}
            disabled={isFixed}
            onChoose={(agent) => setSearch({ agent })}
          />
          <Compose
            key={`${agentId} ${draftId} ${forward}`}
            {...{ agentId, draftId, forward }}
            isFirst={agentId === first && draftId === null}
          />
        </div>
      ) : (
        <Empty icon={BotIcon} title={Object.keys(names).length > 0 ? text.noSuchAgent : text.noAgent}>
          <LinkButton href="/agents">{text.toAgents}</LinkButton>
        </Empty>
      )}
    </Page>
  )
}
