import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import type { Change } from '../live/change.ts'
import type { Failure } from '../live/failure.ts'
import { useChanges, useRetry } from '../live/use.ts'
import { type Row, stateOf, wasReceived } from '../triage/row.ts'
import { onTriaged } from '../triage/use-triage.ts'
import { isInState, isSifted, loadPage, loadThreadsOf } from './load.ts'
import { isOfThreads, type Search } from './query.ts'

/** With more changed messages than this, the list is read instead of their threads. */
const MOST_SINGLE = 300
/** After a gap, as much is read again as was shown, but no more than this: what comes after it stays as it was. */
const MOST_AGAIN = 300
/** Of messages that are sifted by the state of their threads, this many pages are read before somebody asks for more. */
const MOST_SIFTED = 5

export interface Rows {
  rows: readonly Row[]
  loading: boolean
  busy: boolean
  failure: Failure | null
  hasMore: boolean
  /** More is looked for only when somebody asks: most of what is read may not be what is searched for. */
  isSifted: boolean
  more(): void
  /** Loads more until there are this many, and resolves to all. */
  loadUpTo(count: number): Promise<readonly Row[]>
  retry(): void
}

/** Adds and replaces rows, the most recent activity first. */
const merge = (known: readonly Row[], fresh: readonly Row[]): Row[] => {
  const all = new Map([...known, ...fresh].map((row) => [row.id, row]))
  return [...all.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

/** Whether a thread that changed belongs into the list. Its label is known of its newest message only. */
const belongs = (search: Search, row: Row): boolean =>
  (search.agentId === null || row.agentId === search.agentId) &&
  (search.channel === null || row.channel === search.channel) &&
  (search.unread === null || search.unread === row.isUnread) &&
  isInState(search, row) &&
  (search.state !== 'open' || !isOfThreads(search) || wasReceived(row))

/** The rows after some threads were changed here: those that left the list are gone, the others are as they are now. */
const afterTriage = (search: Search, known: readonly Row[], changed: readonly Row[]): Row[] => {
  const threads = new Map(changed.map((row) => [row.threadId, row]))
  const others = known.filter(({ threadId }) => !threads.has(threadId))
  const found = known.filter(({ threadId }) => threads.has(threadId))
  const now = isOfThreads(search)
    ? changed.filter((row) => search.label === null || found.some(({ id }) => id === row.id))
    : found.map((row) => ({ ...row, ...stateOf(threads.get(row.threadId) as Required<Row>) }))
  return merge(others, now).filter((row) => belongs(search, row))
}

interface State {
  rows: readonly Row[] | null
  next: string | null
  busy: boolean
  failure: Failure | null
}

/** The rows of a long list that come after the part that was read again, and where the page after them starts. */
const beyond = (
  fresh: readonly Row[],
  next: string | null,
  old: State,
): Pick<State, 'next'> & { rows: Row[] } => {
  const last = fresh.at(-1)
  const rows = next === null || !last ? [] : (old.rows ?? []).filter(({ at }) => at <= last.at)
  return { rows, next: rows.length > 0 ? old.next : next }
}

const NOTHING: State = { rows: null, next: null, busy: false, failure: null }

/** The threads of one agent or of all, or the messages found, kept up to date row by row. */
export const useRows = (search: Search): Rows => {
  const client = useClient()
  const [state, setState] = useState<State>(NOTHING)
  /** Answers that come after the filter has changed are dropped. */
  const turn = useRef(0)

  const load = useCallback(
    async (after: string | null, count: number): Promise<readonly Row[]> => {
      const mine = turn.current
      setState((old) => ({ ...old, busy: true }))
      let next = after
      let fresh: readonly Row[] = []
      let pages = 0
      do {
        const { page, failure } = await loadPage(client, search, next)
        if (turn.current !== mine) return []
        if (failure) {
          setState((old) => ({ ...old, busy: false, failure }))
          return []
        }
        fresh = [...fresh, ...page.rows]
        next = page.next
        pages++
      } while (next !== null && fresh.length < count && (pages < MOST_SIFTED || !isSifted(search)))
      setState((old) => {
        const kept = after === null ? beyond(fresh, next, old) : { rows: old.rows ?? [], next }
        return { rows: merge(kept.rows, fresh), next: kept.next, busy: false, failure: null }
      })
      return fresh
    },
    [client, search],
  )

  useEffect(
    () =>
      onTriaged((changed) =>
        setState((old) => (old.rows ? { ...old, rows: afterTriage(search, old.rows, changed) } : old)),
      ),
    [search],
  )

  useEffect(() => {
    turn.current++
    setState(NOTHING)
    void load(null, 1)
  }, [load])

  const loadAgain = () => void load(null, Math.min(state.rows?.length ?? 0, MOST_AGAIN))
  useRetry(state.failure, loadAgain)

  const loadSome = async (messageIds: readonly string[]) => {
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
          fresh.filter((row) => shown.has(row.id) || belongs(search, row)),
        ),
      }
    })
  }

  useChanges(['messages'], (changes: readonly Change[]) => {
    const own = changes.filter(
      (one) => one.topic === 'all' || search.agentId === null || one.agentId === search.agentId,
    )
    if (own.length === 0 || state.rows === null) return
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
    isSifted: isSifted(search),
    loadUpTo: async (count) => {
      const known = rows ?? []
      const missing = count - known.length
      return next === null || missing <= 0 ? known : merge(known, await load(next, missing)).slice(0, count)
    },
    more: () => {
      if (!busy && next !== null) void load(next, 1)
    },
    retry: () => void load(null, 1),
  }
}
