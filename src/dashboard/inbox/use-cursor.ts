import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { Row } from '../triage/row.ts'

export const idOfRow = (id: string): string => `row-${id}`

export interface Cursor {
  /** The row that the keys act on. */
  row: Row | undefined
  index: number
  /** How often the keyboard has moved it. */
  asked: number
  set(id: string): void
  /** Focuses its row, or the first one. */
  focus(): void
  /** Moves the cursor; while a thread is open, opens the next one. */
  move(step: number): void
  /** Opens the thread after the one that is open, or shows the list again after the last one. */
  next(): void
  /** Goes on to the first row that stays, when these are about to leave the list. */
  leave(rows: readonly Row[]): void
}

interface At {
  list: string
  id: string | undefined
  index: number
}

/** Where the cursor is now: with the open thread, or where it was, or in place of the row that it was on. */
const placeOf = (rows: readonly Row[], thread: string | undefined, at: At) => {
  const own = rows.findIndex(({ id }) => id === at.id)
  if (thread === undefined || rows[own]?.threadId === thread)
    return { index: own < 0 ? Math.min(at.index, rows.length - 1) : own, isGone: own < 0 }
  const opened = rows.findIndex(({ threadId }) => threadId === thread)
  return opened < 0
    ? { index: Math.min(Math.max(at.index, 0), rows.length - 1), isGone: true }
    : { index: opened, isGone: false }
}

/** Focuses what the cursor is on, or the list's title when it has no rows. */
const focusRow = (pane: HTMLElement | null, row: Row | undefined): void =>
  ((row && document.getElementById(idOfRow(row.id))) ?? pane?.querySelector<HTMLElement>('h1, h2'))?.focus({
    preventScroll: true,
  })

interface Options {
  rows: readonly Row[]
  /** The thread that is open. */
  thread: string | undefined
  /** Names the list: the cursor is nowhere in another one. */
  list: string
  hrefOf(id?: string): string
}

/** The cursor of the list, which has the focus while no thread is open. */
export const useCursor = (
  pane: RefObject<HTMLElement | null>,
  { rows, thread, list, hrefOf }: Options,
): Cursor => {
  const [, go] = useLocation()
  const [at, setAt] = useState<At>({ list, id: undefined, index: -1 })
  const [asked, ask] = useState(0)
  const known = at.list === list ? at : { list, id: undefined, index: -1 }
  const { index, isGone } = placeOf(rows, thread, known)
  const row = rows[index]
  if (rows.length > 0 && (at.list !== list || at.id !== row?.id || at.index !== index))
    setAt({ list, id: row?.id, index })
  // After the rows are there: a row far away is rendered only once the cursor is on it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: focused when it is asked for
  useEffect(() => {
    if (asked > 0) focusRow(pane.current, row)
  }, [asked])
  const before = useRef(thread)
  useEffect(() => {
    // A focus on a row goes with the thread that is open: Enter would open the one before again.
    const isOnRow = document.activeElement?.matches('.thread-row')
    if ((before.current && !thread) || (thread && isOnRow)) ask((times) => times + 1)
    before.current = thread
  }, [thread])
  const goTo = (next: Row | undefined) => {
    if (thread) return next && go(hrefOf(next.threadId), { replace: true })
    if (next) setAt({ list, id: next.id, index: rows.indexOf(next) })
    ask((times) => times + 1)
  }
  const following = (step: number) => (isGone && step > 0 ? index - 1 : index) + step
  return {
    row,
    index,
    asked,
    set: useCallback((id: string) => setAt({ list, id, index: 0 }), [list]),
    focus: () => (row ? ask((times) => times + 1) : goTo(rows[0])),
    move: (step) => goTo(rows[Math.min(rows.length - 1, Math.max(0, following(step)))]),
    next: () => {
      const next = rows[following(1)]
      if (next) goTo(next)
      else go(hrefOf())
    },
    leave: (leaving) => {
      const isLeaving = new Set(leaving)
      if (!row || !isLeaving.has(row)) return ask((times) => times + 1)
      const stays = (one: Row) => !isLeaving.has(one)
      const next = rows.slice(index).find(stays) ?? rows.slice(0, index).findLast(stays)
      if (thread && !next) go(hrefOf())
      else goTo(next)
    },
  }
}
