import { useSyncExternalStore } from 'react'
import { locale } from './language.ts'
import { text } from './strings.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let now = Date.now()
const watchers = new Set<() => void>()
let ticking = false

const tick = (): void => {
  now = Date.now()
  for (const watcher of watchers) watcher()
}

/** One clock for all times on the page. */
const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  if (!ticking) {
    ticking = true
    setInterval(tick, MINUTE / 2)
  }
  return () => watchers.delete(watcher)
}

const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })

/** A time as lists show it: the more recent, the more exact. Times to come name the day, unless it is today. */
const shortOf = (time: Date, at: number, isSince: boolean): string => {
  const ago = at - time.getTime()
  if (!isSince && ago < MINUTE && ago > -MINUTE) return text.justNow
  if (!isSince && ago > 0 && ago < HOUR) return relative.format(-Math.floor(ago / MINUTE), 'minute')
  if (new Date(at).toDateString() === time.toDateString()) return clock.format(time)
  const dated = time.getFullYear() === new Date(at).getFullYear() ? day.format(time) : date.format(time)
  return ago < 0 ? `${dated}, ${clock.format(time)}` : dated
}

/** The present time, read every half minute. */
export const useNow = (): number => useSyncExternalStore(watch, () => now)

interface TimeProps {
  at: string
  /** With date and time of day. */
  detailed?: boolean
  /** Stands after "since", where "5 minutes ago" says nothing in any language. */
  since?: boolean
}

/** A time: short, and in full as its tooltip. */
export const Time = ({ at, detailed = false, since = false }: TimeProps) => {
  const current = useNow()
  const time = new Date(at)
  // A time that is newer than the last tick is just now, not in the future.
  const seen = Math.max(current, Math.min(time.getTime(), Date.now()))
  return (
    <time dateTime={at} title={full.format(time)}>
      {detailed ? `${date.format(time)}, ${clock.format(time)}` : shortOf(time, seen, since)}
    </time>
  )
}
