import { type RefObject, useEffect } from 'react'
import { rangesOf, type Sought } from './highlight.tsx'

/** A page with more would be slow, and marks on everything show nothing. */
const MOST = 500

const rangesIn = (root: Node, sought: readonly Sought[]): Range[] => {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  while (walker.nextNode() && ranges.length < MOST) {
    const node = walker.currentNode
    for (const [from, to] of rangesOf(node.nodeValue ?? '', sought)) {
      const range = new Range()
      range.setStart(node, from)
      range.setEnd(node, to)
      ranges.push(range)
    }
  }
  return ranges
}

/**
 * Marks words in whatever the element shows, also what it shows later. Its elements stay as they are: the marks
 * are painted by the browser, those that cannot do it leave them out.
 */
export const useMarked = (root: RefObject<HTMLElement | null>, sought: readonly Sought[]): void => {
  useEffect(() => {
    const element = root.current
    if (!element || sought.length === 0 || !('highlights' in CSS)) return
    const mark = () => CSS.highlights.set('sought', new Highlight(...rangesIn(element, sought)))
    mark()
    const changed = new MutationObserver(mark)
    changed.observe(element, { childList: true, characterData: true, subtree: true })
    return () => {
      changed.disconnect()
      CSS.highlights.delete('sought')
    }
  }, [root, sought])
}
