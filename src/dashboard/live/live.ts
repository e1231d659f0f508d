import { type Change, expectChange, tellChanges } from './change.ts'
import { Connection } from './connection.ts'
import { tryAgain } from './fetch.ts'
import { askToSignIn } from './sign-in.ts'
import { currentStatus, type LiveStatus, setStatus } from './status.ts'

/**
 * One stream for all tabs of a browser: with HTTP/1.1 it opens six connections to a host, so that a stream in
 * every tab would leave the seventh waiting for ever. The tab that holds a lock has the stream, and tells the
 * others what it hears; when it closes, the next one gets the lock.
 */
const NAME = 'ams-live'

interface Told {
  changes?: readonly Change[]
  /** Where a stream goes on after these changes. */
  position?: string
  status?: LiveStatus
  /** A tab asks for the status, or that the stream is tried again. */
  ask?: 'status' | 'wake'
}

let channel: BroadcastChannel | null = null
let connection: Connection | null = null
/** Every tab knows it, so that whichever has the stream next loses nothing. */
let position: string | null = null

const send = (told: Told): void => channel?.postMessage(told)

const hear = ({ changes, status, ask, ...told }: Told): void => {
  position = told.position ?? position
  if (changes) tellChanges(changes)
  if (status) setStatus(status)
  if (ask === 'wake') connection?.wake()
  if (ask && connection) send({ status: currentStatus(), ...(position === null ? {} : { position }) })
}

/** Tells this tab and all others. */
const tellAll = (told: Told): void => {
  hear(told)
  send(told)
}

const lead = (): Promise<never> => {
  connection = new Connection({
    position: () => position,
    tell: (changes, next) => tellAll({ changes, position: next }),
    status: (state) => tellAll({ status: { state, since: Date.now() } }),
    signedOut: askToSignIn,
  })
  // The browser releases the lock with the tab.
  return new Promise(() => undefined)
}

/** Whether this tab has the stream: it does what only one tab may do. */
export const leads = (): boolean => connection !== null

/** Starts to hear what changes in the workspace. */
export const startLive = (): void => {
  channel = new BroadcastChannel(NAME)
  channel.addEventListener('message', ({ data }: MessageEvent<Told>) => hear(data))
  send({ ask: 'status' })
  void navigator.locks.request(NAME, lead)
}

/** Tells all tabs of a change that this one made. */
export const announce = (changes: readonly Change[]): void => {
  tellAll({ changes })
  expectChange()
}

/** Tries the stream again now. */
export const tryNow = (): void => {
  tryAgain()
  if (connection) connection.wake()
  else send({ ask: 'wake' })
}
