import { useCallback, useEffect, useRef, useState } from 'react'
import type { Row } from '../triage/row.ts'

export interface Selection {
  ids: ReadonlySet<string>
  rows: readonly Row[]
  /** Selects a row or not; with `isRange`, all from the last one that was toggled to this one. */
  toggle(id: string, isRange: boolean): void
  selectAll(rows: readonly Row[]): void
  clear(): void
}

export const useSelection = (rows: readonly Row[]): Selection => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const latest = useRef(rows)
  const last = useRef<string | null>(null)
  useEffect(() => {
    latest.current = rows
  })
  const toggle = useCallback((id: string, isRange: boolean) => {
    const all = latest.current
    const from = isRange ? all.findIndex((row) => row.id === last.current) : -1
    const to = all.findIndex((row) => row.id === id)
    const range = all.slice(Math.min(from, to), Math.max(from, to) + 1).map((row) => row.id)
    last.current = id
    setIds((old) => {
      if (from >= 0) return new Set([...old, ...range])
      return new Set(old.has(id) ? [...old].filter((one) => one !== id) : [...old, id])
    })
  }, [])
  return {
    ids,
    rows: rows.filter(({ id }) => ids.has(id)),
    toggle,
    selectAll: (all) => setIds(new Set(all.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  }
}
