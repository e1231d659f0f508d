import { Pool } from 'undici'
import { FIND_PATH, type FindAnswer, type Key } from '../core/cell.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/errors.ts'
import { readUpTo } from '../core/http/body.ts'
import type { Logger } from '../core/logger.ts'

/** The addresses of an installation. */
export interface CellAddress {
  readonly http: string
  readonly smtp: { readonly host: string; readonly port: number }
}

export interface CellDeps {
  secret: string
  clock: Clock
  log: Logger
}

const CONNECT_MS = 3_000
/** A request may wait for messages or codes for minutes before it is answered; streams have no limit. */
const ANSWER_MS = 330_000
/** Less than the 65 s after which an installation closes an idle connection, so that none is closed while a request is sent. */
const KEEP_ALIVE_MS = 30_000
/** For the answer to a lookup. */
const FIND_MS = 3_000
/** An installation that failed to answer a lookup is not asked again for so long, so that other requests do not wait for it. */
const RETRY_MS = 1_000
/** More than the answer to 500 keys has. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** The error while an installation that is needed does not answer. */
export const unavailable = (cause?: unknown): AppError =>
  new AppError('unavailable', 'A part of the service does not answer. Try again shortly.', {
    cause,
    retryAfter: 2,
  })

/** An installation behind the front. */
export class Cell {
  readonly address: CellAddress
  readonly pool: Pool
  readonly #deps: CellDeps
  /** Whether its last lookup failed. */
  isDown = false
  #retryAt = 0

  constructor(address: CellAddress, deps: CellDeps) {
    this.address = address
    this.#deps = deps
    this.pool = new Pool(address.http, {
      connect: { timeout: CONNECT_MS },
      connections: null,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    })
  }

  /** Returns which of these it has; null if it does not answer. */
  async find(keys: readonly Key[]): Promise<FindAnswer | null> {
    const { clock, log } = this.#deps
    if (clock.now().getTime() < this.#retryAt) return null
    try {
      const found = await this.#ask(keys)
      if (this.isDown)
        log.info({ event: 'front.cell', cell: this.address.http }, 'installation answers again')
      this.isDown = false
      return found
    } catch (error) {
      const facts = { event: 'front.cell', cell: this.address.http, error: messageOf(error) }
      if (!this.isDown) log.warn(facts, 'installation does not answer')
      this.isDown = true
      this.#retryAt = clock.now().getTime() + RETRY_MS
      return null
    }
  }

  async #ask(keys: readonly Key[]): Promise<FindAnswer> {
    const { statusCode, body } = await this.pool.request({
      method: 'POST',
      path: FIND_PATH,
      headers: { authorization: `Bearer ${this.#deps.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ keys }),
      signal: AbortSignal.timeout(FIND_MS),
    })
    if (statusCode !== 200) {
      await body.dump()
      throw new Error(
        statusCode === 404 ? 'it has another CELL_SECRET, or none' : `it answered ${statusCode}`,
      )
    }
    const bytes = await readUpTo(body, MAX_ANSWER_BYTES)
    if (bytes === null) throw new Error('its answer is too long')
    const answer = JSON.parse(bytes.toString()) as Partial<FindAnswer> | null
    if (typeof answer?.found !== 'object' || answer.found === null)
      throw new Error('it did not answer as an installation of this service')
    return { ...answer, found: answer.found }
  }
}
