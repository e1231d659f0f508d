import type { Inbound } from '../core/channel/inbound.ts'
import type { RateLimits } from '../workspace/index.ts'

/**
 * Maximum number of messages from one proven sender to one agent in a minute. For unproven senders, the limit
 * applies to each source instead.
 * @limit Receiving
 */
export const MESSAGES_A_MINUTE = 30
/** Maximum number of messages in a minute to one agent from all unproven senders together. @limit Receiving */
export const UNPROVEN_A_MINUTE = 300

/**
 * Counts a message against the rate limit of its sender. Returns the reason, in words, when it exceeds the
 * limit, else null. Anyone can claim an unproven sender's address, so unproven messages count against their
 * source and never against the address that they claim.
 */
export const overRate = (
  rates: Pick<RateLimits, 'take' | 'takeAll'>,
  agentId: string,
  { proven, from, source }: Pick<Inbound, 'proven' | 'from' | 'source'>,
): string | null => {
  if (proven) {
    const { allowed } = rates.take(`in:${agentId}:${from.address}`, MESSAGES_A_MINUTE)
    return allowed ? null : `more than ${MESSAGES_A_MINUTE} messages a minute from this sender`
  }
  const total = { key: `unproven:${agentId}`, limit: UNPROVEN_A_MINUTE }
  const own = source ? [{ key: `unproven:${agentId}:${source}`, limit: MESSAGES_A_MINUTE }] : []
  const over = rates.takeAll([total, ...own])
  if (over === null) return null
  const origin = over === total ? 'unverified senders' : `unverified senders via ${source}`
  return `more than ${over.limit} messages a minute from ${origin}`
}
