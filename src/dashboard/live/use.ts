import { useCallback, useEffect, useRef, useState } from 'react'
import { type AnyVariables, type TypedDocumentNode, useMutation, useQuery } from 'urql'
import { say } from '../parts/toast.ts'
import { type Change, onChange, type Topic } from './change.ts'
import { OWN_HEADERS } from './client.ts'
import { type Failure, failureOf } from './failure.ts'

/** Changes arrive in bursts; what is shown is read again at most this often. */
const PAUSE_MS = 250

const concerns = (changes: readonly Change[], topics: readonly Topic[]): boolean =>
  changes.some(({ topic }) => topic === 'all' || topics.includes(topic))

/** Calls `refresh` after changes of the given topics: at once, then at most every 250 ms. */
export const useChanges = (topics: readonly Topic[], refresh: (changes: readonly Change[]) => void): void => {
  const latest = useRef({ topics, refresh })
  useEffect(() => {
    latest.current = { topics, refresh }
  })
  useEffect(() => {
    let waiting: readonly Change[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const flush = (): void => {
      timer = undefined
      if (waiting.length === 0) return
      const changes = waiting
      waiting = []
      timer = setTimeout(flush, PAUSE_MS)
      latest.current.refresh(changes)
    }
    const stop = onChange((changes) => {
      if (!concerns(changes, latest.current.topics)) return
      waiting = [...waiting, ...changes]
      if (timer === undefined) flush()
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}

/** How often something is read again that the service did not answer. */
const RETRY_MS = 5_000

/**
 * Calls `retry` every 5 seconds, and when the network comes back, after a read that did not reach the service:
 * the stream does not repeat the change that it was for.
 */
export const useRetry = (failure: Failure | null, retry: () => void): void => {
  const isUnreached = failure?.code === 'offline' || failure?.code === 'unavailable'
  const latest = useRef(retry)
  useEffect(() => {
    latest.current = retry
  })
  useEffect(() => {
    if (!isUnreached) return
    const again = (): void => latest.current()
    const timer = setInterval(again, RETRY_MS)
    addEventListener('online', again)
    return () => {
      clearInterval(timer)
      removeEventListener('online', again)
    }
  }, [isUnreached])
}

export interface Shown<Data> {
  data: Data | undefined
  failure: Failure | null
  /** True until there is something to show. */
  loading: boolean
  refresh(): void
}

/** Shows the result of a query, read again whenever something of the topics changes. */
export const useLive = <Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  topics: readonly Topic[],
  { pause = false } = {},
): Shown<Data> => {
  const [result, run] = useQuery<Data, Variables>({ query, variables, pause } as Parameters<
    typeof useQuery<Data, Variables>
  >[0])
  const refresh = useCallback(() => run({ requestPolicy: 'network-only' }), [run])
  useChanges(topics, () => {
    if (!pause) refresh()
  })
  const failure = failureOf(result.error)
  useRetry(pause ? null : failure, refresh)
  return {
    data: result.data,
    failure,
    loading: result.fetching && !result.data,
    refresh,
  }
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

/**
 * A mutation. Its failures are shown as a notice, except those of a form (`quiet`), which stand beside the
 * field.
 */
export const useAction = <Data, Variables extends AnyVariables>(
  mutation: TypedDocumentNode<Data, Variables>,
  { quiet = false } = {},
): Action<Data, Variables> => {
  const [{ fetching }, execute] = useMutation<Data, Variables>(mutation)
  const [failure, setFailure] = useState<Failure | null>(null)
  const run = useCallback(
    async (variables: Variables, key?: string) => {
      const context = key === undefined ? {} : { fetchOptions: { headers: withKey(key) } }
      const { data, error } = await execute(variables, context)
      const failed = failureOf(error)
      setFailure(failed)
      if (failed && !quiet) say({ kind: 'failure', text: failed.message, requestId: failed.requestId })
      return failed ? null : (data ?? null)
    },
    [execute, quiet],
  )
  return { run, busy: fetching, failure }
}
