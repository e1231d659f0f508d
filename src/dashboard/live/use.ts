import { useCallback, useEffect, useRef, useState } from 'react'
import {
  type AnyVariables,
  createRequest,
  type TypedDocumentNode,
  useClient,
  useMutation,
  useQuery,
} from 'urql'
import { say } from '../parts/toast.ts'
import { type Change, expectChange, onChange, type Topic } from './change.ts'
import { OWN_HEADERS } from './client.ts'
import { type Failure, failureOf, isPassing } from './failure.ts'
import { announce } from './live.ts'
import { holdTrouble } from './trouble.ts'

const concerns = (changes: readonly Change[], topics: readonly Topic[]): boolean =>
  changes.some(({ topic }) => topic === 'all' || topics.includes(topic))

/** Calls `refresh` after changes of the given topics, together with everything else that is read again then. */
export const useChanges = (topics: readonly Topic[], refresh: (changes: readonly Change[]) => void): void => {
  const latest = useRef({ topics, refresh })
  useEffect(() => {
    latest.current = { topics, refresh }
  })
  useEffect(
    () =>
      onChange((changes) => {
        if (concerns(changes, latest.current.topics)) latest.current.refresh(changes)
      }),
    [],
  )
}

/** How often something is read again that could not be read, besides the tries of each request. */
const RETRY_MS = 5_000

/**
 * Calls `retry` every few seconds, and when the network comes back, after a read that failed in a way that may pass:
 * the stream does not repeat the change that it was for. The frame says so meanwhile.
 */
export const useRetry = (failure: Failure | null, retry: () => void): void => {
  const mayPass = failure !== null && isPassing(failure.code)
  const latest = useRef(retry)
  useEffect(() => {
    latest.current = retry
  })
  useEffect(() => {
    if (!mayPass) return
    const again = (): void => latest.current()
    const timer = setInterval(again, RETRY_MS * (1 + Math.random() / 4))
    addEventListener('online', again)
    const end = holdTrouble()
    return () => {
      clearInterval(timer)
      removeEventListener('online', again)
      end()
    }
  }, [mayPass])
}

export interface Shown<Data> {
  data: Data | undefined
  failure: Failure | null
  /** True until there is something to show. */
  loading: boolean
  refresh(): void
}

/**
 * The data that was read last with these variables. A failure that may pass takes nothing away; what is gone, or
 * may not be seen any more, is not shown on.
 */
const useKept = <Data>(data: Data | undefined, failure: Failure | null, key: string): Data | undefined => {
  const [kept, setKept] = useState({ key, data })
  const before = kept.key === key && (failure === null || isPassing(failure.code)) ? kept.data : undefined
  const shown = failure ? (before ?? data) : (data ?? before)
  if (kept.key !== key || kept.data !== shown) setKept({ key, data: shown })
  return shown
}

/** Shows the result of a query, read again whenever something of the topics changes. */
export const useLive = <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  topics: readonly Topic[],
  { pause = false } = {},
): Shown<Data> => {
  const client = useClient()
  const [result] = useQuery<Data, Variables>({ query, variables, pause } as Parameters<
    typeof useQuery<Data, Variables>
  >[0])
  const latest = useRef({ query, variables })
  useEffect(() => {
    latest.current = { query, variables }
  })
  // Not with the next render: what is read at the same moment goes in one request.
  const refresh = useCallback(() => {
    const request = createRequest(latest.current.query, latest.current.variables)
    client.reexecuteOperation(
      client.createRequestOperation('query', request, { requestPolicy: 'network-only' }),
    )
  }, [client])
  useChanges(topics, () => {
    if (!pause) refresh()
  })
  const failure = failureOf(result.error)
  useRetry(pause ? null : failure, refresh)
  const data = useKept(result.data, failure, JSON.stringify(variables))
  return { data, failure: data ? null : failure, loading: result.fetching && !data, refresh }
}

export interface Action<Data, Variables> {
  /**
   * Runs the mutation. Resolves to null if it failed, which has then been said. With an idempotency key, running
   * it again after a lost answer changes nothing more.
   */
  run(variables: Variables, key?: string): Promise<Data | null>
  busy: boolean
  failure: Failure | null
}

const withKey = (key: string) => ({ ...OWN_HEADERS, 'Idempotency-Key': key })

interface ActionOptions {
  /** The form shows the failure beside its field; otherwise it is shown as a notice. */
  quiet?: boolean
  /** What is changed afterwards, which all tabs are told: needed where no subscription tells it. */
  changes?: Change
}

/** A mutation: how to run it, whether it is running, and how it failed last. */
export const useAction = <Data, Variables extends AnyVariables>(
  mutation: TypedDocumentNode<Data, Variables>,
  { quiet = false, changes }: ActionOptions = {},
): Action<Data, Variables> => {
  const [{ fetching }, execute] = useMutation<Data, Variables>(mutation)
  const changed = useRef(changes)
  useEffect(() => {
    changed.current = changes
  })
  const [failure, setFailure] = useState<Failure | null>(null)
  const run = useCallback(
    async (variables: Variables, key?: string) => {
      const context = key === undefined ? {} : { fetchOptions: { headers: withKey(key) } }
      const { data, error } = await execute(variables, context)
      const failed = failureOf(error)
      setFailure(failed)
      if (!failed && changed.current) announce([changed.current])
      else if (!failed) expectChange()
      if (failed && !quiet) say({ kind: 'failure', text: failed.message, requestId: failed.requestId })
      return failed ? null : (data ?? null)
    },
    [execute, quiet],
  )
  return { run, busy: fetching, failure }
}
