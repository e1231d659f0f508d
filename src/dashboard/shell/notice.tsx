import { useEffect, useState, useSyncExternalStore } from 'react'
import { useClient } from 'urql'
import { onChange } from '../live/change.ts'
import { graphql } from '../live/graphql.ts'
import { tryNow } from '../live/live.ts'
import { useLiveStatus } from '../live/status.ts'
import { type Trouble, useTrouble } from '../live/trouble.ts'
import { Button } from '../parts/button.tsx'
import { CircleAlertIcon, ClockIcon } from '../parts/icons.tsx'
import { locale } from '../parts/language.ts'
import { text } from './strings.ts'

/** A stream that is open again within this time is not worth a word. */
const PATIENCE_MS = 2_500

const watchOnline = (watcher: () => void): (() => void) => {
  addEventListener('online', watcher)
  addEventListener('offline', watcher)
  return () => {
    removeEventListener('online', watcher)
    removeEventListener('offline', watcher)
  }
}

/** Whether changes have not been heard for a while. */
const useSilence = (): boolean => {
  const { state, since } = useLiveStatus()
  const [silent, setSilent] = useState(false)
  useEffect(() => {
    if (state === 'live') return setSilent(false)
    const timer = setTimeout(() => setSilent(true), Math.max(0, since + PATIENCE_MS - Date.now()))
    return () => clearTimeout(timer)
  }, [state, since])
  return silent
}

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })

/** Says quietly that what is shown could not be read again, while it is tried on. */
const Troubled = ({ until }: Trouble) => (
  <div className="not-live">
    <ClockIcon />
    <span>{until === null ? text.notRead : text.limited(clock.format(until))}</span>
  </div>
)

/** Says above the page that it is not live, or may be old. */
export const NotLive = () => {
  const online = useSyncExternalStore(watchOnline, () => navigator.onLine)
  const silent = useSilence()
  const trouble = useTrouble()
  return (
    <div role="status">
      {trouble && !silent && <Troubled {...trouble} />}
      {silent && (
        <div className="not-live">
          <CircleAlertIcon />
          <span>{online ? text.notLive : text.offline}</span>
          {online && (
            <Button kind="ghost" onClick={tryNow}>
              {text.tryNow}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

const ARRIVED = graphql(`
  query Arrived($id: UUID!) { message(id: $id) { id subject status counterpart counterpartName } }
`)

/** Tells screen readers of arriving messages, without moving the focus. */
export const Arrivals = () => {
  const client = useClient()
  const [said, setSaid] = useState('')
  useEffect(
    () =>
      onChange(async (changes) => {
        const newest = changes.findLast(({ arrived }) => arrived)?.ids?.at(-1)
        if (!newest || document.visibilityState !== 'visible') return
        const { data } = await client.query(ARRIVED, { id: newest }).toPromise()
        if (data?.message.status !== 'received') return
        const { counterpart, counterpartName, subject } = data.message
        setSaid(text.arrived(counterpartName ?? counterpart, subject ?? ''))
      }),
    [client],
  )
  return (
    <p className="unseen" aria-live="polite">
      {said}
    </p>
  )
}
