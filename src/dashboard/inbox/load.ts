import type { Client } from 'urql'
import { type Failure, failureOf } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import {
  type Found,
  isAway,
  MESSAGE_ROW,
  ofMessage,
  ofThread,
  type Row,
  THREAD_ROW,
  stateOf as threadStateFields,
} from '../triage/row.ts'
import { isOfThreads, isThreadState, type Search } from './query.ts'

export interface Page {
  rows: readonly Row[]
  /** Where the next page starts; null after the last one. */
  next: string | null
}

export type Loaded = { page: Page; failure: null } | { page: null; failure: Failure }

const THREADS = graphql(
  `
    query Threads(
      $agentId: UUID!, $ofAgent: Boolean!, $channel: AddressChannel, $label: String, $unread: Boolean
      $state: ThreadState, $assignedTo: UUID, $first: Int!, $after: String
    ) {
      agent(id: $agentId) @include(if: $ofAgent) {
        id
        threads(
          first: $first, after: $after, channel: $channel, label: $label, unread: $unread, state: $state
          assignedTo: $assignedTo
        ) { ...ThreadPage }
      }
      workspace @skip(if: $ofAgent) {
        id
        threads(
          first: $first, after: $after, channel: $channel, label: $label, unread: $unread, state: $state
          assignedTo: $assignedTo
        ) { ...ThreadPage }
      }
    }
    fragment ThreadPage on ThreadConnection {
      edges { node { ...ThreadRow } }
      pageInfo { endCursor hasNextPage }
    }
  `,
  [THREAD_ROW],
)

const MESSAGES = graphql(
  `
    query FoundMessages(
      $agentId: UUID!, $ofAgent: Boolean!, $channel: AddressChannel, $label: String, $unread: Boolean
      $q: String, $from: String, $to: String, $subject: String, $since: DateTime, $until: DateTime
      $status: MessageStatus, $hold: HoldReason, $hasAttachment: Boolean, $first: Int!, $after: String
    ) {
      agent(id: $agentId) @include(if: $ofAgent) {
        id
        messages(
          first: $first, after: $after, channel: $channel, label: $label, unread: $unread, q: $q, from: $from
          to: $to, subject: $subject, since: $since, until: $until
          status: $status, hold: $hold, hasAttachment: $hasAttachment
        ) { ...MessagePage }
      }
      workspace @skip(if: $ofAgent) {
        id
        messages(
          first: $first, after: $after, channel: $channel, label: $label, unread: $unread, q: $q, from: $from
          to: $to, subject: $subject, since: $since, until: $until
          status: $status, hold: $hold, hasAttachment: $hasAttachment
        ) { ...MessagePage }
      }
    }
    fragment MessagePage on MessageConnection {
      edges { highlights { field parts { text matched } } node { ...MessageRow } }
      pageInfo { endCursor hasNextPage }
    }
  `,
  [MESSAGE_ROW],
)

/** Where the threads of found messages are. */
const PLACES = graphql(`
  query FoundThreads($ids: [UUID!]!) {
    threadsOf(messageIds: $ids) { id doneAt snoozedUntil assignedTo { id name } }
  }
`)

const THREADS_OF = graphql(
  `query ThreadsOf($ids: [UUID!]!) { threadsOf(messageIds: $ids) { ...ThreadRow } }`,
  [THREAD_ROW],
)
/** As many messages as the service takes at once. */
const MOST_IDS = 100

const PAGE = 50
/** Stands for the agent in a query of all, which leaves it out. */
const NO_AGENT = '00000000-0000-0000-0000-000000000000'

const now = { requestPolicy: 'network-only' } as const

/** The states that the API knows by other names. */
const stateOf = ({ state }: Search) => {
  if (isThreadState(state)) return {}
  if (state === 'waiting') return { hold: 'approval' } as const
  return state === 'scheduled' ? ({ hold: 'schedule' } as const) : { status: state }
}

const commonOf = (search: Search, after: string | null) => ({
  agentId: search.agentId ?? NO_AGENT,
  ofAgent: search.agentId !== null,
  first: PAGE,
  after,
  channel: search.channel,
  label: search.label,
  unread: search.unread,
})

interface Connection<Node> {
  edges: readonly { node: Node; highlights?: Found }[]
  pageInfo: { endCursor: string | null; hasNextPage: boolean }
}

const pageOf = <Node>(
  { edges, pageInfo }: Connection<Node>,
  toRow: (node: Node, highlights?: Found) => Row,
): Page => ({
  rows: edges.map(({ node, highlights }) => toRow(node, highlights)),
  next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
})

const threadStateOf = ({ state }: Search) =>
  state === 'open' || state === 'done' || state === 'snoozed' ? state : null

const loadThreads = async (client: Client, search: Search, after: string | null): Promise<Loaded> => {
  const state = { state: threadStateOf(search), assignedTo: search.assignedTo }
  const { data, error } = await client
    .query(THREADS, { ...commonOf(search, after), ...state }, now)
    .toPromise()
  const connection = data?.agent?.threads ?? data?.workspace?.threads
  return connection
    ? { page: pageOf(connection, ofThread), failure: null }
    : { page: null, failure: failureOf(error)! }
}

/** Whether messages are searched of which the API does not know whether they belong into the list. */
/** Whether a thread is in the state that is listed, and assigned to whom it should be. */
export const isInState = ({ state, assignedTo }: Search, row: Row): boolean => {
  if (assignedTo !== null && row.assignedTo?.id !== assignedTo) return false
  if (state === 'done') return row.doneAt != null
  if (state === 'snoozed') return row.doneAt == null && row.snoozedUntil != null
  return state !== 'open' || !isAway(row)
}

export const isSifted = (search: Search): boolean =>
  !isOfThreads(search) && (threadStateOf(search) !== null || search.assignedTo !== null)

/** Leaves the messages whose threads are in the state that is searched for, and assigned to whom they should be. */
const amongThreads = async (client: Client, search: Search, page: Page): Promise<Loaded> => {
  const ids = page.rows.map(({ id }) => id)
  if (ids.length === 0) return { page, failure: null }
  const { data, error } = await client.query(PLACES, { ids }, now).toPromise()
  if (!data) return { page: null, failure: failureOf(error)! }
  const rows = page.rows.map((row, index) => ({ ...row, ...threadStateFields(data.threadsOf[index]) }))
  return { page: { ...page, rows: rows.filter((row) => isInState(search, row)) }, failure: null }
}

const loadMessages = async (client: Client, search: Search, after: string | null): Promise<Loaded> => {
  const { words, from, to, subject, since, until, hasAttachment } = search
  const variables = {
    ...commonOf(search, after),
    ...stateOf(search),
    ...{ q: words || null, from, to, subject },
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    hasAttachment: hasAttachment ? true : null,
  }
  const { data, error } = await client.query(MESSAGES, variables, now).toPromise()
  const connection = data?.agent?.messages ?? data?.workspace?.messages
  if (!connection) return { page: null, failure: failureOf(error)! }
  const page = pageOf(connection, ofMessage)
  return isSifted(search) ? amongThreads(client, search, page) : { page, failure: null }
}

export const loadPage = (client: Client, search: Search, after: string | null): Promise<Loaded> =>
  (isOfThreads(search) ? loadThreads : loadMessages)(client, search, after)

/** Reads the threads of some messages again; null if that failed, or one of them is gone. */
export const loadThreadsOf = async (client: Client, messageIds: readonly string[]): Promise<Row[] | null> => {
  const parts = Array.from({ length: Math.ceil(messageIds.length / MOST_IDS) }, (_, part) =>
    messageIds.slice(part * MOST_IDS, (part + 1) * MOST_IDS),
  )
  // They go in one request.
  const answers = await Promise.all(parts.map((ids) => client.query(THREADS_OF, { ids }, now).toPromise()))
  const threads = answers.flatMap(({ data }) => data?.threadsOf ?? [null])
  if (threads.includes(null)) return null
  return threads.flatMap((thread) => (thread ? [ofThread(thread)] : []))
}
