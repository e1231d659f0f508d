import { useEffect, useRef, useState } from 'react'
import { useKeys } from '../screen/keys.ts'
import { text } from './strings.ts'

/** Gives a row the focus, as soon as no dialog has it: a dialog that closes gives it back to where it was. */
const focusRow = (id: string): void => {
  const focus = () => document.querySelector<HTMLElement>(`[data-row="${id}"]`)?.focus()
  const dialog = document.querySelector('dialog[open]')
  if (!dialog) {
    focus()
    return
  }
  const observer = new MutationObserver(() => {
    if (dialog.isConnected) return
    observer.disconnect()
    focus()
  })
  observer.observe(document.body, { childList: true, subtree: true })
}

/**
 * The row on which keys act, and which is shown beside the list. Rows have their id as `data-row`. The focus goes
 * with it, and returns to it when what had the focus is gone, such as the button of a decision. A list that shows
 * no row beside it starts before the first one, at -1, so that the first key leads to it.
 */
export const useCurrent = (ids: readonly string[], first: string | null, start = 0) => {
  const [place, setPlace] = useState({ id: first, index: start })
  const found = ids.indexOf(place.id ?? '')
  const index = found >= 0 ? found : Math.min(place.index, ids.length - 1)
  const id = ids[index]
  const choose = (next: string) => setPlace({ id: next, index: ids.indexOf(next) })
  const go = (next: string | undefined) => {
    if (next === undefined) return
    choose(next)
    focusRow(next)
  }
  const move = (step: number) => go(ids[Math.min(ids.length - 1, Math.max(0, index + step))])
  const seen = useRef<string | undefined>(undefined)
  useEffect(() => {
    const isFirst = seen.current === undefined
    seen.current = id
    if (id && !isFirst && document.activeElement === document.body) focusRow(id)
  })
  useKeys([
    { keys: 'j', label: text.keys.next, group: 'list', run: () => move(1) },
    { keys: 'k', label: text.keys.previous, group: 'list', run: () => move(-1) },
  ])
  return { id, index, choose, go }
}
