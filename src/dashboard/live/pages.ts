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
  /** After changes of these, the list is read again from its beginning. */
  topics: readonly Topic[]
}

interface State<Node> {
  rows: readonly Node[] | undefined
  next: string | null
  failure: Failure | null
  busy: boolean
}

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
    async (before: readonly Node[], after: string | null) => {
      current.current += 1
      const turn = current.current
      setState((was) => ({ ...was, busy: true }))
      const given = { ...latest.current.variables, after } as Variables & { after: string | null }
      const { data, error } = await client
        .query(latest.current.query, given, { requestPolicy: 'network-only' })
        .toPromise()
      // A later question was asked meanwhile, such as one with another filter.
      if (turn !== current.current) return
      if (!data) return setState((was) => ({ ...was, failure: failureOf(error), busy: false }))
      const { edges, pageInfo } = latest.current.pick(data)
      const rows = [...before, ...edges.map(({ node }) => node)]
      setState({ rows, next: pageInfo.hasNextPage ? pageInfo.endCursor : null, failure: null, busy: false })
    },
    [client],
  )
  const refresh = useCallback(() => void load([], null), [load])
  const key = JSON.stringify(variables)
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again when the variables change
  useEffect(refresh, [refresh, key])
  useChanges(topics, refresh)
  const { rows, next, failure, busy } = state
  useRetry(failure, refresh)
  const more = rows && next !== null ? () => void load(rows, next) : undefined
  return { data: rows, failure: rows ? null : failure, busy, more, refresh }
}
