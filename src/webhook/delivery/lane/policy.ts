import { subscriptionHeader } from '../../post/sign.ts'
import type { LeasedLane } from './lease.ts'
import { type Failure, givenUpAt, nextAttemptAt } from './schedule.ts'

/** The differences in delivery between the two kinds of webhook. */
export interface Policy {
  readonly kind: LeasedLane['kind']
  /** Additional headers of every delivery, names and values alternating. */
  readonly headers: readonly string[]
  /** Whether a 410 response deletes the webhook; otherwise it only skips the event. */
  readonly removesGone: boolean
  /** The token whose revocation ends the subscription; null when there is none. */
  readonly tokenId: string | null
  /** Text that `error` begins with after an event was given up. */
  readonly givenUp: string
  /** Returns whether the webhook subscribes to an event. */
  wants(event: { type: string; channel: string }): boolean
  /** Returns whether the subscription has expired. */
  hasEnded(now: Date): boolean
  /** Returns whether to give up an event whose time began at `since` and that has failed `failures` times. */
  isOver(since: Date, failures: number, now: Date): boolean
  /** Returns when to retry an event that failed. */
  nextAttemptAt(failure: Failure): Date
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/**
 * The Events extension requires 3 to 5 attempts within 10 to 15 minutes. Then the next event is delivered.
 */
const MCP_DELAYS_MS = [10 * SECOND, MINUTE, 4 * MINUTE, 9 * MINUTE]
const MCP_ATTEMPTS = MCP_DELAYS_MS.length + 1

const mcpAttemptAt = ({ failures, now, retryAfterMs, random }: Failure): Date => {
  const planned = MCP_DELAYS_MS[failures - 1]!
  const requested = Math.min(retryAfterMs, MCP_DELAYS_MS[failures] ?? planned)
  return new Date(now.getTime() + Math.max(Math.round(planned * (1 + 0.05 * random)), requested))
}

type Row = Pick<LeasedLane, 'kind' | 'subscription' | 'types' | 'channels' | 'expires_at' | 'token_id'>

export const policyOf = ({
  kind,
  subscription,
  types,
  channels,
  expires_at: expiresAt,
  token_id: tokenId,
}: Row): Policy => {
  const isMcp = kind === 'mcp'
  return {
    kind,
    headers: isMcp ? subscriptionHeader(subscription!) : [],
    removesGone: !isMcp,
    tokenId,
    givenUp: isMcp
      ? `an event was given up after ${MCP_ATTEMPTS} attempts`
      : 'an event was given up after 3 days',
    wants: ({ type, channel }) =>
      types.includes(type) && (channels.length === 0 || channels.includes(channel)),
    hasEnded: (now) => expiresAt !== null && expiresAt <= now,
    isOver: (since, failures, now) => (isMcp ? failures >= MCP_ATTEMPTS : now >= givenUpAt(since)),
    nextAttemptAt: isMcp ? mcpAttemptAt : nextAttemptAt,
  }
}
