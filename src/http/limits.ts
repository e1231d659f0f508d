import type { ArrivalLimits } from '../core/http/arrivals.ts'
import type { SlotLimits } from '../core/http/transfer-slots.ts'
import type { ConnectionLimits } from './connections.ts'
import type { UnreadResponseLimits } from './unread-responses.ts'

export interface HttpLimits extends ArrivalLimits, ConnectionLimits, UnreadResponseLimits {
  /**
   * Concurrent provider calls that are not authenticated by their headers, with bodies of up to 1 MiB each.
   */
  unprovenCalls: SlotLimits
  /**
   * Node's own timeouts in milliseconds: for the headers, between two requests, and the interval at which they
   * are checked. Its timeout of a whole request (`wholeMs` here) is off, because it is the same for all.
   */
  timeouts: {
    headersTimeout: number
    requestTimeout: 0
    keepAliveTimeout: number
    connectionsCheckingInterval: number
  }
}

/** @limit HTTP connections */
export const HTTP_LIMITS: HttpLimits = {
  minBytesPerSecond: 1024,
  graceMs: 15_000,
  windowMs: 15_000,
  wholeMs: 300_000,
  tickMs: 1_000,
  unprovenPerSource: 200,
  unproven: 5_000,
  unreadPerAsker: 128 * 1024 * 1024,
  unread: 256 * 1024 * 1024,
  unreadCheckMs: 250,
  unprovenCalls: { total: 64, perSource: 16, keepBytesPerSecond: 64 * 1024, reviewMs: 1_000 },
  timeouts: {
    headersTimeout: 15_000,
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000,
  },
}
