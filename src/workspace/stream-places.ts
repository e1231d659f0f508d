import { AppError } from '../core/errors.ts'
import { Places } from '../core/places.ts'

/** How many event streams and subscriptions may be open at a time, in each process. */
export interface StreamLimits {
  perToken: number
  perAgent: number
  perWorkspace: number
}

/** A dashboard has a few for each of its agents; a fleet's workspace one or two for each agent. */
const LIMITS: StreamLimits = { perToken: 200, perAgent: 500, perWorkspace: 5_000 }

/** Whose stream it is, and whose events it tells. */
export interface StreamOf {
  tokenId: string
  agentId: string
  workspaceId: string
}

const RETRY_AFTER_S = 5

const full = (whose: string, most: number) =>
  new AppError(
    'rate_limited',
    `${whose} can have ${most} event streams and subscriptions open at a time. Close one first.`,
    {
      retryAfter: RETRY_AFTER_S,
    },
  )

/**
 * Counts what is open, whatever it is open over: each stream of REST and each subscription of GraphQL takes a
 * place until it is closed.
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

  /**
   * Takes a place; returns how to give it back, which may be called again. Throws `rate_limited` when there
   * is none.
   */
  take({ tokenId, agentId, workspaceId }: StreamOf): () => void {
    const counted = [
      [this.#tokens, tokenId, 'A token'],
      [this.#agents, agentId, 'An agent'],
      [this.#workspaces, workspaceId, 'A workspace'],
    ] as const
    for (const [places, key, whose] of counted) if (places.isFull(key)) throw full(whose, places.max)
    const leaves = counted.map(([places, key]) => places.take(key))
    return () => {
      for (const leave of leaves) leave?.()
    }
  }
}
