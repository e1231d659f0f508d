import type { Session } from './session.ts'

/** Messages over one connection: servers limit them. */
const MAX_MESSAGES = 100

/** Connections to one server that stay open for the next message. */
export interface Sessions {
  /**
   * A session for a message, an open one or a fresh one, once fewer than the most are in use. Rejects as
   * opening one does.
   */
  take(signal: AbortSignal): Promise<Session>
  /** Takes a session back. */
  give(session: Session): void
  close(): void
}

export function createSessions(open: (signal: AbortSignal) => Promise<Session>, most: number): Sessions {
  const idle: Session[] = []
  const waiting: (() => void)[] = []
  let busy = 0
  let closed = false
  /** A place that is free goes to who waits, so that nobody who comes meanwhile gets it too. */
  const next = () => {
    const come = waiting.shift()
    if (come) come()
    else busy--
  }
  return {
    async take(signal) {
      if (busy >= most) await turn(waiting, signal)
      else busy++
      const kept = idle.splice(0).filter(({ usable }) => usable)
      const session = kept.pop()
      idle.push(...kept)
      try {
        return session ?? (await open(signal))
      } catch (error) {
        next()
        throw error
      }
    },
    give(session) {
      if (session.usable && session.messages < MAX_MESSAGES && !closed) idle.push(session)
      else if (session.usable) session.quit()
      next()
    },
    close() {
      closed = true
      for (const session of idle.splice(0)) if (session.usable) session.quit()
    },
  }
}

/** Resolves when it is its turn among those who wait. Rejects when it no longer wants it. */
const turn = (waiting: (() => void)[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const come = () => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      if (waiting.includes(come)) waiting.splice(waiting.indexOf(come), 1)
      reject(signal.reason as Error)
    }
    waiting.push(come)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
