import type { Session } from './session.ts'

/** Maximum number of messages per connection: servers limit them. */
const MAX_MESSAGES = 100

/** A pool of connections to one server. */
export interface Sessions {
  /**
   * Returns an idle or a new session once one of the `max` slots is free. Rejects as opening a session does.
   */
  acquire(signal: AbortSignal): Promise<Session>
  /** Returns a session to the pool. */
  release(session: Session): void
  close(): void
}

export function createSessions(open: (signal: AbortSignal) => Promise<Session>, max: number): Sessions {
  const idle: Session[] = []
  const waiting: (() => void)[] = []
  let busy = 0
  let closed = false
  /** Passes a free slot directly to the next waiter, so that no later caller can take it. */
  const releaseSlot = () => {
    const proceed = waiting.shift()
    if (proceed) proceed()
    else busy--
  }
  return {
    async acquire(signal) {
      if (busy >= max) await waitForSlot(waiting, signal)
      else busy++
      const alive = idle.splice(0).filter(({ usable }) => usable)
      const session = alive.pop()
      idle.push(...alive)
      try {
        return session ?? (await open(signal))
      } catch (error) {
        releaseSlot()
        throw error
      }
    },
    release(session) {
      if (session.usable && session.messages < MAX_MESSAGES && !closed) idle.push(session)
      else if (session.usable) session.quit()
      releaseSlot()
    },
    close() {
      closed = true
      for (const session of idle.splice(0)) if (session.usable) session.quit()
    },
  }
}

/** Waits for a free slot. Rejects if `signal` aborts. */
const waitForSlot = (waiting: (() => void)[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const proceed = () => {
      signal.removeEventListener('abort', cancel)
      resolve()
    }
    const cancel = () => {
      if (waiting.includes(proceed)) waiting.splice(waiting.indexOf(proceed), 1)
      reject(signal.reason as Error)
    }
    waiting.push(proceed)
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
  })
