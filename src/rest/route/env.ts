import type { HttpBindings } from '@hono/node-server'
import type { DeletionDeps } from '../../agent/agent.ts'
import type { AwaitDeps } from '../../agent/await-events.ts'
import type { ConnectionDeps } from '../../agent/connection.ts'
import type { AgentDeps } from '../../agent/create.ts'
import type { NumberPoolDeps } from '../../agent/number-pool.ts'
import type { SetupLinkDeps } from '../../agent/setup/setup-link.ts'
import type { TokenDeps } from '../../agent/token.ts'
import type { LargeBodies } from '../../core/large-bodies.ts'
import type { Turns } from '../../core/turns.ts'
import type { VerifyDeps } from '../../email-domain/index.ts'
import type { ExportDeps } from '../../export/index.ts'
import type { ImportDeps } from '../../message/import/import.ts'
import type { ApprovalDeps } from '../../message/out/approval.ts'
import type { SendDeps } from '../../message/out/send.ts'
import type { UnsubscribeDeps } from '../../message/out/unsubscribe.ts'
import type { MessageUrlDeps } from '../../message/out/url.ts'
import type { ReadDeps } from '../../message/reading/read.ts'
import type { LinkDeps } from '../../message/reading/signed-link.ts'
import type { ViewDeps } from '../../message/reading/view.ts'
import type { SecretDeps } from '../../secret/index.ts'
import type { WebhookDeps } from '../../webhook/webhook.ts'
import type { IdempotencyDeps } from '../../workspace/idempotency.ts'
import type { IdentityDeps } from '../../workspace/identity.ts'
import type { InvitationDeps } from '../../workspace/invitation.ts'
import type { MemberDeps } from '../../workspace/member.ts'
import type { RateLimits } from '../../workspace/rate-limits.ts'
import type { Viewer, ViewerDeps } from '../../workspace/viewer.ts'

/** Dependencies of the operations behind the routes. */
export type RestDeps = ViewerDeps &
  AgentDeps &
  DeletionDeps &
  IdempotencyDeps &
  InvitationDeps &
  MemberDeps &
  VerifyDeps &
  SetupLinkDeps &
  NumberPoolDeps &
  IdentityDeps &
  TokenDeps &
  ConnectionDeps &
  AwaitDeps &
  ReadDeps &
  LinkDeps &
  ImportDeps &
  ViewDeps &
  SendDeps &
  UnsubscribeDeps &
  ApprovalDeps &
  MessageUrlDeps &
  SecretDeps &
  WebhookDeps &
  ExportDeps & {
    rates: RateLimits
    rateLimit: number
    requests: Turns
    largeBodies: LargeBodies
    imports: LargeBodies
    messageUrlBase(): string
  }

/** The router's environment for a request. */
export interface RestEnv {
  Bindings: HttpBindings
  Variables: {
    viewer: Viewer
    requestId: string
    /**
     * Dependencies of this request's operations: with an idempotency key, they all run inside one
     * transaction.
     */
    deps: RestDeps
  }
}
