import { AppError } from '../../core/errors.ts'
import { Places } from '../../core/places.ts'

export interface StreamLimits {
  /**
   * Event streams and subscriptions that are open in a process. A dashboard needs a few for each of its agents; a
   * workspace with a fleet of agents needs one or two for each.
   */
  perToken: number
  perAgent: number
  perWorkspace: number
}

/** @limit Streams */
const LIMITS: StreamLimits = { perToken: 200, perAgent: 500, perWorkspace: 5_000 }

/** Owner of a stream, and whose events it contains. */
export interface StreamOf {
  tokenId: string
  /** Null for what happens in the workspace. */
  agentId: string | null
  workspaceId: string
}

const RETRY_AFTER_S = 5

const full = (whose: string, max: number) =>
  new AppError(
    'rate_limited',
    `${whose} can have ${max} event streams and subscriptions open at a time. Close one first.`,
    {
      retryAfter: RETRY_AFTER_S,
    },
  )

/**
 * Limits what is open, regardless of the interface: each event stream and each subscription holds a place
 * until it is closed.
 */
export class StreamPlaces {
  readonly #tokens: Places
  readonly #agents: Places
  readonly #workspaces: Places

  constructor({ perToken, perAgent, perWorkspace }: StreamLimits = LIMITS) {
    this.#tokens = new Places(perToken)
    this.#agents = new Places(perAgent)
    this.#workspaces = new Places(perWorkspace)
  }

  /** Takes a place, which must be released. Throws `rate_limited` when there is none. */
  take(stream: StreamOf): void {
    const counted = this.#countedFor(stream)
    for (const { places, key, whose } of counted) if (places.isFull(key)) throw full(whose, places.max)
    for (const { places, key } of counted) places.add(key)
  }

  /** Releases the place of a stream that has ended. */
  release(stream: StreamOf): void {
    for (const { places, key } of this.#countedFor(stream)) places.remove(key)
  }

  #countedFor({ tokenId, agentId, workspaceId }: StreamOf) {
    return [
      { places: this.#tokens, key: tokenId, whose: 'A token' },
      ...(agentId === null ? [] : [{ places: this.#agents, key: agentId, whose: 'An agent' }]),
      { places: this.#workspaces, key: workspaceId, whose: 'A workspace' },
    ]
  }
}
