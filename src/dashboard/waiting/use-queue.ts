import { useState } from 'react'
import type { ResultOf } from '../live/graphql.ts'
import { usePages } from '../live/pages.ts'
import { HELD, type HeldRow } from './queries.ts'

/** Whether a row is no longer among those that wait. Of what lies beyond the loaded pages, that is not known. */
const isGone = (row: HeldRow, waiting: readonly HeldRow[], isWhole: boolean): boolean =>
  !waiting.some(({ id }) => id === row.id) && (isWhole || row.createdAt > (waiting.at(-1)?.createdAt ?? ''))

/**
 * The messages that wait, in places that stay the same while one works: those that arrive are added at the end,
 * and those that somebody has decided on stay where they are until the screen is opened again.
 */
export const useQueue = () => {
  const [rows, setRows] = useState<readonly HeldRow[]>([])
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set())
  const pages = usePages({
    query: HELD,
    variables: {},
    pick: ({ workspace }: ResultOf<typeof HELD>) => workspace.messages,
    topics: ['messages'],
  })
  const waiting = pages.data ?? []
  const fresh = waiting.filter(({ id }) => !rows.some((row) => row.id === id))
  if (fresh.length > 0) setRows([...rows, ...fresh])
  const isDecided = (row: HeldRow): boolean =>
    decided.has(row.id) || isGone(row, waiting, pages.more === undefined)
  return {
    pages,
    rows,
    isDecided,
    open: rows.filter((row) => !isDecided(row)),
    /** Notes what was decided here, before the list is read again. */
    settle: (ids: readonly string[]) => setDecided((before) => new Set([...before, ...ids])),
  }
}

export type Queue = ReturnType<typeof useQueue>
