import type { ConnectionDeps } from '../../agent/connection.ts'
import type { AgentDeps } from '../../agent/create.ts'
import type { Subscriptions } from '../../agent/subscriptions.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Turns } from '../../core/turns.ts'
import type { Feed } from '../../event/feed.ts'
import type { SendDeps } from '../../message/out/send.ts'
import type { MessageUrlDeps } from '../../message/out/url.ts'
import type { ThreadReads } from '../../message/reading/siblings.ts'
import type { SubscribeDeps } from '../../webhook/subscribe.ts'
import type { IdempotencyDeps } from '../../workspace/idempotency.ts'
import type { InvitationDeps } from '../../workspace/invitation.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'
import type { ViewerDeps } from '../../workspace/viewer.ts'

/** Everything that the operations behind the tools and events need. */
export type McpDeps = ViewerDeps &
  AgentDeps &
  IdempotencyDeps &
  Pick<InvitationDeps, 'mailer'> &
  SendDeps &
  MessageUrlDeps &
  ConnectionDeps &
  SubscribeDeps & {
    feed: Feed
    subscriptions: Subscriptions
    log: Logger
    threadReads: ThreadReads
    rates: RateLimits
    /** Requests per token and minute. */
    rateLimit: number
    requests: Turns
    publicUrl(): string
    messageUrlBase(): string
    metrics?: Metrics
  }
