import { AppError } from '../../core/errors.ts'
import { Turns } from '../../core/turns.ts'
import type { Db } from '../../db/client.ts'
import type { OutsideTransaction } from '../../db/transaction.ts'
import type { Viewer } from '../token/viewer.ts'

/** Maximum number of requests of one token that wait for external systems (DNS, a provider). @limit Requests */
const MAX_PER_TOKEN = 10
/** Set-ups of Telegram bots that run at once: their transactions are open meanwhile. @limit Requests */
const MAX_SETUPS = 4
/** Set-ups of Telegram bots that wait for their turn. @limit Requests */
const MAX_QUEUED_SETUPS = 20
const RETRY_AFTER_S = 2

/** Limits the calls to external systems that are in progress in this process: slow ones must not delay those of others. */
export class ExternalCalls {
  readonly #calls = new Turns({ perKey: MAX_PER_TOKEN, waiting: 0, tooMany: () => tooMany(MAX_PER_TOKEN) })
  readonly #setUps = new Turns({
    total: MAX_SETUPS,
    waiting: MAX_QUEUED_SETUPS,
    tooMany: () => tooMany(MAX_SETUPS + MAX_QUEUED_SETUPS),
  })

  /** Throws `rate_limited` when 10 calls of `key` are already in progress. */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    return this.#calls.run(key, work)
  }

  /**
   * Runs a few set-ups at once, so that the other database connections stay available to other requests; further ones
   * wait. Throws `rate_limited` when too many wait.
   */
  setUp<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#setUps.run('', work)
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
  outsideTransaction: OutsideTransaction
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
): Promise<Result> =>
  deps.outsideTransaction((db) => deps.externalCalls.run(`token:${tokenId}`, () => work(db)))
