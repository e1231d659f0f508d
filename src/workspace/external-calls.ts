import { AppError } from '../core/errors.ts'
import { Places } from '../core/places.ts'
import type { Db } from '../db/client.ts'
import type { Apart } from '../db/transaction.ts'
import type { Viewer } from './viewer.ts'

/** Maximum number of requests of one token that wait for external systems (DNS, a provider). */
const MAX_PER_TOKEN = 10
/** Maximum number of queued calls. Each takes up to some seconds. */
const MAX_QUEUED = 20
const RETRY_AFTER_S = 2

/**
 * Limits the calls to external systems that are in progress in this process, for each key: one token's slow
 * calls must not delay those of others.
 */
export class ExternalCalls {
  readonly #running = new Places(MAX_PER_TOKEN)
  readonly #waiting = new Map<string, ((leave: () => void) => void)[]>()

  /** Throws `rate_limited` when 10 calls of `key` are already in progress. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const leave = this.#running.take(key)
    if (!leave) throw tooMany(MAX_PER_TOKEN)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /**
   * Runs at most `max` calls of `key` concurrently; others are queued. Throws `rate_limited` when too many
   * are queued.
   */
  async inTurn<Result>(key: string, max: number, work: () => Promise<Result>): Promise<Result> {
    const queue = this.#waiting.get(key) ?? []
    if (queue.length >= MAX_QUEUED) throw tooMany(max + MAX_QUEUED)
    this.#waiting.set(key, queue)
    const free = this.#running.held(key) < max ? this.#running.take(key) : null
    const leave = free ?? (await new Promise<() => void>((turn) => queue.push(turn)))
    try {
      return await work()
    } finally {
      // The call that has waited longest takes over the place.
      const next = queue.shift()
      if (next) next(leave)
      else leave()
    }
  }
}

const tooMany = (max: number) =>
  new AppError(
    'rate_limited',
    `At most ${max} such requests can wait for external systems (DNS, a provider) at a time.`,
    {
      retryAfter: RETRY_AFTER_S,
    },
  )

export interface ExternalCallDeps {
  apart: Apart
  externalCalls: ExternalCalls
}

/**
 * Calls an external system outside the request's transaction, so that no database connection waits for it,
 * and with at most 10 calls of a token at a time.
 */
export const callExternally = <Result>(
  deps: ExternalCallDeps,
  { tokenId }: Pick<Viewer, 'tokenId'>,
  work: (db: Db) => Promise<Result>,
): Promise<Result> => deps.apart((db) => deps.externalCalls.run(`token:${tokenId}`, () => work(db)))
