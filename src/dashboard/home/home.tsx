import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { FirstAgent } from '../inbox/first-agent.tsx'
import { useLive } from '../live/use.ts'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { Badge, type Tone } from '../parts/badge.tsx'
import { CircleAlertIcon, CircleCheckIcon, RadioIcon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import { Load } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'
import { Page } from '../screen/page.tsx'
import { useAgents } from '../screen/viewer.tsx'
import './home.css'
import { allNeeds, type Line, linesOf, type Need } from './needs.ts'
import { FLEET, type FleetData } from './query.ts'
import { Sparkline } from './sparkline.tsx'
import { text } from './strings.ts'

const TONES: Partial<Record<Need['kind'], Tone>> = {
  failing: 'bad',
  deaf: 'bad',
  held: 'warn',
  silent: 'warn',
}

const Listening = ({ agent: { listening } }: Line) => (
  <>
    <Badge tone={listening.now ? 'good' : 'neutral'} {...(listening.now ? { icon: RadioIcon } : {})}>
      {listening.now ? text.listening : text.notListening}
    </Badge>{' '}
    {listening.since && (
      <span className="hint">
        {text.since} <Time at={listening.since} since />
      </span>
    )}
  </>
)

const Needs = ({ needs }: Line) => (
  <ul className="needs">
    {needs
      .filter(({ kind }) => kind !== 'unread')
      .map(({ kind, words, href }) => (
        <li key={kind} className={TONES[kind] ?? 'neutral'}>
          <Link href={href}>{words}</Link>
        </li>
      ))}
  </ul>
)

const Unread = ({ needs }: Line) => {
  const unread = needs.find(({ kind }) => kind === 'unread')
  return unread ? (
    <Link href={unread.href} className="fleet-unread">
      {unread.words}
    </Link>
  ) : null
}

const COLUMNS: readonly Column<Line>[] = [
  {
    title: text.columns.agent,
    cell: ({ agent }) => (
      <Link href={`/agents/${agent.id}`} className="fleet-name">
        <AgentIcon name={agent.icon} />
        {agent.name}
      </Link>
    ),
  },
  { title: text.columns.needs, cell: Needs },
  { title: text.columns.state, cell: Listening },
  { title: text.columns.unread, cell: Unread },
  { title: text.columns.day, cell: ({ agent }) => <Sparkline counts={agent.activity} /> },
]

/** While the pointer or the keyboard is in the list, its lines keep their places. */
const useStillWhileUsed = (lines: readonly Line[]) => {
  const [isUsed, setUsed] = useState({ pointer: false, focus: false })
  const places = useRef<readonly string[]>([])
  const isStill = isUsed.pointer || isUsed.focus
  const placeOf = ({ agent }: Line): number => {
    const place = places.current.indexOf(agent.id)
    return place < 0 ? places.current.length : place
  }
  const shown = isStill ? lines.toSorted((one, other) => placeOf(one) - placeOf(other)) : lines
  useEffect(() => {
    places.current = shown.map(({ agent }) => agent.id)
  })
  const use = (change: Partial<typeof isUsed>) => setUsed((before) => ({ ...before, ...change }))
  return {
    shown,
    handlers: {
      onPointerEnter: () => use({ pointer: true }),
      onPointerLeave: () => use({ pointer: false }),
      onFocus: () => use({ focus: true }),
      onBlur: () => use({ focus: false }),
    },
  }
}

const NeedsYou = ({ fleet }: { fleet: FleetData }) => {
  const needs = allNeeds(fleet)
  return (
    <Panel id="needs-you" title={text.needsYou}>
      {needs.length > 0 ? (
        <ul className="needs-you">
          {needs.map(({ kind, words, href }) => (
            <li key={kind} className={TONES[kind] ?? 'neutral'}>
              <CircleAlertIcon />
              {href.startsWith('#') ? <a href={href}>{words}</a> : <Link href={href}>{words}</Link>}
            </li>
          ))}
        </ul>
      ) : (
        <p className="nothing-needed">
          <CircleCheckIcon /> {text.nothing}
        </p>
      )}
    </Panel>
  )
}

const Fleet = ({ fleet }: { fleet: FleetData }) => {
  const { shown, handlers } = useStillWhileUsed(linesOf(fleet))
  return (
    <>
      <NeedsYou fleet={fleet} />
      <section className="panel" id="fleet" aria-label={text.fleet} {...handlers}>
        <div className="panel-content">
          <Table label={text.list} columns={COLUMNS} rows={shown} keyOf={({ agent }) => agent.id} stacked />
        </div>
      </section>
    </>
  )
}

const Home = () => {
  const fleet = useLive(FLEET, {}, ['agents', 'listeners', 'messages', 'questions', 'webhooks'])
  return (
    <Page title={text.title}>
      <Load from={fleet} lines={8}>
        {(data) => <Fleet fleet={data} />}
      </Load>
    </Page>
  )
}

/** The first page: what needs a person, and every agent in a line. */
export const Screen = () => (useAgents().length === 0 ? <FirstAgent title={text.title} /> : <Home />)
