import type { Clock } from '../../core/clock.ts'
import { ensureHoldable } from '../../core/http/body.ts'
import type { Turns } from '../../core/turns.ts'
import type { News } from '../../db/news.ts'
import type { OutsideTransaction } from '../../db/transaction.ts'
import type { Viewer } from '../../workspace/index.ts'
import type { Subscriptions, Via } from './subscriptions.ts'

/** How a call waits. */
export interface Waiting {
  via: Via
  /** Returns a signal that aborts when the client is gone. */
  gone(): AbortSignal
  /** Of the call's body; 0 if its length was checked before. */
  bytes: number
  /** Where the turn of the token is given up while the call waits; undefined if it holds none. */
  requests?: Turns | undefined
}

export interface AwaitNewsDeps {
  clock: Clock
  outsideTransaction: OutsideTransaction
  subscriptions: Subscriptions
}

interface Wait {
  agentId: string
  /** In milliseconds since 1970. */
  until: number
  heard: Promise<void>
}

/** Waits for news of the agent, or until `until`. Throws the reason if the token is revoked or the agent deleted meanwhile. */
const awaitOne = async (
  { clock, subscriptions }: AwaitNewsDeps,
  { tokenId, workspaceId, expiresAt: tokenExpiresAt }: Viewer,
  { agentId, until, heard }: Wait,
  { via, gone }: { via: Via; gone: AbortSignal },
): Promise<void> => {
  const session = await subscriptions.open({
    ...{ via, agentId, workspaceId, tokenId, tokenExpiresAt, connectionId: null },
  })
  const over = new AbortController()
  try {
    const ends = AbortSignal.any([session.signal, gone, over.signal])
    await Promise.race([heard, clock.sleep(until - clock.now().getTime(), ends)])
    if (session.reason) throw session.reason
  } finally {
    over.abort()
    await subscriptions.close(session)
  }
}

interface Look<Found> {
  agentId: string
  news: News
  /** How long to wait for something. */
  seconds: number
  /** Returns what is there; null if it must be waited for. `isGone`: the client is, and nothing must be taken for it. */
  find(isGone: boolean): Promise<Found | null>
}

/**
 * Returns what `find` finds, as soon as it finds something after news of the agent; null if it finds nothing in time. It
 * listens before it looks, so that it misses nothing. Waiting makes nobody a listener, and holds no transaction. Throws
 * `invalid_input` for a call whose body is too long to be kept meanwhile.
 */
export const findOrAwait = async <Found>(
  deps: AwaitNewsDeps,
  viewer: Viewer,
  { agentId, news, seconds, find }: Look<Found>,
  { via, gone: goneOf, bytes, requests }: Waiting,
): Promise<Found | null> => {
  if (seconds > 0) ensureHoldable(bytes)
  const until = deps.clock.now().getTime() + seconds * 1000
  const gone = goneOf()
  const listening = news.listen(agentId)
  try {
    for (;;) {
      const found = await find(gone.aborted)
      if (found !== null || gone.aborted || deps.clock.now().getTime() >= until) return found
      const wait = () => awaitOne(deps, viewer, { agentId, until, heard: listening.heard() }, { via, gone })
      await deps.outsideTransaction(() => (requests ? requests.aside(viewer.tokenId, wait) : wait()), {
        changesNothing: true,
      })
    }
  } finally {
    listening.stop()
  }
}
