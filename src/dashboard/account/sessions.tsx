import { graphql } from '../live/graphql.ts'
import { askToSignIn } from '../live/sign-in.ts'
import { useAction } from '../live/use.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { dropAllKept, saveAllKept } from '../parts/kept.ts'
import { type Column, Table } from '../parts/list/table.tsx'
import { Time } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

const END = graphql(`
  mutation EndSession($input: RevokeSessionInput!) { revokeSession(input: $input) { sessionId } }
`)
const END_ALL = graphql(`
  mutation EndSessions($input: RevokeSessionsInput!) { revokeSessions(input: $input) { count } }
`)

type Session = Viewer['sessions'][number]

const End = ({ session }: { session: Session }) => {
  const { run, busy } = useAction(END, { changes: { topic: 'all' } })
  return (
    <Button busy={busy} onClick={() => void run({ input: { sessionId: session.id } })}>
      {text.end}
    </Button>
  )
}

const COLUMNS: readonly Column<Session>[] = [
  {
    title: text.columns.browser,
    cell: ({ browser, current }) => (
      <span className="row">
        {browser} {current && <Badge tone="good">{text.current}</Badge>}
      </span>
    ),
  },
  { title: text.columns.used, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { title: text.columns.since, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
  { title: text.columns.end, right: true, cell: (session) => !session.current && <End session={session} /> },
]

/** The browsers in which the member is signed in. */
export const Sessions = ({ sessions, memberId }: Pick<Viewer, 'sessions'> & { memberId: string }) => {
  const { run, busy } = useAction(END_ALL)
  const viewer = useViewer()
  const endAll = async () => {
    await saveAllKept()
    if (!(await run({ input: { memberId } }))) return
    dropAllKept(viewer)
    askToSignIn()
  }
  return (
    <section className="panel">
      <header className="row between">
        <h2>{text.sessions}</h2>
        <Button kind="danger" busy={busy} onClick={() => void endAll()}>
          {text.endAll}
        </Button>
      </header>
      <Table label={text.sessionList} columns={COLUMNS} rows={sessions} keyOf={({ id }) => id} />
    </section>
  )
}
