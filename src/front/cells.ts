import { Pool } from 'undici'
import { FIND_PATH, type FindAnswer, type Key } from '../core/cell.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { readUpTo } from '../core/http/body.ts'
import type { Logger } from '../core/logger.ts'

/** Where an installation answers. */
export interface CellPlace {
  readonly http: string
  readonly smtp: { readonly host: string; readonly port: number }
}

export interface CellDeps {
  secret: string
  clock: Clock
  log: Logger
}

const CONNECT_MS = 3_000
/** A request may wait for messages or codes for minutes before it is answered; streams are never timed. */
const ANSWER_MS = 330_000
/** Less than the 65 s after which an installation closes an idle connection: none is closed as a request is sent. */
const KEEP_ALIVE_MS = 30_000
/** Time that an installation has to say what it has. */
const FIND_MS = 3_000
/** For so long an installation that did not say so is not asked again: others are not kept waiting for it. */
const REST_MS = 1_000
/** More than the answer to 500 keys has. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** An installation behind the front. */
export class Cell {
  readonly place: CellPlace
  readonly pool: Pool
  readonly #deps: CellDeps
  #restsUntil = 0
  #isDown = false

  constructor(place: CellPlace, deps: CellDeps) {
    this.place = place
    this.#deps = deps
    this.pool = new Pool(place.http, {
      connect: { timeout: CONNECT_MS },
      connections: null,
      pipelining: 1,
      headersTimeout: ANSWER_MS,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    })
  }

  /** Whether it did not say what it has when it was last asked. */
  get isDown(): boolean {
    return this.#isDown
  }

  /** Returns what it has of these; null if it does not say so. */
  async find(keys: readonly Key[]): Promise<FindAnswer | null> {
    const { clock, log } = this.#deps
    if (clock.now().getTime() < this.#restsUntil) return null
    try {
      const found = await this.#ask(keys)
      if (this.#isDown) log.info({ event: 'front.cell', cell: this.place.http }, 'installation answers again')
      this.#isDown = false
      return found
    } catch (error) {
      const facts = { event: 'front.cell', cell: this.place.http, error: messageOf(error) }
      if (!this.#isDown) log.warn(facts, 'installation does not say what it has')
      this.#isDown = true
      this.#restsUntil = clock.now().getTime() + REST_MS
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
      throw new Error('it is no installation of this service')
    return { ...answer, found: answer.found }
  }
}
