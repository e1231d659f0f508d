import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { Routine } from '../../core/routine.ts'
import type { Db, RootDb } from '../../db/client.ts'
import { deleteInBatches } from '../../db/delete-in-batches.ts'

const WINDOW_MS = 60_000
/**
 * Interval in milliseconds at which the processes add up their counts. Until then, several of them may
 * together allow more than the limit.
 */
const SYNC_MS = 250

/**
 * Result of a use: whether it is within the limit, how many uses remain, and in how many seconds the window
 * ends.
 */
export interface Quota {
  allowed: boolean
  limit: number
  remaining: number
  resetSeconds: number
}

/** Returns a token's quota as response headers (draft-ietf-httpapi-ratelimit-headers). */
export const quotaHeaders = ({ limit, remaining, resetSeconds }: Quota) => ({
  'RateLimit-Policy': `"token";q=${limit};w=${WINDOW_MS / 1000}`,
  RateLimit: `"token";r=${remaining};t=${resetSeconds}`,
})

/** Returns the error for a request over its token's quota. */
export const overQuota = ({ limit, resetSeconds }: Quota) =>
  new AppError(
    'rate_limited',
    `At most ${limit} requests a minute for each token. Large requests count several times.`,
    { retryAfter: resetSeconds },
  )

export interface Use {
  key: string
  /** Maximum amount in a window. */
  limit: number
  /** Amount of the limit that it uses; 1 by default. */
  amount?: number
  /** Length of the window in milliseconds; a minute by default. */
  windowMs?: number
}

interface Counter {
  /** Start of its window, in milliseconds since 1970. */
  window: number
  windowMs: number
  /** Sum over all processes when they were last added up. */
  total: number
  /** Amount counted in this process since then. */
  pending: number
}

/**
 * Limits per minute, or another window, that all processes share. Uses are counted in memory, so that no
 * request waits, and added up in PostgreSQL four times a second, in one statement for all counters.
 */
export class RateLimits {
  readonly #deps: Db & { clock: Clock; log: Logger }
  readonly #counters = new Map<string, Counter>()
  readonly #adding: Routine

  constructor(deps: Db & { clock: Clock; log: Logger }) {
    this.#deps = deps
    const { clock, log } = deps
    this.#adding = new Routine(() => this.#sync(), {
      everyMs: SYNC_MS,
      failed: 'could not synchronize rate limits',
      clock,
      log,
    })
  }

  /** Counts a use of `key`, unless the limit is reached already. The last use may exceed what is left. */
  take(key: string, limit: number, amount = 1): Quota {
    const now = this.#deps.clock.now().getTime()
    const counter = this.#counterOf(key, WINDOW_MS, now)
    const used = counter.total + counter.pending
    const allowed = used < limit
    if (allowed) counter.pending += amount
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - used - amount),
      resetSeconds: Math.ceil((counter.window + WINDOW_MS - now) / 1000),
    }
  }

  /** Counts all of these uses. If one exceeds its limit, counts none and returns that one. */
  takeAll<Each extends Use>(uses: readonly Each[]): Each | null {
    const now = this.#deps.clock.now().getTime()
    const taken: [Counter, number][] = []
    for (const use of uses) {
      const { key, limit, amount = 1, windowMs = WINDOW_MS } = use
      const counter = this.#counterOf(key, windowMs, now)
      if (counter.total + counter.pending + amount > limit) return use
      taken.push([counter, amount])
    }
    for (const [counter, amount] of taken) counter.pending += amount
    return null
  }

  start(): void {
    this.#adding.start()
  }

  stop(): Promise<void> {
    return this.#adding.stop()
  }

  #counterOf(key: string, windowMs: number, now: number): Counter {
    const window = now - (now % windowMs)
    const known = this.#counters.get(key)
    if (known?.window === window) return known
    const counter = { window, windowMs, total: 0, pending: 0 }
    this.#counters.set(key, counter)
    return counter
  }

  async #sync(): Promise<void> {
    const now = this.#deps.clock.now().getTime()
    for (const [key, { window, windowMs }] of this.#counters)
      if (window + windowMs <= now) this.#counters.delete(key)
    // Sorted by key, so that two processes cannot deadlock.
    const counted = [...this.#counters]
      .filter(([, { pending }]) => pending > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    if (counted.length === 0) return
    const sent = counted.map(([, counter]) => ({ counter, count: counter.pending }))
    const { rows } = await this.#deps.pool.query<{ key: string; window_start: Date; count: number }>({
      name: 'add up rates',
      text: `insert into rate_count as r (key, window_start, count, window_end)
             select * from unnest($1::text[], $2::timestamptz[], $3::int[], $4::timestamptz[])
             on conflict (key) do update set window_start = greatest(r.window_start, excluded.window_start),
               window_end = greatest(r.window_end, excluded.window_end),
               count = case when r.window_start = excluded.window_start then r.count + excluded.count
                            when r.window_start < excluded.window_start then excluded.count else r.count end
             returning key, window_start, count`,
      values: [
        counted.map(([key]) => key),
        sent.map(({ counter }) => new Date(counter.window)),
        sent.map(({ count }) => count),
        sent.map(({ counter }) => new Date(counter.window + counter.windowMs)),
      ],
    })
    for (const { counter, count } of sent) counter.pending -= count
    for (const row of rows) {
      const counter = this.#counters.get(row.key)
      if (counter?.window === row.window_start.getTime()) counter.total = row.count
    }
  }
}

/**
 * Resolves if the database accepts changes; rejects if it cannot be reached, is read-only or is full. The row
 * is pruned like the counts of ended windows.
 */
export const ensureWritable = async ({ pool }: Pick<RootDb, 'pool'>): Promise<void> => {
  await pool.query(
    "insert into rate_count (key, window_start, count) values ('ready:' || gen_random_uuid(), now() - interval '1 minute', 0)",
  )
}

const DELETE_OLD = `
  with old as materialized (
    select key from rate_count where window_start < $1 and coalesce(window_end, window_start) < $1 order by window_start limit $2 for update skip locked
  ),
  gone as (delete from rate_count d using old where d.key = old.key returning 1)
  select count(*)::int as count from gone`

/** Deletes counters of windows long past, in small batches. Idempotent; safe to run in any process at any time. */
export const pruneRates = (db: RootDb, now: Date, signal?: AbortSignal): Promise<number> =>
  deleteInBatches(db, DELETE_OLD, new Date(now.getTime() - 10 * WINDOW_MS), signal)
