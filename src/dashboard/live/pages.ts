import { useCallback, useEffect, useRef, useState } from 'react'
import { type AnyVariables, type TypedDocumentNode, useClient } from 'urql'
import type { Topic } from './change.ts'
import { type Failure, failureOf } from './failure.ts'
import { useChanges, useRetry } from './use.ts'

interface Connection<Node> {
  edges: readonly { node: Node }[]
  pageInfo: { endCursor: string | null; hasNextPage: boolean }
}

export interface Pages<Node> {
  /** What was loaded so far; undefined until the first page is there. */
  data: readonly Node[] | undefined
  failure: Failure | null
  /** Whether a page is being loaded. */
  busy: boolean
  /** Loads the next page; undefined after the last one. */
  more: (() => void) | undefined
  refresh(): void
}

interface Options<Data, Variables, Node> {
  query: TypedDocumentNode<Data, Variables & { after: string | null }>
  variables: Variables
  pick(data: Data): Connection<Node>
  /** After changes of these, what is shown of the list is read again. */
  topics: readonly Topic[]
}

interface State<Node> {
  rows: readonly Node[] | undefined
  next: string | null
  failure: Failure | null
  busy: boolean
}

/** After a change, as much is read again as was shown, but no more than this. */
const MOST_AGAIN = 200

/** A list that is read page by page, newest first. */
export const usePages = <Data, Variables extends AnyVariables, Node>({
  query,
  variables,
  pick,
  topics,
}: Options<Data, Variables, Node>): Pages<Node> => {
  const client = useClient()
  const [state, setState] = useState<State<Node>>({ rows: undefined, next: null, failure: null, busy: true })
  const latest = useRef({ query, variables, pick })
  useEffect(() => {
    latest.current = { query, variables, pick }
  })
  const current = useRef(0)
  const load = useCallback(
    async (before: readonly Node[], after: string | null, count = 0) => {
      current.current += 1
      const turn = current.current
      setState((was) => ({ ...was, busy: true }))
      let rows = before
      let next = after
      do {
        const given = { ...latest.current.variables, after: next } as Variables & { after: string | null }
        const { data, error } = await client
          .query(latest.current.query, given, { requestPolicy: 'network-only' })
          .toPromise()
        // A later question was asked meanwhile, such as one with another filter.
        if (turn !== current.current) return
        if (!data) return setState((was) => ({ ...was, failure: failureOf(error), busy: false }))
        const { edges, pageInfo } = latest.current.pick(data)
        rows = [...rows, ...edges.map(({ node }) => node)]
        next = pageInfo.hasNextPage ? pageInfo.endCursor : null
      } while (next !== null && rows.length < count)
      setState({ rows, next, failure: null, busy: false })
    },
    [client],
  )
  const key = JSON.stringify(variables)
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when the variables change
  useEffect(() => void load([], null), [load, key])
  const shown = Math.min(state.rows?.length ?? 0, MOST_AGAIN)
  const refresh = () => void load([], null, shown)
  useChanges(topics, refresh)
  const { rows, next, failure, busy } = state
  useRetry(failure, refresh)
  const more = rows && next !== null ? () => void load(rows, next) : undefined
  return { data: rows, failure: rows ? null : failure, busy, more, refresh }
}
