import { useEffect, useState, useSyncExternalStore } from 'react'
import { useClient } from 'urql'
import { onChange } from '../live/change.ts'
import { graphql } from '../live/graphql.ts'
import { tryNow } from '../live/live.ts'
import { useLiveStatus } from '../live/status.ts'
import { Button } from '../parts/button.tsx'
import { CircleAlertIcon } from '../parts/icons.tsx'
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

/** Says above the page that it is not live. */
export const NotLive = () => {
  const online = useSyncExternalStore(watchOnline, () => navigator.onLine)
  const silent = useSilence()
  return (
    <div role="status">
      {(silent || !online) && (
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
