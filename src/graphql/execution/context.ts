import type { AgentDeps } from '../../agent/agent.ts'
import type { ConnectionDeps } from '../../agent/connection.ts'
import type { NumberPoolDeps } from '../../agent/number-pool.ts'
import type { SetupLinkDeps } from '../../agent/setup/setup-link.ts'
import type { Subscriptions } from '../../agent/subscriptions.ts'
import type { TokenDeps } from '../../agent/token.ts'
import type { LargeBodies } from '../../core/large-bodies.ts'
import type { VerifyDeps } from '../../email-domain/verify.ts'
import type { Feed } from '../../event/feed.ts'
import type { SendDeps } from '../../message/out/send.ts'
import type { MessageUrlDeps } from '../../message/out/url.ts'
import type { LinkDeps } from '../../message/reading/attachment-link.ts'
import type { SecretDeps } from '../../secret/secret.ts'
import type { WebhookDeps } from '../../webhook/webhook.ts'
import type { Attempt } from '../../workspace/idempotency.ts'
import type { IdentityDeps } from '../../workspace/identity.ts'
import type { InvitationDeps } from '../../workspace/invitation.ts'
import type { MemberDeps } from '../../workspace/member.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'
import type { StreamPlaces } from '../../workspace/stream-places.ts'
import type { Viewer, ViewerDeps } from '../../workspace/viewer.ts'
import type { Changes } from '../subscription/changes.ts'
import type { PersistedOperations } from '../transport/persisted.ts'

/** What the operations behind the schema need. */
export type GraphqlDeps = ViewerDeps &
  AgentDeps &
  TokenDeps &
  SetupLinkDeps &
  NumberPoolDeps &
  IdentityDeps &
  ConnectionDeps &
  SendDeps &
  LinkDeps &
  MessageUrlDeps &
  SecretDeps &
  InvitationDeps &
  MemberDeps &
  VerifyDeps &
  WebhookDeps & {
    feed: Feed
    /** How many streams and subscriptions may be open. */
    places: StreamPlaces
    /** Where agents' Message URLs begin, without a slash at the end. */
    messageUrlBase(): string
    rates: Pick<RateLimits, 'take'>
    largeBodies: LargeBodies
    /** Requests per token and minute. */
    rateLimit: number
    /** The only operations that are served; undefined: any. */
    persisted: PersistedOperations
    /** Whether the schema may be asked for. */
    introspection: boolean
  }

/**
 * What every resolver gets. One object for each operation, and for each event of a subscription: per-request
 * caches hang on it.
 */
export interface GraphqlContext {
  deps: GraphqlDeps
  subscriptions: Subscriptions
  changes: Changes
  viewer: Viewer
  /** The `X-Request-Id` of the answer, under which the log has what went wrong. */
  requestId: string
  /** A signal that aborts when nobody reads the answer any more. */
  life(): AbortSignal
  /** Whether the client takes an event stream as the answer. */
  streams: boolean
  /** The `Idempotency-Key` that it came with; `replayed` once its answer is the first one, given again. */
  attempt?: Attempt & { replayed?: boolean }
}
