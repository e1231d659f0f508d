import { isReading, sentRequests } from './fetch.ts'

/** What a change is about. `all`: changes may have been missed, so that everything shown is read again. */
export type Topic =
  | 'access'
  | 'agents'
  | 'all'
  | 'domains'
  | 'drafts'
  | 'listeners'
  | 'members'
  | 'messages'
  | 'numbers'
  | 'questions'
  | 'secrets'
  | 'suppressions'
  | 'tokens'
  | 'webhooks'
  | 'workspace'

/** A change in the workspace, as all tabs hear it. */
export interface Change {
  topic: Topic
  agentId?: string
  /** The messages, drafts, questions or webhooks that changed; some may be gone. */
  ids?: readonly string[]
  /** The messages have just arrived. */
  arrived?: boolean
}

type Listener = (changes: readonly Change[]) => void

/** After changes were told of, those that follow are gathered for this long: people read, and do not count. */
const GAP_MS = 1_500
/** Longer, if what was read after the last ones took several requests: at most one a second, whatever happens. */
const [PER_REQUEST_MS, LONGEST_GAP_MS] = [1_000, 10_000]
/** How soon is looked again whether the last answers have arrived. */
const LOOK_AGAIN_MS = 100
/** With more changes than this waiting, as in a tab that was hidden for a day, everything is read again. */
const MOST_WAITING = 2_000

const listeners = new Set<Listener>()
const hearers = new Set<Listener>()
let waiting: readonly Change[] = []
let timer: ReturnType<typeof setTimeout> | undefined
let toldAt = Number.NEGATIVE_INFINITY
let sentBefore = 0

/** Calls `listener` with every change; returns a function that ends this. */
export const onChange = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Calls `hearer` with every change at once, also while nobody sees the page; returns a function that ends this. */
export const onHeard = (hearer: Listener): (() => void) => {
  hearers.add(hearer)
  return () => hearers.delete(hearer)
}

/** How long changes still wait, in milliseconds. */
const waitOf = (): number => {
  const gap = Math.max(GAP_MS, Math.min((sentRequests() - sentBefore) * PER_REQUEST_MS, LONGEST_GAP_MS))
  const left = toldAt + gap - Date.now()
  return left > 0 || !isReading() ? left : LOOK_AGAIN_MS
}

const tell = (): void => {
  clearTimeout(timer)
  timer = undefined
  // A page that nobody sees reads when it is seen again.
  if (waiting.length === 0 || document.visibilityState === 'hidden') return
  const wait = waitOf()
  if (wait > 0) {
    timer = setTimeout(tell, wait)
    return
  }
  const changes = waiting
  waiting = []
  toldAt = Date.now()
  sentBefore = sentRequests()
  for (const listener of [...listeners]) listener(changes)
}

/** Tells of changes: at once, then together with those that follow, so that all that is read again is one request. */
export const tellChanges = (changes: readonly Change[]): void => {
  for (const hearer of [...hearers]) hearer(changes)
  waiting = waiting.length > MOST_WAITING ? [{ topic: 'all' }] : [...waiting, ...changes]
  if (timer === undefined) tell()
}

/** Someone who has just done something sees its effect at once. */
export const expectChange = (): void => {
  toldAt = Number.NEGATIVE_INFINITY
  tell()
}

document.addEventListener('visibilitychange', tell)
