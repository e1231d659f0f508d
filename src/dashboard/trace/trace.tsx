import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { text as accessText } from '../access/strings.ts'
import { ACTIONS } from '../audit/strings.ts'
import { useLive } from '../live/use.ts'
import { text as messageText } from '../message/strings.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/form/field.tsx'
import { Form } from '../parts/form.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { locale } from '../parts/language.ts'
import { type Column, Table } from '../parts/list/table.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { type Moment, TRACE, type Trace } from './query.ts'
import { text } from './strings.ts'
import './trace.css'

const TONES: Partial<Record<Moment['kind'], Tone>> = {
  received: 'good',
  refused: 'bad',
  held: 'warn',
  webhook_failing: 'bad',
  webhook_paused: 'warn',
  listening: 'good',
  not_listening: 'warn',
}

/** What is so when it is asked: its time says nothing. */
const NOW: ReadonlySet<Moment['kind']> = new Set([
  ...(['status', 'admits', 'senders', 'blocked'] as const),
  ...(['webhook_delivery', 'webhook_skips', 'webhook_passed', 'webhook_waits'] as const),
])

/** To the second: what happens to a message takes less than a minute. */
const stamp = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })

const named = (names: object, name: string | null): string | null =>
  (names as Record<string, string>)[name ?? ''] ?? name

/** Names in the API's words are said as other screens say them. */
const shown = ({ kind, subject, detail }: Moment): [string | null, string | null] => {
  if (kind === 'audit') return [named(ACTIONS, subject?.replace('.', '_') ?? null), detail]
  if (kind === 'check') return [named(messageText.check, subject), detail]
  if (kind === 'refused') return [null, named(messageText.refusal, detail)]
  if (kind === 'admits') return [null, named(accessText.admits, detail)]
  return [subject, kind === 'status' ? named(messageText.status, detail) : detail]
}

const Details = ({ moment }: { moment: Moment }) => {
  const [subject, detail] = shown(moment)
  return (
    <>
      {subject && <bdi className="trace-subject">{subject}</bdi>}{' '}
      {detail && (
        <span className="soft" dir="auto">
          {detail}
        </span>
      )}
    </>
  )
}

type Row = Moment & { key: string }

const COLUMNS: readonly Column<Row>[] = [
  {
    title: text.columns.when,
    cell: ({ at, kind }) => (
      <time dateTime={at} className="soft">
        {NOW.has(kind) ? text.now : stamp.format(new Date(at))}
      </time>
    ),
  },
  {
    title: text.columns.what,
    cell: ({ kind }) => <Badge tone={TONES[kind] ?? 'neutral'}>{text.kinds[kind]}</Badge>,
  },
  { title: text.columns.more, cell: (moment) => <Details moment={moment} /> },
]

const Traced = ({ trace: { kind, subject, owner, agentId, threadId, moments } }: { trace: Trace }) => {
  const about = text.about[kind](subject, owner ?? '–')
  return (
    <section className="panel trace">
      <header className="row between">
        <h2 dir="auto">{about}</h2>
        {threadId && <Link href={`/inbox/${threadId}`}>{text.thread}</Link>}
        {agentId && !threadId && <Link href={`/agents/${agentId}`}>{text.agent}</Link>}
      </header>
      {moments.length > 0 ? (
        <Table
          label={about}
          columns={COLUMNS}
          stacked
          rows={moments.map((moment, index) => ({ ...moment, key: String(index) }))}
          keyOf={({ key }) => key}
        />
      ) : (
        <p className="panel-content soft">{text.noMoments}</p>
      )}
    </section>
  )
}

/** In an installed package and in a checkout, with the quotes that a shell needs. */
const commandsFor = (what: string) =>
  ['agent-messaging', 'npm start --'].map((command) => ({
    name: command.split(' ')[0]!,
    code: `${command} trace --log FILE '${what.replaceAll("'", "'\\''")}'`,
  }))

const Nothing = ({ what }: { what: string }) => (
  <Empty icon={SearchIcon} title={text.nothing}>
    <p>{text.nothingHint}</p>
    <div className="trace-nothing">
      <Snippet label={text.inLog} variants={commandsFor(what)} />
    </div>
  </Empty>
)

const Result = ({ what }: { what: string }) => (
  <Load from={useLive(TRACE, { what }, [])} lines={8}>
    {({ workspace: { trace } }) =>
      trace.length > 0 ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are read as a whole
        trace.map((one, index) => <Traced key={index} trace={one} />)
      ) : (
        <Nothing what={what} />
      )
    }
  </Load>
)

/** What happened to a message, at an address, with a token or by a request. */
export const Happened = () => {
  const [search, setSearch] = useSearchParams()
  const what = search.get('of')?.trim() ?? ''
  const [typed, setTyped] = useState(what)
  const [asked, setAsked] = useState(what)
  if (asked !== what) {
    setAsked(what)
    setTyped(what)
  }
  return (
    <>
      <Form className="trace-form" onSubmit={() => setSearch({ of: typed.trim() })}>
        <Field
          label={text.label}
          hint={text.hint}
          value={typed}
          maxLength={998}
          required
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button kind="primary" submit icon={SearchIcon}>
          {text.find}
        </Button>
      </Form>
      {what !== '' && <Result key={what} what={what} />}
    </>
  )
}
