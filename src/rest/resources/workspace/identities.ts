import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  claimIdentity,
  linkTelegram,
  listIdentities,
  removeIdentity,
  verifyIdentity,
} from '../../../api/workspace/identity.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const identityRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listIdentities)
  route(app, claimIdentity)
  route(app, linkTelegram)
  route(app, verifyIdentity)
  route(app, removeIdentity)
}
