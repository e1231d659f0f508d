import { useEffect, useRef } from 'react'
import { useClient } from 'urql'
import { useLocation } from 'wouter'
import { type Change, onHeard } from '../live/change.ts'
import { graphql, type ResultOf } from '../live/graphql.ts'
import { leads } from '../live/live.ts'
import { useNotificationState } from '../parts/notifications.ts'
import { useAgents, useViewer, type Viewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const WAITING = graphql(`
  query WaitingForMember($member: UUID!) {
    workspace {
      id
      messages(first: 20, hold: approval) { edges { node { id agent { id name } } } }
      questions { id agent { id name } }
      threads(first: 20, assignedTo: $member, state: open) { edges { node { id agentId } } }
    }
  }
`)

const NOTED = graphql(`
  query NotedThreads($ids: [UUID!]!) {
    threadsOf(messageIds: $ids) { id agentId notes { id text author { id name } } }
  }
`)

/** What a notification says, which is nothing that anybody outside has written, and where it leads. */
interface Notice {
  id: string
  title: string
  href: string
}

type NameOf = (agentId: string) => string

const waitingOf = ({ workspace }: ResultOf<typeof WAITING>, nameOf: NameOf): Notice[] => [
  ...workspace.messages.edges.map(({ node: { id, agent } }) => ({
    id: `decide ${id}`,
    title: text.notification.decide(agent.name),
    href: '/waiting',
  })),
  ...workspace.questions.map(({ id, agent }) => ({
    id: `asked ${id}`,
    title: text.notification.asked(agent.name),
    href: '/waiting/questions',
  })),
  ...workspace.threads.edges.map(({ node: { id, agentId } }) => ({
    id: `assigned ${id}`,
    title: text.notification.assigned(nameOf(agentId)),
    href: `/inbox/${id}`,
  })),
]

/** `@Olivia`, `@Olivia Meyer` or `@olivia@example.com`. */
const mentions = (note: string, { name, email }: Viewer): boolean =>
  [name, name?.split(' ')[0], email].some(
    (one) => one && note.toLowerCase().includes(`@${one.toLowerCase()}`),
  )

const mentionsOf = ({ threadsOf }: ResultOf<typeof NOTED>, viewer: Viewer, nameOf: NameOf): Notice[] =>
  threadsOf.flatMap((thread) =>
    (thread?.notes ?? [])
      .filter(({ author, text: note }) => author.id !== viewer.id && mentions(note, viewer))
      .map(({ id, author }) => ({
        id: `mentioned ${id}`,
        title: text.notification.mentioned(author.name, nameOf(thread!.agentId)),
        href: `/inbox/${thread!.id}`,
      })),
  )

const MOST_THREADS = 100
/** Changes are gathered for this long, and no more of them than this. */
const [GATHERED_MS, MOST_HEARD] = [5_000, 500]

const show = ({ id, title, href }: Notice, go: (href: string) => void): void => {
  const notification = new Notification(title, { tag: id })
  notification.addEventListener('click', () => {
    window.focus()
    go(href)
    notification.close()
  })
}

/** Reads what waits for the member and, in the threads of these messages, what mentions them. */
const useRead = () => {
  const client = useClient()
  const viewer = useViewer()
  const agents = useAgents()
  const read = async (ids: readonly string[]): Promise<Notice[] | null> => {
    const options = { requestPolicy: 'network-only' } as const
    const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? ''
    const [waiting, noted] = await Promise.all([
      client.query(WAITING, { member: viewer.id }, options).toPromise(),
      ids.length > 0
        ? client.query(NOTED, { ids: [...new Set(ids)].slice(-MOST_THREADS) }, options).toPromise()
        : null,
    ])
    if (!waiting.data) return null
    return [
      ...waitingOf(waiting.data, nameOf),
      ...(noted?.data ? mentionsOf(noted.data, viewer, nameOf) : []),
    ]
  }
  return read
}

const idsOf = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ topic, arrived, ids }) => (topic === 'messages' && !arrived ? (ids ?? []) : []))

const Telling = () => {
  const read = useRead()
  const [, go] = useLocation()
  /** What is there when notifications begin is no news; null until then. */
  const known = useRef<ReadonlySet<string> | null>(null)
  const tell = async (changes: readonly Change[]) => {
    // Only one tab tells.
    const notices = leads() ? await read(idsOf(changes)) : null
    if (!notices) return
    const before = known.current
    // Once each, though several messages of a thread changed.
    const byId = new Map(notices.map((notice) => [notice.id, notice]))
    known.current = new Set([...(before ?? []), ...byId.keys()])
    // Who is looking sees it.
    if (!before || document.hasFocus()) return
    for (const [id, notice] of byId) if (!before.has(id)) show(notice, go)
  }
  const latest = useRef(tell)
  useEffect(() => {
    latest.current = tell
  })
  useEffect(() => {
    let heard: readonly Change[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const flush = (): void => {
      timer = undefined
      const changes = heard
      heard = []
      void latest.current(changes)
    }
    flush()
    const stop = onHeard((changes) => {
      const own = changes.filter(
        ({ topic }) => topic === 'messages' || topic === 'questions' || topic === 'all',
      )
      if (own.length === 0) return
      heard = [...heard, ...own].slice(-MOST_HEARD)
      timer ??= setTimeout(flush, GATHERED_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
  return null
}

/** Tells of decisions, assignments and mentions while nobody looks, on devices where that is switched on. */
export const Notifications = () => useNotificationState() === 'on' && <Telling />
