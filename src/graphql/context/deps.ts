import type { DeletionDeps } from '../../agent/agent.ts'
import type { ConnectionDeps } from '../../agent/connection.ts'
import type { AgentDeps } from '../../agent/create.ts'
import type { NumberPoolDeps } from '../../agent/number-pool.ts'
import type { SetupLinkDeps } from '../../agent/setup/setup-link.ts'
import type { Subscriptions } from '../../agent/subscriptions.ts'
import type { TokenDeps } from '../../agent/token.ts'
import type { PasskeyDeps } from '../../auth/passkey.ts'
import type { LargeBodies } from '../../core/large-bodies.ts'
import type { Turns } from '../../core/turns.ts'
import type { VerifyDeps } from '../../email-domain/index.ts'
import type { Feed } from '../../event/feed.ts'
import type { SendDeps } from '../../message/out/send.ts'
import type { UnsubscribeDeps } from '../../message/out/unsubscribe.ts'
import type { MessageUrlDeps } from '../../message/out/url.ts'
import type { LinkDeps } from '../../message/reading/signed-link.ts'
import type { ViewDeps } from '../../message/reading/view.ts'
import type { SecretDeps } from '../../secret/index.ts'
import type { WebhookDeps } from '../../webhook/webhook.ts'
import type { IdentityDeps } from '../../workspace/identity.ts'
import type { InvitationDeps } from '../../workspace/invitation.ts'
import type { MemberDeps } from '../../workspace/member.ts'
import type { QuotaDeps } from '../../workspace/token-requests.ts'
import type { ViewerDeps } from '../../workspace/viewer.ts'

/** Allowed operations by id; undefined allows any. */
export type PersistedOperations = ReadonlyMap<string, string> | undefined

/** Dependencies of the operations behind the schema. */
export type GraphqlDeps = ViewerDeps &
  AgentDeps &
  DeletionDeps &
  TokenDeps &
  SetupLinkDeps &
  NumberPoolDeps &
  IdentityDeps &
  ConnectionDeps &
  SendDeps &
  UnsubscribeDeps &
  LinkDeps &
  ViewDeps &
  MessageUrlDeps &
  SecretDeps &
  InvitationDeps &
  MemberDeps &
  VerifyDeps &
  PasskeyDeps &
  WebhookDeps &
  QuotaDeps & {
    feed: Feed
    subscriptions: Subscriptions
    /** Folder with the mail that is not sent; null if mail is sent. */
    capturedMail: string | null
    /** Where this process receives SMTP, as host:port; null when it does not. */
    place: { readonly smtp: string | null }
    /** Base URL of agents' Message URLs, without a trailing slash. */
    messageUrlBase(): string
    requests: Turns
    largeBodies: LargeBodies
    /** The only operations that are allowed; undefined allows any. */
    persisted: PersistedOperations
    /** Whether introspection of the schema is allowed. */
    introspection: boolean
  }
