import { useEffect, useRef } from 'react'
import { Button } from '../button.tsx'
import { text } from '../strings.ts'

/** The end of a list that has more: it loads when it comes into view, or when it is pressed. */
export const More = ({ busy, onMore }: { busy: boolean; onMore(): void }) => {
  const ref = useRef<HTMLDivElement>(null)
  const latest = useRef(onMore)
  useEffect(() => {
    latest.current = onMore
  })
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) latest.current()
      },
      { rootMargin: '600px' },
    )
    if (ref.current && !busy) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [busy])
  return (
    <div className="more" ref={ref}>
      <Button kind="ghost" busy={busy} onClick={onMore}>
        {text.more}
      </Button>
    </div>
  )
}
