import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import type { Change } from '../live/change.ts'
import type { Failure } from '../live/failure.ts'
import { useChanges } from '../live/use.ts'
import { loadRows, loadThreads, type ThreadFilter } from './load.ts'
import type { ThreadRow } from './thread-row.ts'

/** With more changed threads than this, the first page is read instead of each thread. */
const MOST_SINGLE = 6
/** After a gap, as much is read again as was shown, but no more than this. */
const MOST_AGAIN = 300

export interface Threads {
  rows: readonly ThreadRow[]
  loading: boolean
  busy: boolean
  failure: Failure | null
  hasMore: boolean
  more(): void
  retry(): void
}

/** Adds and replaces rows, the most recent activity first. */
const merge = (known: readonly ThreadRow[], fresh: readonly ThreadRow[]): ThreadRow[] => {
  const all = new Map([...known, ...fresh].map((row) => [row.id, row]))
  return [...all.values()].sort((a, b) => b.lastActivityAt.localeCompare(a.lastActivityAt))
}

interface State {
  rows: readonly ThreadRow[] | null
  next: string | null
  busy: boolean
  failure: Failure | null
}

const NOTHING: State = { rows: null, next: null, busy: false, failure: null }

/** The threads of one agent or of all, kept up to date row by row. */
export const useThreads = ({ agentId, unread }: ThreadFilter): Threads => {
  const client = useClient()
  const [state, setState] = useState<State>(NOTHING)
  /** Answers that come after the filter has changed are dropped. */
  const turn = useRef(0)

  const load = useCallback(
    async (after: string | null, count: number) => {
      const mine = turn.current
      setState((old) => ({ ...old, busy: true }))
      let next = after
      let fresh: readonly ThreadRow[] = []
      do {
        const { value, failure } = await loadThreads(client, { agentId, unread }, next)
        if (turn.current !== mine) return
        if (failure) return setState((old) => ({ ...old, busy: false, failure }))
        fresh = [...fresh, ...value.rows]
        next = value.next
      } while (next !== null && fresh.length < count)
      setState((old) => ({
        rows: merge(after === null ? [] : (old.rows ?? []), fresh),
        next,
        busy: false,
        failure: null,
      }))
    },
    [client, agentId, unread],
  )

  useEffect(() => {
    turn.current++
    setState(NOTHING)
    void load(null, 1)
  }, [load])

  const loadSome = async (ids: readonly string[]) => {
    const mine = turn.current
    const rows = await loadRows(client, ids)
    if (turn.current !== mine) return
    setState((old) => {
      const kept = (old.rows ?? []).filter(({ id }) => !ids.includes(id))
      const shown = new Set(old.rows?.map(({ id }) => id))
      const fresh = rows.filter((row) => row !== null)
      // What was just read stays in a list of unread threads, so that it does not vanish under the pointer.
      return {
        ...old,
        rows: merge(
          kept,
          fresh.filter((row) => !unread || row.unreadCount > 0 || shown.has(row.id)),
        ),
      }
    })
  }

  const onChanges = (changes: readonly Change[]) => {
    const own = changes.filter((one) => one.topic === 'all' || agentId === null || one.agentId === agentId)
    const ids = [...new Set(own.map(({ threadId }) => threadId))]
    if (ids.length === 0 || state.rows === null) return
    if (ids.length <= MOST_SINGLE && ids.every((id) => id !== undefined)) void loadSome(ids)
    else void load(null, Math.min(state.rows.length, MOST_AGAIN))
  }
  useChanges(['messages'], onChanges)

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
