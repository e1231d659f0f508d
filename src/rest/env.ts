import type { HttpBindings } from '@hono/node-server'
import type { AgentDeps } from '../agent/agent.ts'
import type { ConnectionDeps } from '../agent/connection.ts'
import type { TokenDeps } from '../agent/token.ts'
import type { SendDeps } from '../message/send.ts'
import type { MessageUrlDeps } from '../message/url.ts'
import type { SecretDeps } from '../secret/secret.ts'
import type { WebhookDeps } from '../webhook/webhook.ts'
import type { Viewer, ViewerDeps } from '../workspace/viewer.ts'

/** What the operations behind the routes need. */
export interface RestDeps extends ViewerDeps, AgentDeps, TokenDeps, ConnectionDeps, SendDeps, MessageUrlDeps, SecretDeps, WebhookDeps {}

/** What a request carries through the router. */
export interface RestEnv {
  Bindings: HttpBindings
  Variables: { viewer: Viewer; requestId: string }
}
