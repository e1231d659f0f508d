import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { Routine } from '../core/routine.ts'
import type { Db } from '../db/client.ts'

export const WINDOW_MS = 60_000
/** How often the processes add up what they counted. As long, several of them may together let more through than the limit. */
const SYNC_MS = 250

/** What a use came to: whether it is within the limit, how many are left, and in how many seconds the window ends. */
export interface Quota {
  allowed: boolean
  limit: number
  remaining: number
  resetSeconds: number
}

interface Counter {
  /** When its window began, in milliseconds since 1970. */
  window: number
  /** The sum over all processes, as of the last time that they were added up. */
  total: number
  /** Counted here since. */
  pending: number
}

/**
 * Limits per minute that all processes share: counted in memory, so that a request waits for nothing, and added up in PostgreSQL four
 * times a second, in one statement for all that was counted.
 */
export class RateLimits {
  readonly #deps: Db & { clock: Clock; log: Logger }
  readonly #counters = new Map<string, Counter>()
  readonly #adding: Routine

  constructor(deps: Db & { clock: Clock; log: Logger }) {
    this.#deps = deps
    const { clock, log } = deps
    this.#adding = new Routine(() => this.#sync(), { everyMs: SYNC_MS, failed: 'rate limits could not be added up', clock, log })
  }

  /** Counts one use of `key`, unless that is over the limit. */
  take(key: string, limit: number): Quota {
    const now = this.#deps.clock.now().getTime()
    const counter = this.#counterOf(key, now - (now % WINDOW_MS))
    const used = counter.total + counter.pending
    const allowed = used < limit
    if (allowed) counter.pending++
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - used - 1),
      resetSeconds: Math.ceil((counter.window + WINDOW_MS - now) / 1000),
    }
  }

  start(): void {
    this.#adding.start()
  }

  stop(): Promise<void> {
    return this.#adding.stop()
  }

  #counterOf(key: string, window: number): Counter {
    const known = this.#counters.get(key)
    if (known?.window === window) return known
    const counter = { window, total: 0, pending: 0 }
    this.#counters.set(key, counter)
    return counter
  }

  async #sync(): Promise<void> {
    const now = this.#deps.clock.now().getTime()
    for (const [key, { window }] of this.#counters) if (window + WINDOW_MS <= now) this.#counters.delete(key)
    // In the order of their keys, so that two processes can't deadlock.
    const counted = [...this.#counters].filter(([, { pending }]) => pending > 0).sort(([a], [b]) => (a < b ? -1 : 1))
    if (counted.length === 0) return
    const sent = counted.map(([, counter]) => ({ counter, count: counter.pending }))
    const { rows } = await this.#deps.pool.query<{ key: string; window_start: Date; count: number }>({
      name: 'add up rates',
      text: `insert into rate_count as r (key, window_start, count) select * from unnest($1::text[], $2::timestamptz[], $3::int[])
             on conflict (key) do update set window_start = greatest(r.window_start, excluded.window_start),
               count = case when r.window_start = excluded.window_start then r.count + excluded.count
                            when r.window_start < excluded.window_start then excluded.count else r.count end
             returning key, window_start, count`,
      values: [counted.map(([key]) => key), sent.map(({ counter }) => new Date(counter.window)), sent.map(({ count }) => count)],
    })
    for (const { counter, count } of sent) counter.pending -= count
    for (const row of rows) {
      const counter = this.#counters.get(row.key)
      if (counter?.window === row.window_start.getTime()) counter.total = row.count
    }
  }
}

/** Deletes counters of windows long past. Idempotent; any process may call it at any time. */
export const pruneRates = async ({ pool }: Db, now: Date): Promise<number> => {
  const { rowCount } = await pool.query('delete from rate_count where window_start < $1', [new Date(now.getTime() - 10 * WINDOW_MS)])
  return rowCount ?? 0
}
