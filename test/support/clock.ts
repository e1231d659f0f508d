import type { Clock } from '../../src/core/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward and wakes every sleeper that is due by then, in order of its due time. */
  advance(ms: number): void
  /** Number of pending sleeps. */
  readonly sleepers: number
}

interface Sleeper {
  at: number
  wake(): void
}

/** Creates a clock that stands still until it is advanced. Starts at the real time by default. */
export const createFakeClock = (start: Date = new Date()): FakeClock => {
  const sleepers = new Set<Sleeper>()
  let now = start.getTime()
  const due = (until: number) =>
    [...sleepers].filter((sleeper) => sleeper.at <= until).sort((a, b) => a.at - b.at)
  return {
    now: () => new Date(now),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted || ms <= 0) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper = { at: now + ms, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      }),
    advance(ms) {
      const until = now + ms
      for (const sleeper of due(until)) {
        now = Math.max(now, sleeper.at)
        sleeper.wake()
      }
      now = until
    },
    get sleepers() {
      return sleepers.size
    },
  }
}
