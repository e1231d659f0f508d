import type { Inbound } from '../channel/channel.ts'
import type { RateLimits } from '../workspace/rate-limits.ts'

/**
 * What one sender may send to one agent in a minute; where nothing proves who that is, what may come from one
 * source.
 */
export const MESSAGES_A_MINUTE = 30
/** What may come to one agent in a minute from all senders together who are not proven. */
export const UNPROVEN_A_MINUTE = 300

/**
 * Counts a message against the rate of its sender. Why it is over that, in words, or null. A sender who is
 * not proven may be anybody: what they send is counted by where it comes from, and never against the one whom
 * they claim to be.
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
