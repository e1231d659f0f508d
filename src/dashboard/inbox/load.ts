import type { Client } from 'urql'
import { type Failure, failureOf } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import { isOfThreads, type Search } from './query.ts'
import { MESSAGE_ROW, ofMessage, ofThread, type Row, THREAD_ROW } from './row.ts'

/** What the list shows: of one agent or of all, and which threads or messages. */
export interface Filter {
  agentId: string | null
  search: Search
}

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
      $first: Int!, $after: String
    ) {
      agent(id: $agentId) @include(if: $ofAgent) {
        id
        threads(first: $first, after: $after, channel: $channel, label: $label, unread: $unread) { ...ThreadPage }
      }
      workspace @skip(if: $ofAgent) {
        id
        threads(first: $first, after: $after, channel: $channel, label: $label, unread: $unread) { ...ThreadPage }
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
      $q: String, $from: String, $status: MessageStatus, $hold: HoldReason, $hasAttachment: Boolean
      $first: Int!, $after: String
    ) {
      agent(id: $agentId) @include(if: $ofAgent) {
        id
        messages(
          first: $first, after: $after, channel: $channel, label: $label, unread: $unread, q: $q, from: $from
          status: $status, hold: $hold, hasAttachment: $hasAttachment
        ) { ...MessagePage }
      }
      workspace @skip(if: $ofAgent) {
        id
        messages(
          first: $first, after: $after, channel: $channel, label: $label, unread: $unread, q: $q, from: $from
          status: $status, hold: $hold, hasAttachment: $hasAttachment
        ) { ...MessagePage }
      }
    }
    fragment MessagePage on MessageConnection {
      edges { node { ...MessageRow } }
      pageInfo { endCursor hasNextPage }
    }
  `,
  [MESSAGE_ROW],
)

const OF_MESSAGE = graphql(`query ThreadOfMessage($id: UUID!) { message(id: $id) { id threadId } }`)
const ONE = graphql(`query OneThread($id: UUID!) { thread(id: $id) { ...ThreadRow } }`, [THREAD_ROW])

const PAGE = 50
/** Stands for the agent in a query of all, which leaves it out. */
const NO_AGENT = '00000000-0000-0000-0000-000000000000'

const now = { requestPolicy: 'network-only' } as const

/** The filters that the API knows by other names. */
const stateOf = ({ state }: Search) => {
  if (state === 'waiting') return { hold: 'approval' } as const
  if (state === 'scheduled') return { hold: 'schedule' } as const
  return state === null ? {} : { status: state }
}

const commonOf = ({ agentId, search }: Filter, after: string | null) => ({
  agentId: agentId ?? NO_AGENT,
  ofAgent: agentId !== null,
  first: PAGE,
  after,
  channel: search.channel,
  label: search.label,
  unread: search.unread ? true : null,
})

interface Connection<Node> {
  edges: readonly { node: Node }[]
  pageInfo: { endCursor: string | null; hasNextPage: boolean }
}

const pageOf = <Node>({ edges, pageInfo }: Connection<Node>, toRow: (node: Node) => Row): Page => ({
  rows: edges.map(({ node }) => toRow(node)),
  next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
})

const loadThreads = async (client: Client, filter: Filter, after: string | null): Promise<Loaded> => {
  const { data, error } = await client.query(THREADS, commonOf(filter, after), now).toPromise()
  const connection = data?.agent?.threads ?? data?.workspace?.threads
  return connection
    ? { page: pageOf(connection, ofThread), failure: null }
    : { page: null, failure: failureOf(error)! }
}

const loadMessages = async (client: Client, filter: Filter, after: string | null): Promise<Loaded> => {
  const { words, from, hasAttachment } = filter.search
  const variables = {
    ...commonOf(filter, after),
    ...stateOf(filter.search),
    q: words || null,
    from,
    hasAttachment: hasAttachment ? true : null,
  }
  const { data, error } = await client.query(MESSAGES, variables, now).toPromise()
  const connection = data?.agent?.messages ?? data?.workspace?.messages
  return connection
    ? { page: pageOf(connection, ofMessage), failure: null }
    : { page: null, failure: failureOf(error)! }
}

export const loadPage = (client: Client, filter: Filter, after: string | null): Promise<Loaded> =>
  (isOfThreads(filter.search) ? loadThreads : loadMessages)(client, filter, after)

const threadOf = async (client: Client, messageId: string): Promise<string | null> =>
  (await client.query(OF_MESSAGE, { id: messageId }).toPromise()).data?.message.threadId ?? null

const loadThread = async (client: Client, id: string): Promise<Row | null> => {
  const { data } = await client.query(ONE, { id }, now).toPromise()
  return data ? ofThread(data.thread) : null
}

/** Reads the threads of some messages anew; null if one of them is gone. */
export const loadThreadsOf = async (client: Client, messageIds: readonly string[]): Promise<Row[] | null> => {
  const ids = await Promise.all(messageIds.map((id) => threadOf(client, id)))
  const rows = await Promise.all([...new Set(ids)].map((id) => (id === null ? null : loadThread(client, id))))
  return rows.includes(null) ? null : (rows as Row[])
}
