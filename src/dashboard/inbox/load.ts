import type { Client } from 'urql'
import { type Failure, failureOf } from '../live/failure.ts'
import { graphql } from '../live/graphql.ts'
import { THREAD_ROW, type ThreadRow } from './thread-row.ts'

/** Which threads the list shows. */
export interface ThreadFilter {
  agentId: string | null
  unread: boolean
}

export interface ThreadPage {
  rows: readonly ThreadRow[]
  /** Where the next page starts; null after the last one. */
  next: string | null
}

export type Loaded<Value> = { value: Value; failure: null } | { value: null; failure: Failure }

const OF_AGENT = graphql(
  `
    query AgentThreads($agentId: UUID!, $unread: Boolean, $first: Int!, $after: String) {
      agent(id: $agentId) {
        id
        threads(first: $first, after: $after, unread: $unread) {
          edges { node { ...ThreadRow } }
          pageInfo { endCursor hasNextPage }
        }
      }
    }
  `,
  [THREAD_ROW],
)

const OF_ALL = graphql(
  `
    query AllThreads($unread: Boolean, $first: Int!) {
      agents {
        id
        threads(first: $first, unread: $unread) { edges { node { ...ThreadRow } } }
      }
    }
  `,
  [THREAD_ROW],
)

const ONE = graphql(`query OneThread($id: UUID!) { thread(id: $id) { ...ThreadRow } }`, [THREAD_ROW])

const PAGE = 50

const now = { requestPolicy: 'network-only' } as const

export const loadThreads = async (
  client: Client,
  { agentId, unread }: ThreadFilter,
  after: string | null,
): Promise<Loaded<ThreadPage>> => {
  const only = unread ? { unread } : {}
  if (agentId === null) {
    const { data, error } = await client.query(OF_ALL, { ...only, first: 10 }, now).toPromise()
    if (!data) return { value: null, failure: failureOf(error)! }
    const rows = data.agents.flatMap(({ threads }) => threads.edges.map(({ node }) => node))
    return { value: { rows, next: null }, failure: null }
  }
  const variables = { agentId, ...only, first: PAGE, after }
  const { data, error } = await client.query(OF_AGENT, variables, now).toPromise()
  if (!data) return { value: null, failure: failureOf(error)! }
  const { edges, pageInfo } = data.agent.threads
  const next = pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null
  return { value: { rows: edges.map(({ node }) => node), next }, failure: null }
}

/** Reads threads anew; null for those that are gone. */
export const loadRows = (client: Client, ids: readonly string[]): Promise<(ThreadRow | null)[]> =>
  Promise.all(ids.map(async (id) => (await client.query(ONE, { id }, now).toPromise()).data?.thread ?? null))
