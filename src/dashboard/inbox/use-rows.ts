import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import type { Change } from '../live/change.ts'
import type { Failure } from '../live/failure.ts'
import { useChanges, useRetry } from '../live/use.ts'
import { type Filter, loadPage, loadThreadsOf } from './load.ts'
import { isOfThreads, parseSearch } from './query.ts'
import type { Row } from './row.ts'

/** With more changed messages than this, the list is read instead of each thread. */
const MOST_SINGLE = 6
/** After a gap, as much is read again as was shown, but no more than this. */
const MOST_AGAIN = 300

export interface Rows {
  rows: readonly Row[]
  loading: boolean
  busy: boolean
  failure: Failure | null
  hasMore: boolean
  more(): void
  retry(): void
}

/** Adds and replaces rows, the most recent activity first. */
const merge = (known: readonly Row[], fresh: readonly Row[]): Row[] => {
  const all = new Map([...known, ...fresh].map((row) => [row.id, row]))
  return [...all.values()].sort((a, b) => b.at.localeCompare(a.at))
}

/** Whether a thread that changed belongs into the list. Its label is known of its newest message only. */
const belongs = ({ agentId, search }: Filter, row: Row): boolean =>
  (agentId === null || row.agentId === agentId) &&
  (search.channel === null || row.channel === search.channel) &&
  (!search.unread || row.isUnread)

interface State {
  rows: readonly Row[] | null
  next: string | null
  busy: boolean
  failure: Failure | null
}

const NOTHING: State = { rows: null, next: null, busy: false, failure: null }

/** The threads of one agent or of all, or the messages found, kept up to date row by row. */
export const useRows = (agentId: string | null, query: string): Rows => {
  const client = useClient()
  const [state, setState] = useState<State>(NOTHING)
  /** Answers that come after the filter has changed are dropped. */
  const turn = useRef(0)

  const load = useCallback(
    async (after: string | null, count: number) => {
      const filter = { agentId, search: parseSearch(query) }
      const mine = turn.current
      setState((old) => ({ ...old, busy: true }))
      let next = after
      let fresh: readonly Row[] = []
      do {
        const { page, failure } = await loadPage(client, filter, next)
        if (turn.current !== mine) return
        if (failure) return setState((old) => ({ ...old, busy: false, failure }))
        fresh = [...fresh, ...page.rows]
        next = page.next
      } while (next !== null && fresh.length < count)
      setState((old) => ({
        rows: merge(after === null ? [] : (old.rows ?? []), fresh),
        next,
        busy: false,
        failure: null,
      }))
    },
    [client, agentId, query],
  )

  useEffect(() => {
    turn.current++
    setState(NOTHING)
    void load(null, 1)
  }, [load])

  const loadAgain = () => void load(null, Math.min(state.rows?.length ?? 0, MOST_AGAIN))
  useRetry(state.failure, loadAgain)

  const loadSome = async (messageIds: readonly string[]) => {
    const filter = { agentId, search: parseSearch(query) }
    const mine = turn.current
    const fresh = await loadThreadsOf(client, messageIds)
    if (turn.current !== mine) return
    if (fresh === null) return loadAgain()
    setState((old) => {
      // What was just read stays in a list of unread threads, so that it does not vanish under the pointer.
      const shown = new Set(old.rows?.map(({ id }) => id))
      return {
        ...old,
        rows: merge(
          old.rows ?? [],
          fresh.filter((row) => shown.has(row.id) || belongs(filter, row)),
        ),
      }
    })
  }

  useChanges(['messages'], (changes: readonly Change[]) => {
    const own = changes.filter((one) => one.topic === 'all' || agentId === null || one.agentId === agentId)
    if (own.length === 0 || state.rows === null) return
    const search = parseSearch(query)
    const ids = [...new Set(own.flatMap((one) => one.ids ?? []))]
    const missed = own.some(({ topic }) => topic === 'all') || ids.length > MOST_SINGLE
    if (missed || !isOfThreads(search) || search.label !== null) loadAgain()
    else void loadSome(ids)
  })

  const { rows, next, busy, failure } = state
  return {
    rows: rows ?? [],
    loading: rows === null && failure === null,
    busy,
    failure: rows === null ? failure : null,
    hasMore: next !== null,
    more: () => {
      if (!busy && next !== null) void load(next, 1)
    },
    retry: () => void load(null, 1),
  }
}
