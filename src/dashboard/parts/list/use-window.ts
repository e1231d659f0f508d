import { type RefObject, useEffect, useState } from 'react'

/** Rows beyond the visible ones that are rendered as well, and the steps in which rows are exchanged. */
const BEYOND = 12
const STEP = 6

interface Range {
  from: number
  to: number
}

const rangeOf = (scroller: HTMLElement, rowHeight: number): Range => {
  const first = Math.floor(scroller.scrollTop / rowHeight / STEP) * STEP
  const visible = Math.ceil(scroller.clientHeight / rowHeight)
  return { from: Math.max(0, first - BEYOND), to: first + visible + STEP + BEYOND }
}

/**
 * Which rows of a long list have to be rendered, by where its scroller is; all have the same height in pixels.
 * The list starts at the top of the scroller.
 */
export const useWindow = (scroller: RefObject<HTMLElement | null>, rowHeight: number): Range => {
  const [range, setRange] = useState<Range>({ from: 0, to: 60 })
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const update = () => {
      const next = rangeOf(element, rowHeight)
      setRange((old) => (old.from === next.from && old.to === next.to ? old : next))
    }
    update()
    element.addEventListener('scroll', update, { passive: true })
    const resized = new ResizeObserver(update)
    resized.observe(element)
    return () => {
      element.removeEventListener('scroll', update)
      resized.disconnect()
    }
  }, [scroller, rowHeight])
  return range
}

/** Scrolls as little as needed to show a row. */
export const showRow = (scroller: HTMLElement, index: number, rowHeight: number): void => {
  const top = index * rowHeight
  const bottom = top + rowHeight
  if (top < scroller.scrollTop) scroller.scrollTop = top
  else if (bottom > scroller.scrollTop + scroller.clientHeight)
    scroller.scrollTop = bottom - scroller.clientHeight
}
