import type { LeasedLane } from './lease.ts'
import { type Failure, givenUpAt, nextAttemptAt } from './schedule.ts'

/** What the two kinds of webhook do differently on their lanes. */
export interface Policy {
  readonly kind: LeasedLane['kind']
  /** What every delivery carries besides the signature, names and values by turns. */
  readonly headers: readonly string[]
  /** Whether 410 removes the webhook; else it only skips the event. */
  readonly removesGone: boolean
  /** The token that it lives with. */
  readonly tokenId: string | null
  /** Why an event was given up, in the words that `error` begins with. */
  readonly givenUp: string
  /** Whether an event is for it. */
  wants(event: { type: string; channel: string }): boolean
  /** Whether its time is over. */
  hasEnded(now: Date): boolean
  /** Whether an event is to be given up, that began then and failed so often. */
  isOver(since: Date, failures: number, now: Date): boolean
  /** When an event that failed is due again. */
  nextAttemptAt(failure: Failure): Date
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/**
 * The Events extension asks for 3 to 5 attempts within 10 to 15 minutes. Then the next event has its turn.
 */
const MCP_DELAYS_MS = [10 * SECOND, MINUTE, 4 * MINUTE, 9 * MINUTE]
const MCP_ATTEMPTS = MCP_DELAYS_MS.length + 1

const mcpAttemptAt = ({ failures, now, retryAfterMs, random }: Failure): Date => {
  const planned = MCP_DELAYS_MS[failures - 1]!
  const requested = Math.min(retryAfterMs, MCP_DELAYS_MS[failures] ?? planned)
  return new Date(now.getTime() + Math.max(Math.round(planned * (1 + 0.05 * random)), requested))
}

/** What a receiver of the Events extension finds its subscription by. */
export const subscriptionHeader = (subscription: string): readonly string[] => [
  'x-mcp-subscription-id',
  subscription,
]

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
