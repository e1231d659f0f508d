import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Row } from '../triage/row.ts'

/** Whether somebody points at the list, is in it with the keyboard, or answers a dialog about it. */
const isHeld = (list: HTMLElement): boolean =>
  list.matches(':hover') ||
  list.contains(document.activeElement) ||
  document.querySelector('dialog[open]') !== null

/** How many rows further down what was seen stands now, by the first row seen that has stayed as it was. */
const shiftOf = (before: readonly Row[], rows: readonly Row[], from: number, to: number): number => {
  const places = new Map(rows.map(({ id }, index) => [id, index]))
  for (let index = from; index < Math.min(to, before.length); index++) {
    const { id, at } = before[index]!
    const place = places.get(id)
    if (place !== undefined && rows[place]?.at === at) return place - index
  }
  return 0
}

/**
 * Keeps what is seen in its place when rows are added above it, unless nobody is at work in a list whose beginning
 * is shown. Returns how many rows have come above what is seen.
 */
export const useStill = (scroller: RefObject<HTMLElement | null>, rows: readonly Row[], height: number) => {
  const before = useRef({ rows, first: 0, visible: 0 })
  const [above, setAbove] = useState(0)
  useLayoutEffect(() => {
    const element = scroller.current
    const list = element?.querySelector<HTMLElement>('.thread-list')
    if (!element || !list) return
    const { rows: old, first, visible } = before.current
    const shift = old === rows || old.length === 0 ? 0 : shiftOf(old, rows, first, first + visible)
    if (shift !== 0 && (element.scrollTop > 0 || (shift > 0 && isHeld(list)))) {
      const top = element.scrollTop + shift * height
      // A short list could not be scrolled so far.
      list.style.minHeight = `${top + element.clientHeight}px`
      element.scrollTop = top
      setAbove((count) => Math.max(0, count + shift))
    }
    before.current = {
      rows,
      first: Math.floor(element.scrollTop / height),
      visible: Math.ceil(element.clientHeight / height),
    }
  })
  useEffect(() => {
    const element = scroller.current
    const onScroll = () => {
      before.current.first = Math.floor(element!.scrollTop / height)
      if (element?.scrollTop !== 0) return
      setAbove(0)
      const list = element.querySelector<HTMLElement>('.thread-list')
      if (list) list.style.minHeight = ''
    }
    element?.addEventListener('scroll', onScroll, { passive: true })
    return () => element?.removeEventListener('scroll', onScroll)
  }, [scroller, height])
  return { above, toTop: useCallback(() => scroller.current?.scrollTo({ top: 0 }), [scroller]) }
}
